// Tests what the file job.json beside a job's checkpoints says while the job trains and after its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "checkpoint/format/framed_job_file.h"
#include "coordinator/core/record/job_json.h"
#include "worker/train/testing/engine_test_fixture.h"

namespace rekindle::train {
namespace {

using testing::HasSubstr;

v1::JobFile Parsed(const std::string& text) {
  const auto inner = checkpoint::DecodeJobFile(text, LocalCoordinator::kUid);
  return inner.ok() ? core::ParseJobFile(*inner).value_or(v1::JobFile()) : v1::JobFile();
}
bool IsOver(const std::string& text) { return Parsed(text).over(); }

class EngineJobFileTest : public EngineTest {
 protected:
  void StartJob(int trainers, BeforeBackward hook = {}) {
    TrainSpec spec = SmallSpec(40);
    spec.checkpoint = {.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 10};
    Start(spec, trainers, std::move(hook));
  }
};

TEST_F(EngineJobFileTest, LiesBesideTheFirstCheckpointAndSaysThatTheJobIsOver) {
  std::atomic<bool> looked{false};
  v1::JobFile early;
  StartJob(2, [&](size_t, int64_t step) {
    if (step < 35 || looked.exchange(true)) return;
    EXPECT_TRUE(store_.AwaitJobFile([](const std::string& text) { return !text.empty(); }));
    early = Parsed(store_.job_file());
  });
  const v1::JobStatus status = AwaitEnd();
  ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
  EXPECT_FALSE(early.over());
  EXPECT_EQ(early.job_uid(), LocalCoordinator::kUid);
  EXPECT_GE(early.record().membership().generation(), 1);
  EXPECT_THAT(store_.job_file(), testing::Not(HasSubstr(LocalCoordinator::kSecret)));
  ASSERT_TRUE(store_.AwaitJobFile(IsOver));
  const v1::JobFile last = Parsed(store_.job_file());
  EXPECT_EQ(last.over_reason(), status.reason());
  EXPECT_EQ(last.record().job().status().step(), 40);
  EXPECT_EQ(last.record().job().status().state_digest(), status.state_digest());
}

TEST_F(EngineJobFileTest, WhereRankZeroIsKilledTheNextOneHandsItOn) {
  StartJob(3);
  AwaitStep(12);
  trainers_[0]->Kill();
  ExpectUndisturbedResult();
  ASSERT_TRUE(store_.AwaitJobFile(IsOver));
  EXPECT_GE(Parsed(store_.job_file()).record().membership().generation(), 2);
}

TEST_F(EngineJobFileTest, AResultSavedElsewhereIsOverThere) {
  std::atomic<bool> broke{false};
  StartJob(1, [&](size_t, int64_t step) {
    if (step == 25 && !broke.exchange(true)) store_.SetBroken(true);
  });
  ASSERT_TRUE(coordinator_->Await(HasMadeAllSteps));
  ASSERT_EQ(coordinator_->Status().state(), v1::FINISHING) << coordinator_->Status().DebugString();
  EXPECT_FALSE(IsOver(store_.job_file()));
  core::ResumeJob elsewhere{LocalCoordinator::kUid};
  elsewhere.store = "elsewhere";
  coordinator_->Feed(elsewhere);
  ASSERT_EQ(AwaitEnd().state(), v1::SUCCEEDED) << coordinator_->Status().DebugString();
  EXPECT_TRUE(elsewhere_.AwaitJobFile(IsOver));
}

}  // namespace
}  // namespace rekindle::train
