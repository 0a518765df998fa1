// Checks which saves are refused on file systems whose free space the test sets.
#include "checkpoint/store/store_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kGiB = 1 << 30;

TEST(KeptFreeTest, IsAShareAndAtMostAGiB) {
  EXPECT_EQ(KeptFree(0), 0);
  EXPECT_EQ(KeptFree(19), 0);
  EXPECT_EQ(KeptFree(100 * kMiB), 5 * kMiB);
  EXPECT_EQ(KeptFree(10 * kGiB), kGiB / 2);
  EXPECT_EQ(KeptFree(20 * kGiB), kGiB);
  EXPECT_EQ(KeptFree(1'000'000 * kGiB), kGiB);
}

class StoreRoomTest : public ::testing::Test {
 protected:
  const std::string uri_ = "file:///data/store";
  const StoreRoom::Save save_{.job_uid = "job", .trainer = "n1/0", .generation = 3, .step = 10, .xxh3 = "a"};
  absl::StatusOr<common::DiskSpace> space_ = common::DiskSpace{.free = 100 * kMiB, .total = 1000 * kMiB};
  std::string exists_ = "/data/store";
  std::vector<std::string> asked_;
  StoreRoom room_{[this](const std::string& folder) -> absl::StatusOr<common::DiskSpace> {
    asked_.push_back(folder);
    if (!exists_.starts_with(folder)) return absl::NotFoundError(folder);
    return space_;
  }};
};

TEST_F(StoreRoomTest, WhatWouldTakeOfTheKeptIsRefusedAndSaysWhatToDo) {
  EXPECT_TRUE(room_.Check(uri_, 50 * kMiB).ok()) << "just what is left beside 50 MiB";
  const absl::Status refused = room_.Check(uri_, 50 * kMiB + 1);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  for (const char* part : {"file:///data/store has 100.0 MiB free", "50.0 MiB are kept", "needs up to 50.0 MiB",
                           "free some disk space there", "rekindle checkpoint rm", "keep_last"}) {
    EXPECT_THAT(std::string(refused.message()), HasSubstr(part));
  }
  space_ = common::DiskSpace{.free = 0, .total = 1000 * kMiB};
  EXPECT_TRUE(absl::IsResourceExhausted(room_.Check(uri_, 1)));
  space_ = common::DiskSpace{.free = 3 * kGiB, .total = 1000 * kGiB};
  EXPECT_TRUE(room_.Check(uri_, 2 * kGiB).ok());
  EXPECT_FALSE(room_.Check(uri_, 2 * kGiB + 1).ok());
}

TEST_F(StoreRoomTest, WhereNothingIsToldThereIsNoLimit) {
  space_ = common::DiskSpace{};
  EXPECT_TRUE(room_.Check(uri_, kGiB).ok());
  space_ = common::DiskSpace{.free = 5, .total = -1};
  EXPECT_TRUE(room_.Check(uri_, kGiB).ok());
  space_ = absl::InternalError("Input/output error");
  EXPECT_TRUE(room_.Check(uri_, kGiB).ok());
  exists_ = "";
  EXPECT_TRUE(room_.Check(uri_, kGiB).ok());
}

TEST_F(StoreRoomTest, BucketsHaveNoLimitAndNothingIsAsked) {
  space_ = common::DiskSpace{.free = 0, .total = kGiB};
  for (const char* bucket :
       {"s3://bucket/prefix", "gs://bucket/prefix", "abfs://container@account.dfs.core.windows.net/prefix"}) {
    EXPECT_TRUE(room_.Check(bucket, kGiB).ok()) << bucket;
  }
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(StoreRoomTest, AStoreThatIsNotThereYetIsOnTheFileSystemOfTheFolderAbove) {
  exists_ = "/data";
  EXPECT_FALSE(room_.Check("file:///data/a/b", 60 * kMiB).ok());
  EXPECT_THAT(asked_, ElementsAre("/data/a/b", "/data/a", "/data"));
}

TEST_F(StoreRoomTest, ASaveIsAdmittedAsAWholeAndAskedForOnlyOnceAShard) {
  EXPECT_FALSE(room_.Admit(uri_, save_, 10 * kMiB, 60 * kMiB).ok()) << "its first shard would fit, and not the rest";
  EXPECT_TRUE(room_.Admit(uri_, save_, 10 * kMiB, 50 * kMiB).ok());
  // Most shards of the save are on the disk by now, although the staged bytes still include them. The next one is
  // admitted, because it fits by itself.
  space_->free = 70 * kMiB;
  EXPECT_TRUE(room_.Admit(uri_, save_, 10 * kMiB, 40 * kMiB).ok());
  EXPECT_EQ(asked_.size(), 3u);
  // Another process has used up the rest of the space, so the next shard is refused. When the save is attempted again,
  // all that is still staged has to fit.
  space_->free = 59 * kMiB;
  EXPECT_FALSE(room_.Admit(uri_, save_, 10 * kMiB, 40 * kMiB).ok());
  room_.GiveUp(save_);
  space_->free = 80 * kMiB;
  EXPECT_FALSE(room_.Admit(uri_, save_, 10 * kMiB, 40 * kMiB).ok());
  space_->free = 90 * kMiB;
  EXPECT_TRUE(room_.Admit(uri_, save_, 10 * kMiB, 40 * kMiB).ok());
}

// A save may write less than it has staged, so no save is refused for ever because of its staged bytes alone.
TEST_F(StoreRoomTest, AfterARefusalForWhatWasStagedTheNextSaveIsTriedShardByShard) {
  EXPECT_FALSE(room_.Admit(uri_, save_, 10 * kMiB, 60 * kMiB).ok());
  EXPECT_FALSE(room_.Admit(uri_, save_, 10 * kMiB, 60 * kMiB).ok()) << "a collection made no room";
  room_.GiveUp(save_);
  StoreRoom::Save next = save_;
  next.xxh3 = "b";
  EXPECT_FALSE(room_.Admit(uri_, next, 10 * kMiB, 60 * kMiB).ok()) << "another shard of the same try";
  room_.GiveUp(next);
  EXPECT_TRUE(room_.Admit(uri_, save_, 10 * kMiB, 60 * kMiB).ok()) << "the same shard again: another try";
  next.step += 10;
  EXPECT_TRUE(room_.Admit(uri_, next, 10 * kMiB, 60 * kMiB).ok()) << "so are those after one that was written";
  space_->free = 59 * kMiB;
  EXPECT_FALSE(room_.Admit(uri_, next, 10 * kMiB, 60 * kMiB).ok()) << "that one was more than there is room for";
  room_.GiveUp(next);
  space_->free = 100 * kMiB;
  EXPECT_FALSE(room_.Admit(uri_, next, 10 * kMiB, 60 * kMiB).ok());
}

TEST_F(StoreRoomTest, EachSaveOfEachTrainerIsAdmittedByItself) {
  ASSERT_TRUE(room_.Admit(uri_, save_, 1, 1).ok());
  for (const StoreRoom::Save& other :
       {StoreRoom::Save{"job", "n1/0", 3, 20}, StoreRoom::Save{"job", "n1/0", 4, 10},
        StoreRoom::Save{"job", "n1/1", 3, 10}, StoreRoom::Save{"other", "n1/0", 3, 10}}) {
    EXPECT_FALSE(room_.Admit(uri_, other, 1, 60 * kMiB).ok()) << other.job_uid << other.trainer << other.step;
  }
}

}  // namespace
}  // namespace rekindle::checkpoint
