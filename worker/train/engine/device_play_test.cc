// Plays small jobs on fake devices. In each of them a rank breaks in the middle of a step, another one takes the state
// over from its peers, and at last all are killed and restored from a checkpoint. Whatever the devices run first, they
// find no access that is not ordered, and the weights are those of an undisturbed run on the host. Each order between
// queues, or between a queue and the host, is needed: if it is taken out, the devices find that.
//
// REKINDLE_PLAY_SEEDS plays that many seeds of each kind, and REKINDLE_PLAY_FIRST_SEED names the first one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "common/sync/mutex.h"
#include "worker/device/fake/fake_device.h"
#include "worker/train/testing/engine_test_fixture.h"

namespace rekindle::train {
namespace {

using testing::IsEmpty;

constexpr int kSteps = 10;
constexpr int kBreaksAt = 4, kKilledAt = 8;
// A rank breaks before one of its next `kPoints` collectives, which are those of at least one step and of less than the
// steps that are left.
constexpr int kPoints = 6;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::stoull(given);
}

enum class Kind { kWhole, kSharded, kSixteenBit };

class DevicePlayTest : public EngineTest, public testing::WithParamInterface<Kind> {
 protected:
  // Holds what the devices of one play have seen.
  struct Seen {
    std::vector<std::string> reports;
    std::set<std::string> places;
    v1::JobStatus status;
  };

  static TrainSpec SpecOf(Kind kind) {
    TrainSpec spec = SmallSpec(kSteps);
    spec.checkpoint = {.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 2};
    spec.sharded_state = kind == Kind::kSharded;
    spec.exact = kind != Kind::kSixteenBit;
    spec.sixteen_bit = kind == Kind::kSixteenBit;
    return spec;
  }

  // Plays a job. Every order at the place `ignored` is taken out.
  Seen Play(Kind kind, uint64_t seed, const std::string& ignored = "") {
    Seen seen;
    common::Mutex mutex;
    std::vector<device::FakeDevice*> devices;
    std::atomic<bool> found = false, armed = false, reached = false;
    // Ranks wait at a step until `goes_on` is set.
    std::atomic_flag goes_on;
    std::atomic<int> left = static_cast<int>(seed % kPoints);
    // A sharded state has three blocks, so that it can be cut into shards.
    ballast_ = kind == Kind::kSharded ? 3 * checkpoint::kBlockElements - 1000 : 500;
    min_workers_ = 3;
    make_device_ = [&] {
      const common::MutexLock lock(mutex);
      auto fake = device::MakeFakeDevice(
          {.seed = seed * 100 + devices.size(), .ignored_place = ignored, .on_report = [&](const std::string& report) {
             const common::MutexLock inner(mutex);
             seen.reports.push_back(report);
             found = true;
             goes_on.test_and_set();
             goes_on.notify_all();
           }});
      devices.push_back(fake.get());
      return fake;
    };
    before_collective_ = [&](size_t trainer) {
      if (trainer != 1 || !armed || left-- != 0) return;
      seed % 2 == 0 ? trainers_[1]->Kill() : trainers_[1]->BreakConnections();
    };
    before_backward_ = [&](size_t trainer, int64_t step) {
      if (trainer == 1 && step == kBreaksAt) armed = true;
      if (step != kKilledAt || trainer > 3) return;
      reached = true;
      goes_on.wait(false);
    };
    const auto until = [&](auto is_there) {
      return coordinator_->Await([&](const v1::JobStatus& s) { return found || Ended(s) || is_there(s); });
    };
    Start(SpecOf(kind), 3);
    if (seed % 2 == 0) {
      EXPECT_TRUE(until([&](const v1::JobStatus&) { return left < 0; }));
      Add("late");
    }
    EXPECT_TRUE(until([&](const v1::JobStatus& s) { return reached && s.checkpoint_step() > 0; }));
    if (!found) {
      for (const auto& trainer : trainers_) trainer->Kill();
      for (const char* node : {"a", "b", "c"}) Add(node);
    }
    goes_on.test_and_set();
    goes_on.notify_all();
    EXPECT_TRUE(until([](const v1::JobStatus&) { return false; }));
    seen.status = coordinator_->Status();
    for (device::FakeDevice* device : devices) seen.places.merge(device->OrderPlaces());
    Clear();
    store_.Clear();
    return seen;
  }

  // Returns the digest of the same job on one host device without a disturbance.
  std::string DigestOnHost(Kind kind) {
    spec_ = SpecOf(kind);
    return UndisturbedDigest();
  }
};

TEST_P(DevicePlayTest, NoOrderIsMissingAndTheWeightsAreThoseOfTheHost) {
  const uint64_t first = FromEnvironment("REKINDLE_PLAY_FIRST_SEED", 0),
                 seeds = FromEnvironment("REKINDLE_PLAY_SEEDS", 5);
  std::string digest;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Seen seen = Play(GetParam(), seed);
    ASSERT_THAT(seen.reports, IsEmpty());
    ASSERT_EQ(seen.status.state(), v1::SUCCEEDED) << seen.status.reason();
    if (GetParam() == Kind::kSixteenBit) continue;
    if (digest.empty()) digest = DigestOnHost(GetParam());
    ASSERT_EQ(seen.status.state_digest(), digest);
  }
  std::printf("%d plays, 0 reports\n", static_cast<int>(seeds));
}

TEST_P(DevicePlayTest, EachOrderThatIsTakenOutIsFound) {
  std::set<std::string> places;
  for (uint64_t seed : {0, 1}) places.merge(Play(GetParam(), seed).places);
  EXPECT_GE(places.size(), 7u);
  for (const std::string& place : places) {
    SCOPED_TRACE(place);
    // An order may be needed in some plays only, such as one that a joiner takes part in.
    bool is_found = false;
    for (uint64_t seed = 0; seed < 6 && !is_found; ++seed) is_found = !Play(GetParam(), seed, place).reports.empty();
    EXPECT_TRUE(is_found) << "nothing depends on it";
  }
  std::printf("%d orders, each found\n", static_cast<int>(places.size()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, DevicePlayTest, testing::Values(Kind::kWhole, Kind::kSharded, Kind::kSixteenBit),
                         [](const auto& kind) {
                           return kind.param == Kind::kWhole     ? "Whole"
                                  : kind.param == Kind::kSharded ? "Sharded"
                                                                 : "SixteenBit";
                         });

}  // namespace
}  // namespace rekindle::train
