// Tests the retries, deadlines, checks and bandwidth cap of ObjectStore. The bucket is in memory, and fails or hangs as
// a test tells it to.
#include "common/objects/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "common/objects/object_plugin.h"
#include "common/sync/mutex.h"
#include "common/testing/fake_clock.h"
#include "common/testing/object_testing.h"
#include "common/time/abandon.h"

namespace rekindle::common {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

;

class ObjectStoreTest : public ::testing::Test {
 protected:
  static std::string Large() {
    std::string content(static_cast<size_t>(5 * ObjectStore::kPiece / 2), '\0');
    for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 2654435761u >> 13);
    return content;
  }
  absl::StatusOr<std::string> Read(const std::string& key, int64_t offset, int64_t bytes) {
    std::string content;
    const int64_t size = static_cast<int64_t>(memory_->Get("p/" + key).size());
    const absl::Status status = store_.Get(key, size, offset, bytes, [&](int64_t at, const void* data, size_t n) {
      EXPECT_EQ(at, offset + static_cast<int64_t>(content.size()));
      content.append(static_cast<const char*>(data), n);
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    return content;
  }

  FakeClock clock_;
  const double start_ = clock_.Now();
  std::shared_ptr<MemoryObjects> memory_ = std::make_shared<MemoryObjects>();
  ObjectStore store_{memory_, "p", {}, clock_.clock()};
};

TEST_F(ObjectStoreTest, PutsReadsListsDeletes) {
  const std::string content = Large();
  EXPECT_EQ(store_.Put("a/large", content)->size, static_cast<int64_t>(content.size()));
  EXPECT_TRUE(store_.Put("a/empty", "").ok());
  EXPECT_EQ(memory_->Get("p/a/large"), content);
  EXPECT_EQ(*Read("a/large", 0, static_cast<int64_t>(content.size())), content);
  EXPECT_EQ(*Read("a/large", 7, ObjectStore::kPiece + 3), content.substr(7, ObjectStore::kPiece + 3));
  std::vector<std::string> names;
  const auto listed = store_.List("a");
  for (const ObjectInfo& info : *listed) names.push_back(info.name);
  EXPECT_THAT(names, ElementsAre("empty", "large"));
  EXPECT_TRUE(store_.Delete("a/large").ok());
  EXPECT_TRUE(store_.Delete("a/large").ok());
  EXPECT_TRUE(absl::IsNotFound(store_.Head("a/large").status()));
}

TEST_F(ObjectStoreTest, AnyCallMayFailOnceForAPassingReason) {
  for (const absl::Status& error :
       {absl::UnavailableError("503"), absl::ResourceExhaustedError("slow down"), absl::DataLossError("bad digest")}) {
    for (int at = 0; at < 6; ++at) {
      memory_->errors.assign(static_cast<size_t>(at), absl::OkStatus());
      memory_->errors.push_back(error);
      ASSERT_TRUE(store_.Put("x", Large()).ok()) << at << error;
      ASSERT_EQ(memory_->Get("p/x"), Large());
    }
    memory_->errors = {absl::OkStatus(), error};
    EXPECT_EQ(*Read("x", 0, 3 * ObjectStore::kPiece / 2), Large().substr(0, 3 * ObjectStore::kPiece / 2));
    memory_->errors = {error};
    EXPECT_TRUE(store_.List("").ok());
  }
  EXPECT_GT(memory_->given_up, 0);
}

TEST_F(ObjectStoreTest, WhatTheStoreLostIsSentAgain) {
  memory_->lose_last_piece = true;
  EXPECT_TRUE(store_.Put("x", Large()).ok());
  EXPECT_EQ(memory_->Get("p/x"), Large());
  memory_->short_reads = true;
  EXPECT_EQ(*Read("x", 0, 100), Large().substr(0, 100));
}

TEST_F(ObjectStoreTest, ErrorsThatStayAreToldAndRefusalsAtOnce) {
  memory_->errors.assign(1000, absl::UnavailableError("503"));
  const absl::Status down = store_.Put("x", "content").status();
  EXPECT_TRUE(absl::IsUnavailable(down));
  EXPECT_THAT(std::string(down.message()), HasSubstr("gave up after"));
  EXPECT_LE(clock_.Now() - start_, ObjectStoreOptions().deadline_seconds + 1);
  memory_->errors.assign(1000, absl::PermissionDeniedError("403"));
  memory_->calls = 0;
  EXPECT_TRUE(absl::IsPermissionDenied(store_.Put("x", "content").status()));
  EXPECT_EQ(memory_->calls, 1);
  EXPECT_TRUE(memory_->objects.empty());
}

TEST_F(ObjectStoreTest, ASourceOrApprovalThatFailsLeavesNothing) {
  const auto broken = [](int64_t, void*, size_t) { return absl::DataLossError("torn"); };
  EXPECT_EQ(store_.Put("x", broken, 10).status().message(), "torn");
  const auto zeros = [](int64_t, void* out, size_t n) { return std::memset(out, 0, n), absl::OkStatus(); };
  EXPECT_EQ(store_.Put("x", zeros, 10, [] { return absl::DataLossError("changed"); }).status().message(), "changed");
  EXPECT_TRUE(memory_->objects.empty());
  EXPECT_EQ(memory_->given_up, 2);
}

TEST_F(ObjectStoreTest, StaysBelowTheCap) {
  ObjectStoreOptions options;
  options.bandwidth = std::make_shared<TokenBucket>(/*rate=*/1e5, /*burst=*/1e5);
  ObjectStore slow(memory_, "p", options, clock_.clock());
  // The cap on the bandwidth makes the upload last longer than its deadline. It succeeds all the same, because the time
  // that it waits for the cap does not count.
  ASSERT_TRUE(slow.Put("x", Large()).ok());
  EXPECT_GE(clock_.Now() - start_, static_cast<double>(Large().size()) / 1e5 - 1);
}

TEST_F(ObjectStoreTest, AHangingLibraryIsAbandoned) {
  ObjectStoreOptions options;
  options.attempt_seconds = options.deadline_seconds = 0.05;
  ObjectStore hasty(memory_, "p", options);
  memory_->hang = true;
  EXPECT_TRUE(absl::IsDeadlineExceeded(hasty.Put("x", "content").status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(hasty.Head("x").status()));
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(hasty.Get("x", 7, 0, 7, [](int64_t, const void*, size_t) { return absl::OkStatus(); })));
  EXPECT_GE(AbandonedCalls(), 3);
  {
    const MutexLock lock(memory_->mutex);
    memory_->hang = false;
  }
  memory_->released.NotifyAll();
  while (AbandonedCalls() > 0) std::this_thread::yield();
  EXPECT_TRUE(memory_->objects.empty());
}

TEST(ObjectPluginTest, AbsentIsUnimplemented) {
  const auto plugin = LoadObjectPlugin("/nonexistent/librekindle_objects.so");
  EXPECT_TRUE(absl::IsUnimplemented(plugin.status()));
  EXPECT_THAT(std::string(plugin.status().message()), HasSubstr("file://"));
}

}  // namespace
}  // namespace rekindle::common
