#include "worker/train/save/blocking_save.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/log/log.h"
#include "common/time/clock.h"

namespace rekindle::train {
namespace {

// The limits for copying and writing are long, because no rank steps meanwhile and the service may take its time.
constexpr double kCopySeconds = 30;
constexpr double kWriteSeconds = 120;
constexpr double kLookSeconds = 0.2;
// A trainer that holds the final state and has to leave waits `kHandOnSeconds` for a save under way. After that another
// trainer can take over the state.
constexpr double kHandOnSeconds = 5;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Holds what one rank knows about the time and the bytes of a save. The facts of all ranks are combined before they
// decide what to save.
struct FlushFacts {
  double seconds_left = kNoLimit;
  double write_rate = 0;
  int64_t plane0_bytes = 0;
  int64_t plane1_bytes = 0;
};

FlushSituation Combine(const std::vector<FlushFacts>& ranks, bool exact_only) {
  FlushSituation situation{.seconds_left = kNoLimit, .exact_only = exact_only};
  for (const FlushFacts& facts : ranks) {
    situation.seconds_left = std::min(situation.seconds_left, facts.seconds_left);
    situation.plane0_bytes = std::max(situation.plane0_bytes, facts.plane0_bytes);
    situation.plane1_bytes = std::max(situation.plane1_bytes, facts.plane1_bytes);
    if (facts.write_rate > 0 && (situation.bytes_per_second == 0 || facts.write_rate < situation.bytes_per_second)) {
      situation.bytes_per_second = facts.write_rate;
    }
  }
  return situation;
}

}  // namespace

BlockingSave::BlockingSave(BlockingSaveParts parts, const BlockingSaveOptions& options)
    : parts_(std::move(parts)), options_(options) {}

absl::Status BlockingSave::Run(SnapshotInfo info, const TrainState& state) {
  // An earlier save that is under way must end before the ranks decide what to save, because it may use up some of the
  // seconds that are left.
  if (absl::Status status = AwaitSaves(); !status.ok()) return status;
  const auto decision = Decide(info, state);
  if (!decision.ok()) return decision.status();
  if (decision->plan == FlushPlan::kNothing) return absl::OkStatus();
  info.urgent = true;
  if (decision->plan == FlushPlan::kPlane0 && info.precision == checkpoint::Precision::kExact) {
    // Plane 0 (checkpoint/format/planes.h) has the same bytes in kExact and in kFp16, which has no plane 1. So plane 0
    // alone is saved as kFp16.
    info.precision = checkpoint::Precision::kFp16;
  }
  parts_.checkpointer.Begin(info, state);
  parts_.checkpointer.WaitCopied(kCopySeconds);
  if (absl::Status status = Gather(state.scalars.step); !status.ok()) return status;
  if (absl::Status status = AwaitSaves(); !status.ok()) return status;
  // No rank leaves before the committer has written the manifest or given up.
  return comm::Barrier(parts_.communicator);
}

// Decides which planes (checkpoint/format/planes.h) to save. The call is collective, and all ranks decide the same.
absl::StatusOr<FlushDecision> BlockingSave::Decide(const SnapshotInfo& info, const TrainState& state) {
  comm::Communicator& communicator = parts_.communicator;
  FlushFacts mine{.write_rate = parts_.checkpointer.write_rate()};
  if (options_.until > 0) mine.seconds_left = std::max(0.0, options_.until - parts_.clock());
  for (const checkpoint::ShardRange& range : info.ranges) {
    const auto bytes = checkpoint::SizeOfPlanes(state.weights.size(), range, info.precision, 0);
    mine.plane0_bytes += bytes.plane0;
    mine.plane1_bytes += bytes.plane1;
  }
  std::vector<FlushFacts> all(static_cast<size_t>(communicator.world_size()));
  absl::Status status = communicator.AllGather(&mine, all.data(), sizeof(mine)).Wait();
  if (!status.ok()) return status;
  const FlushSituation situation = Combine(all, options_.exact && mine.plane1_bytes > 0);
  if (situation.seconds_left == kNoLimit) return FlushDecision{.plan = FlushPlan::kBothPlanes};
  FlushDecision decision = PlanFlush(situation);
  log::Info("flush before the nodes are gone", {{"reason", decision.reason}});
  if (communicator.rank() == 0) parts_.reporter.Update([&](Report& r) { r.flush = decision.reason; }, true);
  return decision;
}

// Waits until every save that was begun is durable or has failed. The call is collective. Once the other ranks are
// done, the committer stops waiting for shards that are missing.
absl::Status BlockingSave::AwaitSaves() {
  comm::Communicator& communicator = parts_.communicator;
  const uint8_t done = communicator.rank() == 0 || Drain(WriteSeconds());
  std::vector<uint8_t> all(static_cast<size_t>(communicator.world_size()));
  const absl::Status status = communicator.AllGather(&done, all.data(), 1).Wait();
  if (!status.ok() || communicator.rank() != 0) return status;
  if (std::find(all.begin(), all.end(), 0) == all.end()) parts_.checkpointer.OthersAreDone();
  Drain(WriteSeconds());
  return absl::OkStatus();
}

// Sends the shard records of `step` from all ranks to the committer. The call is collective.
absl::Status BlockingSave::Gather(int64_t step) {
  comm::Communicator& communicator = parts_.communicator;
  Checkpointer& checkpointer = parts_.checkpointer;
  ShardNotes notes = checkpointer.TakeNotes();
  while (!notes.refs.empty() && notes.step != step) notes = checkpointer.TakeNotes();
  std::vector<uint8_t> mine;
  for (const checkpoint::ShardRef& ref : notes.refs) {
    const auto record = checkpoint::EncodeShardRef(ref);
    mine.insert(mine.end(), record.begin(), record.end());
  }
  mine.resize(static_cast<size_t>(options_.most_shards) * checkpoint::kShardRecordBytes);
  std::vector<uint8_t> all(mine.size() * static_cast<size_t>(communicator.world_size()));
  absl::Status status = communicator.AllGather(mine.data(), all.data(), mine.size()).Wait();
  if (!status.ok() || communicator.rank() != 0) return status;
  ShardNotes everyone{step, {}};
  for (size_t at = 0; at < all.size(); at += checkpoint::kShardRecordBytes) {
    const auto ref = checkpoint::DecodeShardRef(all.data() + at);
    if (ref.ok() && ref->count > 0) everyone.refs.push_back(*ref);
  }
  checkpointer.Collect(communicator.generation(), everyone);
  return absl::OkStatus();
}

// Waits at most `seconds` for all work of the checkpointer that was begun. Returns whether it has ended.
bool BlockingSave::Drain(double seconds) {
  double until = common::SteadySeconds() + seconds;
  bool told = false;
  for (;;) {
    const double left = until - common::SteadySeconds();
    if (parts_.checkpointer.Drain(std::clamp(left, 0.0, options_.is_final ? kLookSeconds : seconds))) return true;
    if (left <= 0) return false;
    const Directive directive = parts_.directives.Latest();
    const bool hands_on = options_.is_final && directive.action == Directive::Action::kYield && !directive.checkpoint;
    if (hands_on && !std::exchange(told, true)) until = std::min(until, common::SteadySeconds() + kHandOnSeconds);
    if (parts_.stopping() || directive.action == Directive::Action::kExit) return false;
  }
}

double BlockingSave::WriteSeconds() const {
  if (options_.until == 0) return kWriteSeconds;
  return std::clamp(options_.until - parts_.clock(), 0.0, kWriteSeconds);
}

}  // namespace rekindle::train
