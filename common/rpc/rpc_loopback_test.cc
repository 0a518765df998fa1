// Checks which processes speak to each other on loopback, where all users of a machine can connect.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "common/files/users.h"
#include "common/process/process.h"
#include "common/rpc/local_token.h"
#include "common/testing/rpc_testing.h"

namespace rekindle::common {
namespace {

using testing::HasSubstr;
using testing::Not;

// Runs a server with a token of its own, as a coordinator on loopback has one.
class LoopbackTest : public RpcTest {
 protected:
  void SetUp() override {
    RpcTest::SetUp();
    ASSERT_TRUE(MakeTokenFile(TokenFile()).ok());
  }
  std::string TokenFile() const { return folder_ + "/own"; }
  std::string Token() const { return ReadToken(TokenFile()).value_or(""); }
};

TEST_F(LoopbackTest, ItsUsersProgramsFindItsTokenByTheAddressAlone) {
  auto server = Serve({.security = {.token_file = TokenFile()}});
  ASSERT_NE(server, nullptr);
  const absl::Status refused = Call(server->address(), {}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("this coordinator belongs to user " + UserName(geteuid()) + "; ask for its token"));
  // The channel is created before there is a copy of the token, and is used after there is one.
  const auto channel = Connect(server->address());
  ASSERT_TRUE(channel.ok());
  const auto published = PublishedToken::Publish(server->port(), Token());
  ASSERT_TRUE(published.ok()) << published.status();
  EXPECT_EQ(Call(server->address(), {}).value_or(""), "x");
  EXPECT_EQ(Call("localhost:" + std::to_string(server->port()), {}).value_or(""), "x");
  v1::Job reply;
  grpc::ClientContext context;
  EXPECT_TRUE(v1::Coordinator::NewStub(*channel)->GetJob(&context, v1::GetJobRequest(), &reply).ok());
  const Security other{.token_file = Write("other", "0123456789abcdef")};
  EXPECT_THAT(Call(server->address(), other).status().ToString(), HasSubstr("wrong token")) << "what is named counts";
}

TEST_F(LoopbackTest, AnotherServiceOnThePortHasAnotherToken) {
  auto first = Serve({.security = {.token_file = TokenFile()}});
  ASSERT_NE(first, nullptr);
  const std::string address = first->address();
  const auto published = PublishedToken::Publish(first->port(), Token());
  const auto channel = Connect(address);
  const auto call = [&] {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    v1::Job reply;
    return StatusFromGrpc(v1::Coordinator::NewStub(*channel)->GetJob(&context, v1::GetJobRequest(), &reply));
  };
  EXPECT_TRUE(call().ok()) << call();
  first.reset();
  const std::string second_file = folder_ + "/second";
  ASSERT_TRUE(MakeTokenFile(second_file).ok());
  const auto again =
      PublishedToken::Publish(std::stoi(address.substr(address.rfind(':') + 1)), *ReadToken(second_file));
  auto second = Serve({.listen = address, .security = {.token_file = second_file}});
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(call().ok()) << call();
}

// A `Stranger` is another user who has taken the port that a coordinator had. It speaks just enough of HTTP/2 to be
// called, and records everything that it receives.
class Stranger {
 public:
  Stranger() {
    listener_ = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    int told[2];
    if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener_.get(), 8) != 0 ||
        getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0 || pipe(told) != 0) {
      return;
    }
    port_ = ntohs(address.sin_port);
    told_ = UniqueFd(told[0]);
    process_ = fork();
    if (process_ == 0) Serve(told[1]);
    close(told[1]);
  }
  ~Stranger() { End(); }

  int port() const { return port_; }
  // Ends the stranger's process and returns everything that it received.
  std::string End() {
    std::string text;
    if (process_ <= 0) return text;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
    char part[4096];
    for (ssize_t got = 0; (got = read(told_.get(), part, sizeof part)) > 0;)
      text.append(part, static_cast<size_t>(got));
    return text;
  }

 private:
  [[noreturn]] void Serve(int told) const {
    constexpr uid_t kNobody = 65534;
    if (setuid(kNobody) != 0) _exit(1);
    for (;;) {
      const int called = accept(listener_.get(), nullptr, nullptr);
      static constexpr char kSettings[9] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
      char part[4096];
      if (write(called, kSettings, sizeof kSettings) != sizeof kSettings) continue;
      for (ssize_t got = 0; (got = read(called, part, sizeof part)) > 0;) {
        if (write(told, part, static_cast<size_t>(got)) != got) _exit(1);
      }
      close(called);
    }
  }

  UniqueFd listener_, told_;
  pid_t process_ = 0;
  int port_ = 0;
};

TEST_F(LoopbackTest, AStrangerOnThePortIsToldNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  Stranger stranger;
  ASSERT_GT(stranger.port(), 0);
  // A coordinator that had the port before has left a copy of its token.
  const auto left = PublishedToken::Publish(stranger.port(), Token());
  ASSERT_TRUE(left.ok());
  const std::string address = "127.0.0.1:" + std::to_string(stranger.port());
  for (const Security& security : {Security{}, Security{.token_file = TokenFile()}}) {
    const absl::Status refused = Call(address, security, "a secret question").status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kUnauthenticated) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("this coordinator belongs to user " + UserName(65534)));
  }
  const std::string told = stranger.End();
  EXPECT_THAT(told, HasSubstr("PRI * HTTP/2.0")) << "it was connected to";
  EXPECT_THAT(told, Not(HasSubstr(Token())));
  EXPECT_THAT(told, Not(HasSubstr("a secret question")));
}

TEST_F(LoopbackTest, ATokenNamesTheUserWhomItMayBeSentTo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  Stranger stranger;
  ASSERT_GT(stranger.port(), 0);
  const std::string token = "u65534-" + std::string(64, 'a');
  const std::string address = "127.0.0.1:" + std::to_string(stranger.port());
  EXPECT_FALSE(Call(address, {.token_file = Write("theirs", token)}).ok()) << "it does not answer";
  EXPECT_THAT(stranger.End(), HasSubstr(token));
}

}  // namespace
}  // namespace rekindle::common
