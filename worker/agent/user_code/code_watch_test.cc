#include "worker/agent/user_code/code_watch.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/folder/trainer_record.h"
#include "worker/agent/user_code/warm_record.h"
#include "worker/user_code/testing/confined_testing.h"

namespace rekindle::agent {
namespace {

using user_code::Isolation;

constexpr uid_t kTestUid = 4'199'995'000;

// Has the code of a job that has left its process group, and the folder of the node that runs it.
class CodeWatch : public user_code::ConfinedTest {
 protected:
  CodeWatch() : ConfinedTest(kTestUid) {}
  void SetUp() override {
    ConfinedTest::SetUp();
    if (IsSkipped()) return;
    auto opened = NodeFolder::Open(root_ + "/node", 1);
    ASSERT_TRUE(opened.ok()) << opened.status();
    folder_.emplace(*std::move(opened));
    dir_ = folder_->dir();
    const WarmRecord record = {.job_uid = "job",
                               .isolation = Isolation::kUid,
                               .uid = kTestUid,
                               .folder = job_.folder,
                               .boot_id = common::BootId()};
    ASSERT_TRUE(ReplaceFile(folder_->WarmFolder() + "/record.json", ToJson(record)).ok());
    const auto confinement = user_code::Confine(job_, {});
    ASSERT_TRUE(confinement.ok()) << confinement.status();
    code_.emplace(user_code::StartSleeper(confinement->get()));
  }
  void AddTrainer(const common::Process& process) const {
    const TrainerRecord record = {.trainer = "n1/0/abcd",
                                  .job_uid = "job",
                                  .job_name = "job",
                                  .process = process.identity(),
                                  .boot_id = common::BootId()};
    ASSERT_TRUE(ReplaceFile(dir_ + "/trainers/0.json", ToJson(record)).ok());
  }
  static void AwaitEnd(const common::Process& process) { EXPECT_EQ(user_code::AwaitExit(process)->code, -SIGKILL); }

  std::optional<NodeFolder> folder_;
  std::string dir_;
  std::optional<common::Process> code_;
};
INSTANTIATE_TEST_SUITE_P(Isolations, CodeWatch, ::testing::Values(Isolation::kUid));

TEST_P(CodeWatch, CodeEndsWithTheLastTrainerWhereNoAgentIs) {
  const common::Process trainer = user_code::StartSleeper();
  AddTrainer(trainer);
  folder_.reset();
  EXPECT_TRUE(EndCodeWithoutTrainers(dir_)) << "the trainer runs";
  EXPECT_FALSE(code_->Exited());
  ASSERT_TRUE(trainer.Signal(SIGKILL).ok());
  AwaitEnd(trainer);
  EXPECT_FALSE(EndCodeWithoutTrainers(dir_));
  AwaitEnd(*code_);
}

TEST_P(CodeWatch, AnAgentSeesToItsCodeItself) {
  EXPECT_FALSE(EndCodeWithoutTrainers(dir_));
  EXPECT_FALSE(code_->Exited());
  folder_.reset();
  EXPECT_FALSE(EndCodeWithoutTrainers(dir_));
  AwaitEnd(*code_);
  EXPECT_TRUE(NodeFolder::Open(dir_, 0).ok()) << "the next agent gets the lock";
}

}  // namespace
}  // namespace rekindle::agent
