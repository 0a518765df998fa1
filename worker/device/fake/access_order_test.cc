#include "worker/device/fake/access_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::device {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr Queue kA = Queue::kCompute, kB = Queue::kExchange, kC = Queue::kSnapshot;

class AccessOrderTest : public testing::Test {
 protected:
  void Read(Queue queue, int64_t begin, int64_t end) {
    order_.Launch(queue, {.name = "r", .reads = {{&block_, begin, end - begin}}, .writes = {}, .run = nullptr});
  }
  void Write(Queue queue, int64_t begin, int64_t end) {
    order_.Launch(queue, {.name = "w", .reads = {}, .writes = {{&block_, begin, end - begin}}, .run = nullptr});
  }
  void After(Queue queue, Queue other) { order_.After(queue, order_.Record(other)); }

  AccessOrder order_;
  const Block block_{100, "m"};
};

TEST_F(AccessOrderTest, AWriteAndAnyOtherAccessNeedAnOrder) {
  Write(kA, 0, 10);
  Read(kB, 9, 20);
  EXPECT_THAT(order_.reports(), SizeIs(1));
  Write(kC, 0, 1);
  EXPECT_THAT(order_.reports(), SizeIs(2));
  Write(kA, 19, 21);
  EXPECT_THAT(order_.reports(), SizeIs(3));
}

TEST_F(AccessOrderTest, AMarkOrdersWhatWasBeforeItAndNothingElse) {
  Write(kA, 0, 10);
  const VectorClock mark = order_.Record(kA);
  Write(kA, 10, 20);
  order_.After(kB, mark);
  Read(kB, 0, 10);
  EXPECT_THAT(order_.reports(), IsEmpty());
  Read(kB, 10, 11);
  EXPECT_THAT(order_.reports(), SizeIs(1));
}

TEST_F(AccessOrderTest, OrdersPassOnFromQueueToQueue) {
  Write(kA, 0, 10);
  After(kB, kA);
  After(kC, kB);
  Write(kC, 0, 10);
  EXPECT_THAT(order_.reports(), IsEmpty());
}

TEST_F(AccessOrderTest, WhatTheHostHasAwaitedComesBeforeAllThatItQueues) {
  Write(kA, 0, 10);
  order_.Await(order_.Record(kA));
  Write(kB, 0, 10);
  Read(kC, 20, 30);
  order_.AwaitAll();
  Write(kA, 0, 100);
  EXPECT_THAT(order_.reports(), IsEmpty());
}

TEST_F(AccessOrderTest, AReadThatAnOrderedWriteFollowedIsForgotten) {
  Read(kA, 0, 10);
  After(kB, kA);
  Write(kB, 0, 10);
  After(kC, kB);
  Write(kC, 0, 10);
  EXPECT_THAT(order_.reports(), IsEmpty());
}

TEST_F(AccessOrderTest, TheHostsAccessComesBeforeWhatItQueuesLater) {
  order_.TouchByHost({&block_, 0, 10}, true);
  Read(kA, 0, 10);
  EXPECT_THAT(order_.reports(), IsEmpty());
  order_.TouchByHost({&block_, 0, 10}, false);
  EXPECT_THAT(order_.reports(), IsEmpty());
  order_.TouchByHost({&block_, 5, 1}, true);
  EXPECT_THAT(order_.reports(), SizeIs(1));
}

TEST_F(AccessOrderTest, EmptyRangesMeetNothing) {
  Write(kA, 0, 10);
  Write(kB, 5, 5);
  Write(kB, 100, 100);
  EXPECT_THAT(order_.reports(), IsEmpty());
}

TEST_F(AccessOrderTest, AFreedBlockIsForgotten) {
  Write(kA, 0, 10);
  order_.Forget(&block_);
  Write(kB, 0, 10);
  EXPECT_THAT(order_.reports(), IsEmpty());
}

TEST_F(AccessOrderTest, ReportsAreBoundedAndNotRepeated) {
  Write(kA, 0, 1);
  for (int i = 0; i < 3; ++i) Read(kB, 0, 1);
  EXPECT_THAT(order_.reports(), SizeIs(1));
  for (int64_t i = 0; i < 100; ++i) {
    Write(kA, i, i + 1);
    Write(kC, i, i + 1);
  }
  EXPECT_THAT(order_.reports(), SizeIs(AccessOrder::kMostReports));
}

}  // namespace
}  // namespace rekindle::device
