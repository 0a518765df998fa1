#include "coordinator/server/metrics/job_times.h"

#include <gtest/gtest.h>

namespace rekindle::coordinator {
namespace {

v1::Job JobIn(v1::JobState state, int checkpoint_step = -1) {
  v1::Job job;
  job.set_uid("1");
  job.set_name("a");
  job.mutable_status()->set_state(state);
  job.mutable_status()->set_submitted_at(100);
  job.mutable_status()->set_checkpoint_step(checkpoint_step);
  return job;
}

TEST(JobTimes, AJobWaitsSinceItsSubmitOrSinceItStopped) {
  JobTimes times;
  v1::Job waits = JobIn(v1::PENDING), trains = JobIn(v1::RUNNING);
  times.Update(nullptr, waits, 105);
  EXPECT_EQ(times.WaitsSince(waits), 100);
  trains.mutable_status()->set_generation(1);
  times.Update(&waits, trains, 110);
  v1::Job again = waits;
  again.mutable_status()->set_generation(1);
  times.Update(&trains, again, 150);
  EXPECT_EQ(times.WaitsSince(again), 150);
  times.Update(&again, again, 160);
  EXPECT_EQ(times.WaitsSince(again), 150);
}

TEST(JobTimes, NothingIsSavedSinceTheNewestCheckpointOrSinceItBeganToTrain) {
  JobTimes times;
  const v1::Job waits = JobIn(v1::PENDING), trains = JobIn(v1::RUNNING), saved = JobIn(v1::RUNNING, 10),
                paused = JobIn(v1::PAUSED, 10);
  times.Update(nullptr, waits, 100);
  times.Update(&waits, trains, 110);
  EXPECT_EQ(times.UnsavedSince(trains), 110);
  times.Update(&trains, saved, 120);
  EXPECT_EQ(times.UnsavedSince(saved), 120);
  times.Update(&saved, saved, 130);
  EXPECT_EQ(times.UnsavedSince(saved), 120);
  times.Update(&saved, paused, 140);
  times.Update(&paused, saved, 500);
  EXPECT_EQ(times.UnsavedSince(saved), 500) << "while it was paused nothing was at risk";
  const v1::Job finishing = JobIn(v1::FINISHING, 10);
  times.Update(&saved, finishing, 510);
  EXPECT_EQ(times.UnsavedSince(finishing), 500);
}

TEST(JobTimes, EventsKnowMoreOfAJobThatTrainedBefore) {
  JobTimes times;
  const v1::Job trains = JobIn(v1::RUNNING, 10);
  times.Update(nullptr, trains, 1000);
  EXPECT_TRUE(times.IsGuessed("1"));
  EXPECT_EQ(times.UnsavedSince(trains), 1000);
  times.Recall("1", 940);
  EXPECT_FALSE(times.IsGuessed("1"));
  EXPECT_EQ(times.UnsavedSince(trains), 940);
  times.Recall("1", 900);
  EXPECT_EQ(times.UnsavedSince(trains), 940) << "once";

  JobTimes silent;
  silent.Update(nullptr, trains, 1000);
  silent.Recall("1", 0);
  EXPECT_FALSE(silent.IsGuessed("1"));
  EXPECT_EQ(silent.UnsavedSince(trains), 1000);
  silent.Recall("none", 5);
  EXPECT_FALSE(silent.IsGuessed("none"));
}

TEST(JobTimes, WhichEventsTellThat) {
  v1::Event event;
  event.set_at(7);
  for (const char* kind : {"checkpoint_saved", "started", "resumed", "job_adopted"}) {
    event.set_kind(kind);
    EXPECT_EQ(UnsavedSinceBy(event), 7) << kind;
  }
  event.set_kind("checkpoint_failed");
  EXPECT_EQ(UnsavedSinceBy(event), 0);
}

TEST(JobTimes, WhatHasEndedIsForgotten) {
  JobTimes times;
  const v1::Job trains = JobIn(v1::RUNNING), over = JobIn(v1::SUCCEEDED);
  times.Update(nullptr, trains, 1000);
  times.Update(&trains, over, 1001);
  EXPECT_FALSE(times.IsGuessed("1"));
}

}  // namespace
}  // namespace rekindle::coordinator
