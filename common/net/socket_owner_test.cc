#include "common/net/socket_owner.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "common/files/users.h"
#include "common/process/process.h"

namespace rekindle::common {
namespace {

constexpr uid_t kNobody = 65534;

class SocketOwnerTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    listener_ = UniqueFd(socket(GetParam(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_storage address = {};
    address.ss_family = static_cast<sa_family_t>(GetParam());
    if (GetParam() == AF_INET) {
      reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
      reinterpret_cast<sockaddr_in6&>(address).sin6_addr = in6addr_loopback;
    }
    socklen_t length = GetParam() == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
      GTEST_SKIP() << "this machine has no loopback of that family";
    }
    ASSERT_EQ(listen(listener_.get(), 1), 0);
    ASSERT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
    address_ = address;
    length_ = length;
  }
  UniqueFd Connect() {
    UniqueFd client(socket(GetParam(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&address_), length_), 0);
    return client;
  }

  UniqueFd listener_;
  sockaddr_storage address_ = {};
  socklen_t length_ = 0;
  int port_ = 0;
};

TEST_P(SocketOwnerTest, IsTheUserWhoseProcessHasAccepted) {
  EXPECT_EQ(OwnersOfPort(port_).status().code(), absl::StatusCode::kUnavailable) << "not connected";
  const UniqueFd client = Connect();
  EXPECT_EQ(OwnersOfPort(port_).status().code(), absl::StatusCode::kUnavailable) << "nobody has accepted";
  const UniqueFd served(accept(listener_.get(), nullptr, nullptr));
  const auto owners = OwnersOfPort(port_);
  if (absl::IsUnimplemented(owners.status())) GTEST_SKIP() << owners.status();
  ASSERT_TRUE(owners.ok()) << owners.status();
  EXPECT_EQ(*owners, std::vector<uid_t>{geteuid()});
}

TEST_P(SocketOwnerTest, AStrangerIsSeenBesideOnesOwn) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  const UniqueFd first = Connect();
  const UniqueFd own(accept(listener_.get(), nullptr, nullptr));
  const UniqueFd second = Connect();
  int ready[2], end[2];
  ASSERT_EQ(pipe(ready) | pipe(end), 0);
  const pid_t stranger = fork();
  if (stranger == 0) {
    char byte = 0;
    close(end[1]);
    const bool accepted = setuid(kNobody) == 0 && accept(listener_.get(), nullptr, nullptr) >= 0;
    const bool told = accepted && write(ready[1], &byte, 1) == 1;
    _exit(told && read(end[0], &byte, 1) == 0 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const auto owners = OwnersOfPort(port_);
  close(end[1]);
  int status = 1;
  waitpid(stranger, &status, 0);
  EXPECT_EQ(status, 0);
  if (absl::IsUnimplemented(owners.status())) GTEST_SKIP() << owners.status();
  ASSERT_TRUE(owners.ok()) << owners.status();
  EXPECT_EQ(std::set<uid_t>(owners->begin(), owners->end()), (std::set<uid_t>{0, kNobody}));
}

INSTANTIATE_TEST_SUITE_P(Families, SocketOwnerTest, testing::Values(AF_INET, AF_INET6));

TEST(Users, HaveNamesAndGroups) {
  EXPECT_EQ(UserName(0), "root");
  EXPECT_EQ(UserName(3'999'999'999), "uid 3999999999");
  EXPECT_EQ(FindGroup("no-such-group-here").status().code(), absl::StatusCode::kInvalidArgument);
  if (geteuid() == 0) {
    EXPECT_EQ(*FindGroup("root"), 0u);
  }
}

}  // namespace
}  // namespace rekindle::common
