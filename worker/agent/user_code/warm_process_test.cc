// Tests how a warm process is started, found again and ended. A small module of Python stands for rekindle.warm.
#include "worker/agent/user_code/warm_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "common/files/unique_fd.h"
#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"

namespace rekindle::agent {
namespace {

constexpr char kPython[] = "/usr/bin/python3";

class Warm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access(kPython, X_OK) != 0) GTEST_SKIP() << "the system has no " << kPython;
    std::filesystem::create_directories(temporary_.path() + "/rekindle");
    std::ofstream(temporary_.path() + "/rekindle/__init__.py") << "";
  }
  WarmOptions Options(const std::string& after_hello) {
    std::ofstream(temporary_.path() + "/rekindle/warm.py")
        << "import os, select, signal, socket, sys\n"
           "listener = socket.socket(fileno=3)\n"
           "end, _ = listener.accept()\n"
           "end.send(' '.join([*sys.argv[1:], *sorted(os.listdir('/proc/self/fd'))]).encode())\n"
        << after_hello;
    return {.interpreter = kPython,
            .task = "train:task",
            .folder = "/job",
            .seed = 7,
            .socket = temporary_.path() + "/s",
            .environment = {"PYTHONPATH=" + temporary_.path(), "PYTHONDONTWRITEBYTECODE=1"}};
  }
  common::UniqueFd Connect() const {
    const std::string path = temporary_.path() + "/s";
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, path.data(), path.size());
    common::UniqueFd line(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(line.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return line;
  }
  static std::string Receive(const common::UniqueFd& line) {
    char text[4096];
    const ssize_t got = recv(line.get(), text, sizeof text, 0);
    return {text, static_cast<size_t>(std::max<ssize_t>(got, 0))};
  }
  // Ends the process, and returns how many seconds that took.
  static double End(WarmProcess& warm) {
    const double begun = common::SteadySeconds();
    while (const std::optional<double> again = warm.End(common::SteadySeconds())) {
      pollfd entry = {.fd = warm.fd(), .events = POLLIN};
      poll(&entry, 1, std::max(1, static_cast<int>((*again - common::SteadySeconds()) * 1000)));
    }
    return common::SteadySeconds() - begun;
  }
  common::TemporaryFolder temporary_;
};

TEST_F(Warm, ATrainerCanConnectAtOnceAndTheProcessGetsNothingButItsDescriptors) {
  auto warm = WarmProcess::Start(Options("signal.pause()\n"));
  ASSERT_TRUE(warm.ok()) << warm.status();
  const common::UniqueFd line = Connect();
  // The last seven numbers are the descriptors that the process has: stdin, stdout, stderr, the listener, the pidfd,
  // the connection and the listing itself.
  EXPECT_EQ(Receive(line), "--listen 3 --agent-pidfd 4 --folder /job --task train:task --seed 7 0 1 2 3 4 5 6");
  auto adopted = WarmProcess::Adopt(warm->identity());
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  EXPECT_LT(End(*warm), 1.5) << "it ends at SIGTERM";
  EXPECT_TRUE(adopted->HasEnded());
  EXPECT_TRUE(absl::IsNotFound(WarmProcess::Adopt(warm->identity()).status()));
}

TEST_F(Warm, WhatDoesNotEndIsKilled) {
  auto warm =
      WarmProcess::Start(Options("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nend.send(b'deaf')\n"
                                 "while True: signal.pause()\n"));
  ASSERT_TRUE(warm.ok()) << warm.status();
  const common::UniqueFd line = Connect();
  Receive(line);
  ASSERT_EQ(Receive(line), "deaf");
  const double seconds = End(*warm);
  EXPECT_GE(seconds, 1.5) << "it has time to end what it has forked";
  EXPECT_LT(seconds, 10);
}

TEST_F(Warm, AnInterpreterThatIsMissingEndsAtOnce) {
  WarmOptions options = Options("");
  options.interpreter = "/none/python";
  const auto warm = WarmProcess::Start(options);
  ASSERT_TRUE(warm.ok()) << warm.status();
  pollfd entry = {.fd = warm->fd(), .events = POLLIN};
  ASSERT_EQ(poll(&entry, 1, 10'000), 1);
  EXPECT_EQ(warm->EndText(), "exit code 127");
}

}  // namespace
}  // namespace rekindle::agent
