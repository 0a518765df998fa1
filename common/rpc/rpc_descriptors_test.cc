// Tests a server whose process has no descriptors left, because silent clients hold them.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "common/process/process.h"
#include "common/testing/rpc_testing.h"
#include "common/time/clock.h"

namespace rekindle::common {
namespace {

constexpr int kConnections = 300;
constexpr rlim_t kDescriptors = 160;

// `SilentClients` is a process that connects, sends nothing, and keeps its connections until it is told to end them.
// Between fork and its end it makes only system calls, because other threads may hold any lock at the fork.
class SilentClients {
 public:
  SilentClients() {
    int told[2], done[2];
    if (pipe2(told, O_CLOEXEC) != 0 || pipe2(done, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      close(told[1]);
      Connect(told[0], done[1]);
      _exit(0);
    }
    close(told[0]);
    close(done[1]);
    tell_ = UniqueFd(told[1]);
    done_ = UniqueFd(done[0]);
  }
  ~SilentClients() { End(); }

  void ConnectTo(const sockaddr_storage& address) {
    ASSERT_EQ(write(tell_.get(), &address, sizeof address), ssize_t(sizeof address));
  }
  // Waits until all silent clients have connected. The server may not yet have accepted the connections that the kernel
  // has queued.
  bool AwaitConnected() {
    pollfd waits = {done_.get(), POLLIN, 0};
    char byte = 0;
    return poll(&waits, 1, 30'000) == 1 && read(done_.get(), &byte, 1) == 1;
  }
  void End() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  static void Connect(int told, int done) {
    sockaddr_storage address = {};
    if (read(told, &address, sizeof address) != ssize_t(sizeof address)) return;
    const socklen_t length = address.ss_family == AF_UNIX ? sizeof(sockaddr_un) : sizeof(sockaddr_in);
    for (int i = 0; i < kConnections; ++i) {
      const int one = socket(address.ss_family, SOCK_STREAM, 0);
      if (one < 0 || connect(one, reinterpret_cast<const sockaddr*>(&address), length) != 0) return;
    }
    (void)!write(done, "x", 1);
    char byte = 0;
    (void)!read(told, &byte, 1);
  }

  pid_t pid_ = -1;
  UniqueFd tell_, done_;
};

class DescriptorsTest : public RpcTest {
 protected:
  // Lowers the limit of open descriptors of this process while it serves. The processes of the clients keep their
  // limit.
  void LowerLimit() {
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit low = before_;
    low.rlim_cur = kDescriptors;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  void TearDown() override {
    if (before_.rlim_max != 0) setrlimit(RLIMIT_NOFILE, &before_);
  }

  // Waits until this process has `number` open descriptors, most of them for the connections of the clients.
  static bool AwaitOpenDescriptors(int number) {
    for (const double end = SteadySeconds() + 30; SteadySeconds() < end;) {
      int open = 0;
      for (int fd = 0; fd < static_cast<int>(kDescriptors); ++fd) open += fcntl(fd, F_GETFD) != -1 ? 1 : 0;
      if (open >= number) return true;
      poll(nullptr, 0, 5);
    }
    return false;
  }

  void SurvivesSilentClients(const std::string& listen, const std::function<sockaddr_storage(const Server&)>& where) {
    SilentClients clients;
    LowerLimit();
    auto server = Serve({.listen = listen});
    ASSERT_NE(server, nullptr);
    ASSERT_EQ(*Call(server->address(), {}), "x");
    clients.ConnectTo(where(*server));
    ASSERT_TRUE(clients.AwaitConnected());
    ASSERT_TRUE(AwaitOpenDescriptors(kDescriptors * 5 / 8));
    const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(file.valid()) << "the server can open no file while clients hold connections: " << std::strerror(errno);
    clients.End();
    // The server may refuse other connections until it has noticed that the connections of the clients are gone.
    absl::StatusOr<std::string> answer = Call(server->address(), {});
    for (const double end = SteadySeconds() + 20; !answer.ok() && SteadySeconds() < end;) {
      answer = Call(server->address(), {});
    }
    EXPECT_TRUE(answer.ok()) << "nobody reaches it after the clients have gone: " << answer.status();
  }

 private:
  rlimit before_ = {};
};

TEST_F(DescriptorsTest, SilentClientsLeaveRoomForFilesAndTheNextOnesAreHeardOverTcp) {
  SurvivesSilentClients("127.0.0.1:0", [](const Server& server) {
    sockaddr_storage to = {};
    auto& in = reinterpret_cast<sockaddr_in&>(to);
    in.sin_family = AF_INET;
    in.sin_port = htons(static_cast<uint16_t>(server.port()));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return to;
  });
}

TEST_F(DescriptorsTest, SilentClientsLeaveRoomForFilesAndTheNextOnesAreHeardOverAUnixSocket) {
  SurvivesSilentClients("unix:" + folder_ + "/socket", [](const Server& server) {
    sockaddr_storage to = {};
    auto& local = reinterpret_cast<sockaddr_un&>(to);
    local.sun_family = AF_UNIX;
    const std::string path = UnixPath(server.address());
    std::memcpy(local.sun_path, path.data(), path.size());
    return to;
  });
}

}  // namespace
}  // namespace rekindle::common
