#include "coordinator/core/record/decided.h"

#include <gtest/gtest.h>

namespace rekindle::core {
namespace {

TEST(DecidedTest, AStatusOfAnEarlierReleaseSaysWhatWasDecided) {
  v1::JobRecord record;
  record.set_halt("waits until 22:00 UTC (off-peak)");
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  status->set_reason("brought back from its store; `rekindle resume job` lets it go on");
  status->add_levers()->set_lever("smoke_test");
  status->add_levers()->set_lever("first_epoch");
  FillDecided(&record);
  EXPECT_TRUE(record.decided().brought_back());
  EXPECT_TRUE(record.decided().halt_off_peak());
  EXPECT_TRUE(record.decided().smoke_test_passed());
  EXPECT_TRUE(record.decided().first_epoch_over());
  EXPECT_EQ(record.decided().stopped_for(), "");
}

TEST(DecidedTest, ANewJobHasDecidedNothing) {
  v1::JobRecord record;
  record.mutable_job()->mutable_status()->add_levers()->set_lever("ranges");
  FillDecided(&record);
  EXPECT_TRUE(record.has_decided());
  EXPECT_EQ(record.decided().ByteSizeLong(), 0u);
}

TEST(DecidedTest, WhatWasDecidedIsNotReadFromTheStatus) {
  v1::JobRecord record;
  record.mutable_decided()->set_stopped_for("paused by the user");
  record.mutable_job()->mutable_status()->add_levers()->set_lever("smoke_test");
  FillDecided(&record);
  EXPECT_FALSE(record.decided().smoke_test_passed());
  EXPECT_EQ(record.decided().stopped_for(), "paused by the user");
}

}  // namespace
}  // namespace rekindle::core
