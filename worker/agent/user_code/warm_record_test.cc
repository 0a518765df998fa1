#include "worker/agent/user_code/warm_record.h"

#include <fstream>

#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"
#include "worker/user_code/code_uids.h"

namespace rekindle::agent {
namespace {

class Record : public ::testing::Test {
 protected:
  absl::StatusOr<WarmRecord> Read(const std::string& text) {
    const std::string path = temporary_.path() + "/record";
    std::ofstream(path) << text;
    return ReadWarmRecord(path);
  }
  static WarmRecord Sound() {
    return {.job_uid = "job-1",
            .isolation = user_code::Isolation::kUid,
            .uid = user_code::UidRange().first,
            .folder = "/node.code/1",
            .process = {.pid = 7, .start_time_ticks = 8},
            .boot_id = "boot"};
  }
  common::TemporaryFolder temporary_;
};

TEST_F(Record, ItIsReadAsItWasWritten) {
  const auto read = Read(ToJson(Sound()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToJson(*read), ToJson(Sound()));
  EXPECT_EQ(read->process, Sound().process);
}

TEST_F(Record, WhatWouldEndOrRemoveOtherThingsIsRefused) {
  WarmRecord system = Sound();
  system.uid = 0;
  WarmRecord relative = Sound();
  relative.folder = "code";
  WarmRecord odd = Sound();
  odd.job_uid = "../x";
  for (const WarmRecord& record : {system, relative, odd}) {
    EXPECT_TRUE(absl::IsDataLoss(Read(ToJson(record)).status())) << ToJson(record);
  }
  for (const char* text : {"", "{}", "[]", "{\"job_uid\": 1}"}) EXPECT_TRUE(absl::IsDataLoss(Read(text).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadWarmRecord(temporary_.path() + "/none").status()));
}

}  // namespace
}  // namespace rekindle::agent
