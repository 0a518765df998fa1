#include "coordinator/server/metrics/job_metrics.h"

#include <gtest/gtest.h>

namespace rekindle::coordinator {
namespace {

v1::Job Running(int generation, int step) {
  v1::Job job;
  job.set_uid("1");
  job.set_name("a");
  job.mutable_status()->set_state(v1::RUNNING);
  job.mutable_status()->set_generation(generation);
  job.mutable_status()->set_step(step);
  job.mutable_status()->set_checkpoint_step(-1);
  return job;
}

TEST(JobMetrics, CountsWhatIsNew) {
  common::Metrics metrics;
  JobMetrics job_metrics(&metrics);
  const v1::Job before = Running(3, 100);
  job_metrics.Update(nullptr, before, {}, 1);
  v1::Job after = Running(4, 101);
  after.mutable_status()->set_checkpoint_step(100);
  v1::Fault* fault = after.mutable_status()->add_faults();
  fault->set_kind("trainer_killed");
  fault->set_generation(4);
  fault->set_pause_seconds(0.2);
  job_metrics.Update(&before, after, {}, 2);
  job_metrics.Update(&after, after, {}, 3);

  EXPECT_EQ(metrics.Counter("rekindle_checkpoints_saved_total", "").Value(), 1);
  EXPECT_EQ(metrics.Counter("rekindle_generation_changes_total", "", {{"reason", "trainer_killed"}}).Value(), 1);
  EXPECT_EQ(metrics.Histogram("rekindle_pause_seconds", "").Collect().histogram.sample_count, 1u);
}

TEST(JobMetrics, ThePausesOfAJobThatHadFailedAreCountedOnce) {
  common::Metrics metrics;
  JobMetrics job_metrics(&metrics);
  const v1::Job before = Running(3, 100);
  v1::Job paused = Running(4, 101);
  v1::Fault* fault = paused.mutable_status()->add_faults();
  fault->set_generation(4);
  fault->set_pause_seconds(0.2);
  v1::Job failed = paused, resumed = paused, stepped = paused;
  failed.mutable_status()->set_state(v1::FAILED);
  resumed.mutable_status()->set_state(v1::PENDING);
  stepped.mutable_status()->set_step(102);
  job_metrics.Update(nullptr, before, {}, 1);
  job_metrics.Update(&before, paused, {}, 2);
  job_metrics.Update(&paused, failed, {}, 3);
  job_metrics.Update(&failed, resumed, {}, 4);
  job_metrics.Update(&resumed, stepped, {}, 5);
  EXPECT_EQ(metrics.Histogram("rekindle_pause_seconds", "").Collect().histogram.sample_count, 1u);
}

TEST(JobMetrics, AChangeWithoutAFaultHasTheKindOfItsEvent) {
  common::Metrics metrics;
  JobMetrics job_metrics(&metrics);
  const v1::Job before = Running(3, 100), after = Running(4, 100), last = Running(5, 100);
  job_metrics.Update(nullptr, before, {}, 1);
  v1::Event event;
  event.set_job("a");
  event.set_generation(4);
  event.set_kind("resized");
  job_metrics.Update(&before, after, {event}, 2);
  job_metrics.Update(&after, last, {}, 3);
  EXPECT_EQ(metrics.Counter("rekindle_generation_changes_total", "", {{"reason", "resized"}}).Value(), 1);
  EXPECT_EQ(metrics.Counter("rekindle_generation_changes_total", "", {{"reason", "other"}}).Value(), 1);
}

TEST(JobMetrics, TotalsAreSettledOnceJobsThatTrainedBeforeHaveReportedAStep) {
  common::Metrics metrics;
  JobMetrics heard(&metrics), silent(&metrics);
  const v1::Job job = Running(3, 100), stepped = Running(3, 101);
  v1::Job charged = job;
  charged.mutable_status()->mutable_cost()->set_spent(7);
  EXPECT_TRUE(heard.AreTotalsSettled(0));
  heard.Update(nullptr, job, {}, 100);
  EXPECT_FALSE(heard.AreTotalsSettled(101));
  heard.Update(&job, charged, {}, 101);
  EXPECT_FALSE(heard.AreTotalsSettled(101)) << "the job's steps are still those of its record";
  heard.Update(&charged, stepped, {}, 102);
  EXPECT_TRUE(heard.AreTotalsSettled(102));

  silent.Update(nullptr, job, {}, 100);
  EXPECT_FALSE(silent.AreTotalsSettled(109));
  EXPECT_TRUE(silent.AreTotalsSettled(110)) << "nor are they waited for for ever";
}

}  // namespace
}  // namespace rekindle::coordinator
