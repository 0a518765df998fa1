// Tests the trainer's line to a warm process, which a thread plays here: also one that lies.
#include "worker/own_model/child/warm_line.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::own_model {
namespace {

using ::testing::HasSubstr;

constexpr char kReady[] = R"({"ready": true, "pid": 1, "seconds": 0.1})";

common::ProcessIdentity StartSleep() {
  common::SpawnOptions spawn;
  spawn.argv = {"/bin/sleep", "60"};
  auto child = common::PendingChild::Start(spawn);
  EXPECT_TRUE(child.ok()) << child.status();
  child->Release();
  return child->identity();
}

class WarmLineTest : public ::testing::Test {
 protected:
  WarmLineTest() : listener_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 4), 0);
  }
  ~WarmLineTest() override {
    if (warm_.joinable()) warm_.join();
  }

  // Plays a warm process: sends `hello`, and `answers` one after the other at each request. Then it waits for the end
  // of the line.
  void Play(std::string hello, std::vector<std::string> answers) {
    warm_ = std::thread([this, hello = std::move(hello), answers = std::move(answers)] {
      const common::UniqueFd line(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      send(line.get(), hello.data(), hello.size(), MSG_NOSIGNAL);
      char request[4096];
      for (const std::string& answer : answers) {
        const ssize_t got = recv(line.get(), request, sizeof request, 0);
        if (got <= 0) return;
        requests_.emplace_back(request, static_cast<size_t>(got));
        send(line.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
      while (recv(line.get(), request, sizeof request, 0) > 0) continue;
    });
  }
  absl::StatusOr<common::Process> Fork(WarmLine& line, double limit_seconds = 10) {
    return line.Fork(STDIN_FILENO, STDERR_FILENO, "/job/faults", limit_seconds, nullptr);
  }

  common::TemporaryFolder temporary_;
  const std::string path_ = temporary_.path() + "/warm";
  const common::UniqueFd listener_;
  std::vector<std::string> requests_;
  std::thread warm_;
};

TEST_F(WarmLineTest, AProcessIsForkedAndItsEndIsTold) {
  const common::ProcessIdentity sleep = StartSleep();
  Play(kReady,
       {absl::StrCat(R"({"pid": )", sleep.pid, "}"), absl::StrCat(R"({"ended": )", sleep.pid, R"(, "code": -9})")});
  WarmLine line(path_, geteuid());
  const auto process = Fork(line);
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_EQ(process->identity(), sleep);
  line.Kill(*process);
  const auto end = line.EndOf(*process);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->code, -SIGKILL);
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_THAT(requests_[0], HasSubstr(R"("faults":"/job/faults")"));
  EXPECT_THAT(requests_[1], HasSubstr("kill"));
}

TEST_F(WarmLineTest, AnImportThatIsInTheWayIsNamed) {
  Play(R"({"ready": false, "reason": "the thread monitor runs", "import": "wandb", "seconds": 1})", {});
  WarmLine line(path_, std::nullopt);
  const absl::Status status = Fork(line).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the import of wandb is in the way: the thread monitor runs"));
}

TEST_F(WarmLineTest, ARefusalLeavesTheLineOpen) {
  const common::ProcessIdentity sleep = StartSleep();
  Play(kReady, {R"({"refused": "there are 64 model processes already"})", absl::StrCat(R"({"pid": )", sleep.pid, "}")});
  WarmLine line(path_, geteuid());
  EXPECT_THAT(std::string(Fork(line).status().message()), HasSubstr("64 model processes"));
  const auto process = Fork(line);
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_TRUE(process->Signal(SIGKILL).ok());
}

TEST_F(WarmLineTest, NoWarmProcessIsNoError) {
  WarmLine line(temporary_.path() + "/none", std::nullopt);
  EXPECT_TRUE(absl::IsUnavailable(Fork(line).status()));
}

TEST_F(WarmLineTest, AProcessThatIsNotItsOwnIsNotTaken) {
  // The trainer would kill this one.
  for (const std::string& answer :
       {absl::StrCat(R"({"pid": )", getpid(), "}"), absl::StrCat(R"({"pid": )", getppid(), "}"),
        std::string(R"({"pid": 1})"), std::string(R"({"pid": -1})"), std::string(R"({"pid": 99999999999})")}) {
    Play(kReady, {answer});
    {
      WarmLine line(path_, std::nullopt);
      EXPECT_TRUE(absl::IsUnavailable(Fork(line).status())) << answer;
    }
    warm_.join();
  }
  const common::ProcessIdentity sleep = StartSleep();
  Play(kReady, {absl::StrCat(R"({"pid": )", sleep.pid, "}")});
  WarmLine line(path_, geteuid() + 1);
  EXPECT_THAT(std::string(Fork(line).status().message()), HasSubstr("another user's process"));
  EXPECT_TRUE(sleep.SendSignal(SIGKILL).ok());
}

TEST_F(WarmLineTest, GarbageEndsTheLine) {
  for (const std::string& hello :
       {std::string("x"), std::string("[]"), std::string("{}"), std::string(R"({"ready": 1})"), std::string("\0", 1)}) {
    Play(hello, {});
    {
      WarmLine line(path_, std::nullopt);
      EXPECT_TRUE(absl::IsUnavailable(Fork(line).status())) << hello;
    }
    warm_.join();
  }
}

TEST_F(WarmLineTest, NoticesWithoutEndAreNotWaitedFor) {
  warm_ = std::thread([this] {
    const common::UniqueFd line(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::string notice = R"({"ended": 5, "code": 0})";
    while (send(line.get(), notice.data(), notice.size(), MSG_NOSIGNAL) > 0) continue;
  });
  WarmLine line(path_, std::nullopt);
  EXPECT_THAT(std::string(Fork(line, 0.5).status().message()), HasSubstr("does not answer"));
}

TEST_F(WarmLineTest, WhoTellsOfEndsForEverIsNotListenedTo) {
  warm_ = std::thread([this] {
    const common::UniqueFd peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::string end = R"({"ended": 2, "code": 0})";
    while (send(peer.get(), end.data(), end.size(), MSG_NOSIGNAL) > 0) continue;
  });
  WarmLine line(path_, std::nullopt);
  EXPECT_THAT(std::string(Fork(line, 0.05).status().message()), HasSubstr("tells of ends"));
}

TEST_F(WarmLineTest, SilenceAndATrainerThatEndsAreNotWaitedFor) {
  WarmLine line(path_, std::nullopt);
  EXPECT_TRUE(absl::IsUnavailable(Fork(line, 0.05).status())) << "nobody accepts the connection";
  EXPECT_TRUE(
      absl::IsCancelled(line.Fork(STDIN_FILENO, STDERR_FILENO, "/job/faults", 60, [] { return false; }).status()));
}

}  // namespace
}  // namespace rekindle::own_model
