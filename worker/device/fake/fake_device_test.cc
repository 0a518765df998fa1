#include "worker/device/fake/fake_device.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "worker/device/host/host_device.h"
#include "worker/device/testing/pipeline_testing.h"

namespace rekindle::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The sanitizers make a seed ten to thirty times as slow.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kSeeds = 1'000;
#else
constexpr int kSeeds = 10'000;
#endif
constexpr int kSteps = 3;

Operation Nothing(std::vector<Range> reads, std::vector<Range> writes, const char* name = "nothing") {
  return {.name = name, .reads = std::move(reads), .writes = std::move(writes), .run = [](const Addresses&) {
            return absl::OkStatus();
          }};
}

// Runs an operation to its end.
absl::Status RunNow(Device& device, Operation operation) {
  device.Run(Queue::kCompute, std::move(operation));
  return device.Await(device.Record(Queue::kCompute), nullptr);
}

// Returns the address of the memory, which an operation has not kept to itself.
float* LeakAddress(Device& device, const Memory& memory) {
  float* address = nullptr;
  const absl::Status run =
      RunNow(device, {.name = "leak", .reads = {}, .writes = {memory.all()}, .run = [&](const Addresses& at) {
                        address = at.Write<float>(0);
                        return absl::OkStatus();
                      }});
  EXPECT_TRUE(run.ok());
  return address;
}

TEST(FakeDeviceTest, EverySeedGivesTheSameBitsAndNoReport) {
  const auto expected = PlayPipeline(*MakeHostDevice(), kSteps);
  ASSERT_TRUE(expected.ok());
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto fake = MakeFakeDevice({.seed = seed});
    const auto played = PlayPipeline(*fake, kSteps);
    ASSERT_TRUE(played.ok()) << "seed " << seed;
    ASSERT_EQ(*played, *expected) << "seed " << seed;
    ASSERT_THAT(fake->Reports(), IsEmpty()) << "seed " << seed;
  }
}

TEST(FakeDeviceTest, EachOrderThatIsTakenOutIsFoundWhateverTheSeed) {
  const auto whole = MakeFakeDevice({});
  ASSERT_TRUE(PlayPipeline(*whole, kSteps).ok());
  ASSERT_GT(whole->Orders(), 20);
  for (int64_t ignored = 0; ignored < whole->Orders(); ++ignored) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const auto fake = MakeFakeDevice({.seed = seed, .ignored = ignored});
      (void)PlayPipeline(*fake, kSteps);
      EXPECT_FALSE(fake->Reports().empty()) << "order " << ignored << ", seed " << seed;
    }
  }
}

TEST(FakeDeviceTest, AnOrderThatIsTakenOutGivesWrongBitsForSomeSeed) {
  const auto expected = PlayPipeline(*MakeHostDevice(), kSteps);
  int wrong = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto fake = MakeFakeDevice({.seed = seed, .ignored = 2});
    const auto played = PlayPipeline(*fake, kSteps);
    wrong += !played.ok() || *played != *expected;
  }
  EXPECT_GT(wrong, 0);
}

TEST(FakeDeviceTest, AReportNamesBothAccesses) {
  const auto fake = MakeFakeDevice({});
  const absl::StatusOr<Memory> memory = fake->Allocate(100, "the weights");
  fake->Run(Queue::kSnapshot, Nothing({memory->Part(0, 50)}, {}, "split"));
  fake->Run(Queue::kCompute, Nothing({}, {memory->Part(50, 50)}, "zero"));
  EXPECT_THAT(fake->Reports(), IsEmpty());
  fake->Run(Queue::kCompute, Nothing({}, {memory->Part(40, 20)}, "adamw"));
  EXPECT_THAT(fake->Reports(), ElementsAre("'adamw' on the compute queue writes the weights [40, 60), which 'split' on "
                                           "the snapshot queue reads: no mark orders them"));
}

TEST(FakeDeviceTest, ReservedMemoryTakesMemoryWhenItIsCommitted) {
  const auto fake = MakeFakeDevice({.memory_bytes = kCommitBytes});
  const absl::StatusOr<Memory> memory = fake->Reserve(3 * kCommitBytes, "the moments");
  ASSERT_TRUE(memory.ok());
  const Range first = memory->Part(0, kCommitBytes), second = memory->Part(kCommitBytes, kCommitBytes);
  ASSERT_TRUE(fake->Commit(first).ok());
  EXPECT_EQ(fake->Commit(second).code(), absl::StatusCode::kResourceExhausted);
  fake->Decommit(first);
  ASSERT_TRUE(fake->Commit(second).ok());
  ASSERT_TRUE(RunNow(*fake, Zero(second)).ok());
  EXPECT_THAT(RunNow(*fake, Zero(first)).ToString(), HasSubstr("'zero' uses the moments [0, 262144), which has no"));
}

TEST(FakeDeviceTest, APlaceWhoseOrdersAreTakenOutIsFound) {
  std::vector<std::string> told;
  const auto play = [&](const std::string& ignored) {
    const auto fake = MakeFakeDevice(
        {.ignored_place = ignored, .on_report = [&](const std::string& report) { told.push_back(report); }});
    (void)PlayPipeline(*fake, kSteps);
    return fake->OrderPlaces();
  };
  const std::set<std::string> places = play("");
  EXPECT_THAT(told, IsEmpty());
  EXPECT_GT(places.size(), 3u);
  for (const std::string& place : places) {
    EXPECT_THAT(place, HasSubstr("pipeline_testing.cc:"));
    told.clear();
    play(place);
    EXPECT_FALSE(told.empty()) << place;
  }
}

TEST(FakeDeviceTest, TwoReadsNeedNoOrder) {
  const auto fake = MakeFakeDevice({});
  const absl::StatusOr<Memory> memory = fake->Allocate(100, "m");
  for (const Queue queue : {Queue::kSnapshot, Queue::kCompute, Queue::kExchange}) {
    fake->Run(queue, Nothing({memory->all()}, {}));
  }
  EXPECT_THAT(fake->Reports(), IsEmpty());
}

TEST(FakeDeviceTest, ThatAMarkHasPassedOrdersAsAWaitDoes) {
  const auto fake = MakeFakeDevice({});
  absl::StatusOr<PinnedMemory> pinned = fake->AllocatePinned(8, "the loss");
  fake->Run(Queue::kCompute, Zero(pinned->all()));
  const Mark mark = fake->Record(Queue::kCompute);
  while (!*fake->Passed(mark)) {
  }
  (void)pinned->ForReading(0, 8);
  EXPECT_THAT(fake->Reports(), IsEmpty());
  fake->Run(Queue::kCompute, Zero(pinned->all()));
  (void)pinned->ForReading(0, 8);
  EXPECT_THAT(fake->Reports(),
              ElementsAre("the host reads the loss [0, 8), which 'zero' on the compute queue writes: no "
                          "mark orders them"));
}

TEST(FakeDeviceTest, ACopyReadsItsSourceWhenItRuns) {
  std::set<float> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto fake = MakeFakeDevice({.seed = seed});
    absl::StatusOr<PinnedMemory> from = fake->AllocatePinned(4, "from"), to = fake->AllocatePinned(4, "to");
    float value = 1;
    std::memcpy(from->ForWriting(0, 4).data(), &value, 4);
    fake->Run(Queue::kCompute, Copy(from->all(), to->all()));
    value = 2;
    std::memcpy(from->ForWriting(0, 4).data(), &value, 4);
    ASSERT_TRUE(fake->Await(fake->Record(Queue::kCompute), nullptr).ok());
    std::memcpy(&value, to->ForReading(0, 4).data(), 4);
    seen.insert(value);
    EXPECT_EQ(fake->Reports().size(), 1u);
  }
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

TEST(FakeDeviceTest, FreshMemoryIsFullOfNan) {
  const auto fake = MakeFakeDevice({});
  const absl::StatusOr<Memory> memory = fake->Allocate(5000, "m");
  ASSERT_TRUE(RunNow(*fake, {.name = "look",
                             .reads = {memory->all()},
                             .writes = {},
                             .run =
                                 [](const Addresses& at) {
                                   for (int i = 0; i < 1250; ++i) EXPECT_TRUE(std::isnan(at.Read<float>(0)[i]));
                                   return absl::OkStatus();
                                 }})
                  .ok());
}

TEST(FakeDeviceDeathTest, TheHostCannotTouchTheMemory) {
  const auto fake = MakeFakeDevice({});
  const absl::StatusOr<Memory> memory = fake->Allocate(100, "m");
  float* address = LeakAddress(*fake, *memory);
  EXPECT_DEATH(*static_cast<volatile float*>(address) = 1, "");
  EXPECT_DEATH((void)*static_cast<volatile float*>(address), "");
  const int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  errno = 0;
  EXPECT_EQ(read(file, address, 4), -1);
  EXPECT_EQ(errno, EFAULT);
  close(file);
}

TEST(FakeDeviceDeathTest, AnOperationReachesOnlyWhatItHasNamed) {
  const auto fake = MakeFakeDevice({});
  const absl::StatusOr<Memory> memory = fake->Allocate(1 << 16, "m");
  ASSERT_TRUE(RunNow(*fake, Zero(memory->all())).ok());
  const auto touch = [&](std::vector<Range> reads, std::vector<Range> writes, auto touch_at) {
    (void)RunNow(
        *fake,
        {.name = "stray", .reads = std::move(reads), .writes = std::move(writes), .run = [&](const Addresses& at) {
           touch_at(at);
           return absl::OkStatus();
         }});
  };
  EXPECT_DEATH(
      touch({memory->Part(0, 64)}, {}, [](const Addresses& at) { const_cast<char*>(at.Read<char>(0))[0] = 1; }), "");
  EXPECT_DEATH(touch({}, {memory->Part(0, 64)}, [](const Addresses& at) { at.Write<char>(0)[1 << 15] = 1; }), "");
  EXPECT_DEATH(touch({}, {memory->all()}, [](const Addresses& at) { at.Write<char>(0)[1 << 16] = 1; }), "");
}

TEST(FakeDeviceDeathTest, FreedMemoryFaults) {
  const auto fake = MakeFakeDevice({});
  float* address = nullptr;
  {
    const absl::StatusOr<Memory> memory = fake->Allocate(100, "m");
    address = LeakAddress(*fake, *memory);
  }
  const absl::StatusOr<Memory> other = fake->Allocate(100, "other");
  EXPECT_DEATH(*static_cast<volatile float*>(address) = 1, "");
}

TEST(FakeDeviceTest, EachQueueMayHaveAThreadOfItsOwn) {
  constexpr int kRounds = 200;
  const auto fake = MakeFakeDevice({});
  const absl::StatusOr<Memory> memory = fake->Allocate(sizeof(int), "a counter");
  absl::StatusOr<PinnedMemory> pinned = fake->AllocatePinned(sizeof(int), "its copy");
  ASSERT_TRUE(memory.ok() && pinned.ok());
  fake->Run(Queue::kCompute, Zero(memory->all()));
  std::vector<Mark> counted(kRounds), copied(kRounds);
  std::atomic<int> counts = 0, copies = 0;
  std::thread counter([&] {
    for (int round = 0; round < kRounds; ++round) {
      copies.wait(round - 1);
      if (round > 0) fake->After(Queue::kCompute, copied[static_cast<size_t>(round) - 1]);
      fake->Run(Queue::kCompute,
                {.name = "count", .reads = {}, .writes = {memory->all()}, .run = [](const Addresses& at) {
                   ++*at.Write<int>(0);
                   return absl::OkStatus();
                 }});
      counted[static_cast<size_t>(round)] = fake->Record(Queue::kCompute);
      ++counts;
      counts.notify_one();
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    counts.wait(round);
    fake->After(Queue::kSnapshot, counted[static_cast<size_t>(round)]);
    fake->Run(Queue::kSnapshot, Copy(memory->all(), pinned->all()));
    copied[static_cast<size_t>(round)] = fake->Record(Queue::kSnapshot);
    ++copies;
    copies.notify_one();
    ASSERT_TRUE(fake->Await(copied[static_cast<size_t>(round)], nullptr).ok());
    int value = 0;
    std::memcpy(&value, pinned->ForReading(0, sizeof value).data(), sizeof value);
    EXPECT_EQ(value, round + 1);
  }
  counter.join();
  EXPECT_THAT(fake->Reports(), IsEmpty());
}

TEST(FakeDeviceTest, FreeingWaitsForWhatIsQueued) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto fake = MakeFakeDevice({.seed = seed});
    int ran = 0;
    {
      const absl::StatusOr<Memory> memory = fake->Allocate(100, "m");
      for (const Queue queue : {Queue::kSnapshot, Queue::kCompute, Queue::kExchange}) {
        fake->Run(queue, {.name = "count", .reads = {}, .writes = {}, .run = [&](const Addresses&) {
                            ++ran;
                            return absl::OkStatus();
                          }});
      }
    }
    EXPECT_EQ(ran, 3);
  }
}

TEST(FakeDeviceTest, FreeingWaitsForAHungQueueUntilTheDeviceIsLost) {
  const auto fake = MakeFakeDevice({});
  absl::StatusOr<Memory> memory = fake->Allocate(100, "m");
  fake->Hang(Queue::kExchange);
  fake->Run(Queue::kExchange, Nothing({}, {}));
  std::atomic<bool> freed = false;
  std::thread frees([&] {
    memory = Memory();
    freed = true;
  });
  const Mark never = fake->Record(Queue::kExchange);
  int looks = 0;
  EXPECT_TRUE(absl::IsCancelled(fake->Await(never, [&] { return ++looks < 20; })));
  EXPECT_FALSE(freed);
  fake->LoseDevice("GPU has fallen off the bus");
  frees.join();
  EXPECT_EQ(fake->Look().state, Health::State::kDeviceLost);
  EXPECT_THAT(fake->Await(never, nullptr).ToString(), HasSubstr("fallen off the bus"));
}

TEST(FakeDeviceTest, AHungQueueDoesNotStopTheOthers) {
  const auto fake = MakeFakeDevice({});
  fake->Hang(Queue::kExchange);
  fake->Run(Queue::kExchange, Nothing({}, {}));
  EXPECT_TRUE(RunNow(*fake, Nothing({}, {})).ok());
  EXPECT_EQ(*fake->Passed(fake->Record(Queue::kExchange)), false);
  fake->LoseContext("the test is over");
}

TEST(FakeDeviceTest, MoreThanTheDeviceHasIsRefusedWithTheBytes) {
  const auto fake = MakeFakeDevice({.memory_bytes = 1000});
  absl::StatusOr<Memory> most = fake->Allocate(1000, "the weights");
  ASSERT_TRUE(most.ok());
  const absl::Status refused = fake->Allocate(1, "the first moment").status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(refused.ToString(), HasSubstr("the first moment"));
  EXPECT_EQ(fake->Look().state, Health::State::kFine);
  *most = Memory();
  EXPECT_TRUE(fake->Allocate(1000, "the weights").ok());
}

TEST(FakeDeviceTest, WhatAFailedOperationWouldHaveWrittenIsScribbledOver) {
  const auto fake = MakeFakeDevice({});
  absl::StatusOr<PinnedMemory> pinned = fake->AllocatePinned(4, "out");
  ASSERT_TRUE(RunNow(*fake, Zero(pinned->all())).ok());
  EXPECT_FALSE(RunNow(*fake, {.name = "abort",
                              .reads = {},
                              .writes = {pinned->all()},
                              .run = [](const Addresses&) { return absl::AbortedError("the peer is gone"); }})
                   .ok());
  float value = 0;
  std::memcpy(&value, pinned->ForReading(0, 4).data(), 4);
  EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace rekindle::device
