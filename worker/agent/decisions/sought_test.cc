#include "worker/agent/decisions/sought.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/process/process.h"

namespace rekindle::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SoughtTest : public testing::Test {
 protected:
  void Seek(const std::string& trainer, const common::ProcessIdentity& identity,
            const common::MachineIdentity& machine) {
    v1::SoughtTrainer* sought = look_for_.Add();
    sought->set_trainer(trainer);
    sought->mutable_process()->set_pid(identity.pid);
    sought->mutable_process()->set_started(identity.start_time_ticks);
    ToProto(machine, sought->mutable_process()->mutable_machine());
  }

  const common::MachineIdentity here_ = common::IdentifyMachine();
  google::protobuf::RepeatedPtrField<v1::SoughtTrainer> look_for_;
};

TEST_F(SoughtTest, ALivingProcessIsThereUntilItHasEnded) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto identity = common::Identify(child);
  ASSERT_TRUE(identity.ok()) << identity.status();
  Seek("n1/0/a", *identity, here_);
  EXPECT_THAT(AbsentAmong(look_for_, here_), IsEmpty());
  // A stopped process may be continued, so it is not gone.
  ASSERT_EQ(kill(child, SIGSTOP), 0);
  EXPECT_THAT(AbsentAmong(look_for_, here_), IsEmpty());
  ASSERT_EQ(kill(child, SIGKILL), 0);
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  // A zombie does no more steps, so it counts as gone.
  EXPECT_THAT(AbsentAmong(look_for_, here_), ElementsAre("n1/0/a"));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_THAT(AbsentAmong(look_for_, here_), ElementsAre("n1/0/a"));
}

TEST_F(SoughtTest, AnotherProcessUnderThePidIsNotIt) {
  common::ProcessIdentity own = *common::Identify(getpid());
  Seek("now", own, here_);
  own.start_time_ticks += 1;
  Seek("before", own, here_);
  EXPECT_THAT(AbsentAmong(look_for_, here_), ElementsAre("before"));
}

TEST_F(SoughtTest, NothingIsSaidOfOtherMachinesBootsOrNamespaces) {
  const common::ProcessIdentity gone{.pid = getpid(), .start_time_ticks = 1};
  common::MachineIdentity other = here_;
  other.boot = "another boot";
  Seek("boot", gone, other);
  other = here_;
  other.processes = "pid:[1]";
  Seek("namespace", gone, other);
  Seek("nameless", gone, {});
  Seek("no pid", {.pid = 0, .start_time_ticks = 1}, here_);
  Seek("no start", {.pid = getpid(), .start_time_ticks = 0}, here_);
  EXPECT_THAT(AbsentAmong(look_for_, here_), IsEmpty());
  EXPECT_THAT(AbsentAmong(look_for_, {}), IsEmpty());
}

}  // namespace
}  // namespace rekindle::agent
