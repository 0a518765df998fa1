#include "coordinator/server/loop/item_queue.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace rekindle::coordinator {
namespace {

constexpr double kForEver = std::numeric_limits<double>::infinity();

absl::Status Add(ItemQueue& queue) {
  LoopItem item = LoopTask([] {});
  return queue.Add(item);
}

TEST(ItemQueue, WhatWasAddedIsTakenOnce) {
  ItemQueue queue;
  EXPECT_TRUE(Add(queue).ok());
  EXPECT_TRUE(Add(queue).ok());
  const ItemQueue::Taken taken = queue.Await(kForEver);
  EXPECT_EQ(taken.items.size(), 2u);
  EXPECT_TRUE(taken.ended.ok());
  EXPECT_TRUE(queue.Await(0).items.empty());
}

TEST(ItemQueue, AnItemWakesWhoWaits) {
  ItemQueue queue;
  std::thread other([&] { EXPECT_TRUE(Add(queue).ok()); });
  EXPECT_EQ(queue.Await(kForEver).items.size(), 1u);
  other.join();
}

TEST(ItemQueue, AFullQueueRefusesAndLeavesTheItem) {
  ItemQueue queue;
  for (size_t i = 0; i < ItemQueue::kMost; ++i) ASSERT_TRUE(Add(queue).ok());
  LoopItem item = core::PoolReported{.pool = "p"};
  EXPECT_TRUE(absl::IsUnavailable(queue.Add(item)));
  EXPECT_EQ(std::get<core::PoolReported>(item).pool, "p");
}

TEST(ItemQueue, NothingIsAddedAfterItWasStopped) {
  ItemQueue queue;
  queue.Stop();
  EXPECT_TRUE(absl::IsUnavailable(Add(queue)));
  EXPECT_TRUE(absl::IsUnavailable(queue.Await(kForEver).ended));
}

TEST(ItemQueue, OnlyTheLastTaskComesAfterItWasSuperseded) {
  ItemQueue queue;
  const absl::Status why = absl::FailedPreconditionError("another");
  queue.Supersede(why, [] {});
  EXPECT_EQ(Add(queue), why);
  const ItemQueue::Taken taken = queue.Await(kForEver);
  EXPECT_EQ(taken.items.size(), 1u);
  EXPECT_EQ(taken.ended, why);
  queue.Stop();
  EXPECT_TRUE(absl::IsUnavailable(queue.Await(kForEver).ended));
  EXPECT_EQ(queue.superseded(), why);
}

}  // namespace
}  // namespace rekindle::coordinator
