#include "worker/device/exchange/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "worker/comm/nccl/fake_nccl.h"
#include "worker/comm/testing/in_process.h"
#include "worker/device/exchange/exchange_maker.h"
#include "worker/device/fake/fake_device.h"
#include "worker/device/host/host_device.h"

namespace rekindle::device {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr comm::Deadlines kPatience{.connect_seconds = 60, .progress_seconds = 60};
// A moved piece and a bit, so that operations have more than one piece.
constexpr int64_t kElements = kMostMovedBytes / 4 + 1000;
constexpr int64_t kBytes = kElements * 4;

// Names the device of each rank, "host" or "fake", and what carries the exchange.
struct Setting {
  std::vector<std::string> kinds;
  Transport transport = Transport::kHost;
};

// Holds one rank: its device, its memory and its exchange.
struct Rank {
  Rank(std::unique_ptr<Device> d, comm::Communicator& communicator, Transport transport = Transport::kHost)
      : device(std::move(d)), maker(*device, {.api = &comm::FakeNccl()}) {
    EXPECT_TRUE(maker.Allocate(kBytes).ok());
    values = *device->Allocate(kBytes, "values");
    others = *device->Allocate(kBytes, "others");
    seen = *device->AllocatePinned(kBytes, "what the host sees");
    exchange = *maker.Make(communicator, transport);
  }

  // Queues an operation that fills the values with a number.
  void Fill(float number) {
    device->Run(Queue::kCompute,
                {.name = "fill", .reads = {}, .writes = {values.all()}, .run = [number](const Addresses& at) {
                   std::fill_n(at.Write<float>(0), kElements, number);
                   return absl::OkStatus();
                 }});
  }
  // Returns the first and the last value of a range.
  std::vector<float> Ends(const Range& range) {
    EXPECT_TRUE(RunAndAwait(*device, Queue::kCompute, Copy(range, seen.Part(0, range.bytes))).ok());
    std::vector<float> ends(2);
    std::memcpy(&ends[0], seen.ForReading(0, 4).data(), 4);
    std::memcpy(&ends[1], seen.ForReading(range.bytes - 4, 4).data(), 4);
    return ends;
  }

  std::unique_ptr<Device> device;
  ExchangeMaker maker;
  Memory values, others;
  PinnedMemory seen;
  std::unique_ptr<Exchange> exchange;
};

// Runs `body` on one thread for each rank.
template <typename Body>
void WithRanks(const Setting& setting, const Body& body) {
  const std::vector<std::string>& kinds = setting.kinds;
  auto communicators = comm::MakeInProcess(static_cast<int>(kinds.size()), 1, kPatience);
  std::vector<FakeDevice*> fakes;
  std::vector<std::unique_ptr<Rank>> ranks;
  for (size_t i = 0; i < kinds.size(); ++i) {
    std::unique_ptr<Device> device;
    if (kinds[i] == "fake") {
      std::unique_ptr<FakeDevice> fake = MakeFakeDevice({.seed = i});
      fakes.push_back(fake.get());
      device = std::move(fake);
    } else {
      device = MakeHostDevice();
    }
    ranks.push_back(std::make_unique<Rank>(std::move(device), *communicators[i], setting.transport));
  }
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < kinds.size(); ++i) {
    threads.emplace_back([&, i] { body(static_cast<int>(i), *ranks[i]); });
  }
  threads.clear();
  for (FakeDevice* fake : fakes) EXPECT_THAT(fake->Reports(), IsEmpty());
}

class ExchangeTest : public testing::TestWithParam<Setting> {};

TEST_P(ExchangeTest, SumsAreThoseOfAllRanksAndTheInputStays) {
  WithRanks(GetParam(), [](int rank, Rank& r) {
    r.Fill(static_cast<float>(rank + 1));
    const Exchange::Ticket ticket = r.exchange->AllReduce(r.values.all(), r.others.all(), comm::DataType::kFloat32);
    ASSERT_TRUE(r.exchange->Wait(ticket).ok());
    EXPECT_THAT(r.Ends(r.others.all()), testing::Each(6));
    EXPECT_THAT(r.Ends(r.values.all()), testing::Each(rank + 1));
    // The sum is used and the input changed as soon as the exchange was waited for.
    r.Fill(1);
    r.exchange->AllReduce(r.values.all(), r.values.all(), comm::DataType::kFloat32);
    ASSERT_TRUE(r.exchange->WaitAll().ok());
    EXPECT_THAT(r.Ends(r.values.all()), testing::Each(3));
  });
}

TEST_P(ExchangeTest, SeveralOperationsUnderWayKeepTheirOrder) {
  WithRanks(GetParam(), [](int rank, Rank& r) {
    r.Fill(static_cast<float>(rank + 1));
    const Exchange::Ticket sum =
        r.exchange->AllReduce(r.values.Part(0, 400), r.others.Part(0, 400), comm::DataType::kFloat32);
    const Exchange::Ticket sent = r.exchange->Broadcast(r.values.Part(400, kBytes - 400), 1);
    std::vector<int> gathered(3);
    const Exchange::Ticket told = r.exchange->AllGather(&rank, gathered.data(), sizeof(rank));
    EXPECT_TRUE(r.exchange->Wait(told).ok());
    EXPECT_EQ(gathered, (std::vector<int>{0, 1, 2}));
    EXPECT_TRUE(r.exchange->Wait(sum).ok());
    EXPECT_TRUE(r.exchange->Wait(sent).ok());
    EXPECT_THAT(r.Ends(r.others.Part(0, 400)), testing::Each(6));
    EXPECT_THAT(r.Ends(r.values.Part(400, kBytes - 400)), testing::Each(2));
  });
}

TEST_P(ExchangeTest, OneSendsAndAnotherReceives) {
  WithRanks(GetParam(), [](int rank, Rank& r) {
    r.Fill(static_cast<float>(rank + 1));
    if (rank == 2) r.exchange->Send(r.values.all(), 0);
    if (rank == 0) r.exchange->Recv(r.others.all(), 2);
    EXPECT_TRUE(r.exchange->WaitAll().ok());
    if (rank == 0) {
      EXPECT_THAT(r.Ends(r.others.all()), testing::Each(3));
    }
  });
}

TEST_P(ExchangeTest, AnAbortEndsWhatIsUnderWayAndLeavesTheInput) {
  WithRanks(GetParam(), [](int rank, Rank& r) {
    r.Fill(7);
    if (rank == 1) {
      r.exchange->communicator().Abort(absl::AbortedError("a test ends it"));
      EXPECT_FALSE(r.exchange->Wait(r.exchange->Broadcast(r.values.all(), 0)).ok());
      return;
    }
    r.exchange->AllReduce(r.values.all(), r.others.all(), comm::DataType::kFloat32);
    r.exchange->Broadcast(r.others.all(), 0);
    EXPECT_FALSE(r.exchange->WaitAll().ok());
    EXPECT_THAT(r.Ends(r.values.all()), testing::Each(7));
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, ExchangeTest,
                         testing::Values(Setting{{"host", "host", "host"}}, Setting{{"fake", "fake", "fake"}},
                                         Setting{{"host", "fake", "host"}},
                                         Setting{{"host", "host", "host"}, Transport::kNccl},
                                         Setting{{"fake", "fake", "fake"}, Transport::kNccl}),
                         [](const auto& setting) {
                           std::string name = setting.param.transport == Transport::kNccl ? "Nccl" : "Host";
                           for (const std::string& kind : setting.param.kinds) name += "_" + kind;
                           return name;
                         });

// Plays all kinds of operations between two fake devices, and at last one that is aborted. Orders at the place
// `ignored` have no effect. Returns what the devices report, and adds the places of all orders to `places`.
std::vector<std::string> PlayAll(Transport transport, const std::string& ignored, std::set<std::string>* places) {
  auto communicators = comm::MakeInProcess(2, 1, kPatience);
  std::vector<FakeDevice*> fakes;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::atomic<bool> last = false;
  absl::Notification is_under_way;
  for (size_t i = 0; i < 2; ++i) {
    FakeOptions options{.seed = i, .ignored_place = ignored};
    options.before_run = [&, i](Queue queue, const char*) {
      if (i == 0 && queue != Queue::kCompute && last.exchange(false)) is_under_way.Notify();
    };
    auto fake = MakeFakeDevice(options);
    fakes.push_back(fake.get());
    ranks.push_back(std::make_unique<Rank>(std::move(fake), *communicators[i], transport));
  }
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      Rank& r = *ranks[i];
      r.Fill(1);
      r.exchange->AllReduce(r.values.all(), r.values.all(), comm::DataType::kFloat32);
      (void)r.exchange->WaitAll();
      r.Fill(2);
      r.exchange->Broadcast(r.values.all(), 1);
      (void)r.exchange->WaitAll();
      i == 0 ? r.exchange->Send(r.values.all(), 1) : r.exchange->Recv(r.others.all(), 0);
      // There are more operations than there is memory for NCCL to write to.
      for (size_t j = 0; j <= Landing::kSlots; ++j) {
        r.exchange->AllReduce(r.values.all(), r.others.all(), comm::DataType::kFloat32);
      }
      (void)r.exchange->WaitAll();
      // Rank 1 ends the last operation while it is on the queue of rank 0.
      if (i == 0) {
        last = true;
        r.exchange->AllReduce(r.values.all(), r.others.all(), comm::DataType::kFloat32);
      } else {
        is_under_way.WaitForNotification();
        r.exchange->communicator().Abort(absl::AbortedError("a test ends it"));
      }
      (void)r.exchange->WaitAll();
      r.device->Run(Queue::kCompute, Zero(r.values.all()));
      r.device->Run(Queue::kCompute, Zero(r.others.all()));
    });
  }
  threads.clear();
  std::vector<std::string> reports;
  for (FakeDevice* fake : fakes) {
    for (std::string& report : fake->Reports()) reports.push_back(std::move(report));
    places->merge(fake->OrderPlaces());
  }
  return reports;
}

TEST(ExchangeOrderTest, EachOrderIsNeeded) {
  for (const Transport transport : {Transport::kHost, Transport::kNccl}) {
    std::set<std::string> places;
    ASSERT_THAT(PlayAll(transport, "", &places), IsEmpty());
    EXPECT_EQ(places.size(), 4u);
    for (const std::string& place : std::set<std::string>(places)) {
      EXPECT_THAT(PlayAll(transport, place, &places), testing::Not(IsEmpty())) << place;
    }
  }
}

TEST(StagedExchangeTest, ADeviceThatHangsDoesNotHoldUpAnAbort) {
  auto communicators = comm::MakeInProcess(1, 1, kPatience);
  std::unique_ptr<FakeDevice> fake = MakeFakeDevice({});
  FakeDevice& device = *fake;
  Rank rank(std::move(fake), *communicators[0]);
  device.Hang(Queue::kExchange);
  const Exchange::Ticket ticket = rank.exchange->Broadcast(rank.values.all(), 0);
  communicators[0]->Abort(absl::AbortedError("enough"));
  EXPECT_FALSE(rank.exchange->Wait(ticket).ok());
  // A queue that hangs would hold up the end of the memory for ever.
  device.LoseContext("the test is over");
}

}  // namespace
}  // namespace rekindle::device
