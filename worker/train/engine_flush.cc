// The last checkpoint of a generation: of the finished job, of a pause, or before all nodes are taken away.
#include <algorithm>
#include <limits>
#include <vector>

#include "common/log.h"
#include "worker/train/engine.h"
#include "worker/train/flush_plan.h"

namespace rekindle::train {
namespace {

constexpr double kFinalCopySeconds = 30;  // Nothing is stepping: the service may take its time.
constexpr double kFinalWriteSeconds = 120;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// What each rank knows, to be combined.
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

// Collective: every rank decides alike.
absl::StatusOr<FlushDecision> Engine::DecideFlush(Generation& generation) {
  const int world_size = generation.communicator.world_size();
  const int64_t total = state_.weights.size();
  FlushFacts mine{.write_rate = checkpointer_->write_rate()};
  if (flush_until_ > 0) mine.seconds_left = std::max(0.0, flush_until_ - parts_.clock());
  for (const auto& range : OwnFiles(generation)) {
    const auto bytes = checkpoint::SizeOfPlanes(total, range, options_.spec.checkpoint.precision, 0);
    mine.plane0_bytes += bytes.plane0;
    mine.plane1_bytes += bytes.plane1;
  }
  std::vector<FlushFacts> all(static_cast<size_t>(world_size));
  absl::Status status = generation.communicator.AllGather(&mine, all.data(), sizeof(mine)).Wait();
  if (!status.ok()) return status;
  const FlushSituation situation = Combine(all, options_.spec.exact && mine.plane1_bytes > 0);
  if (situation.seconds_left == kNoLimit) return FlushDecision{.plan = FlushPlan::kBothPlanes};
  FlushDecision decision = PlanFlush(situation);
  log::Info("flush before the nodes are gone", {{"reason", decision.reason}});
  if (generation.rank == 0) reporter_.Update([&](Report& r) { r.flush = decision.reason; }, true);
  return decision;
}

// Collective: a checkpoint of the present state, waited for. A failure of the store is told, not returned.
absl::Status Engine::CheckpointNow(Generation& generation) {
  // What is under way may take from the seconds that are left.
  if (absl::Status status = AwaitSaves(generation); !status.ok()) return status;
  const auto decision = DecideFlush(generation);
  if (!decision.ok()) return decision.status();
  if (decision->plan == FlushPlan::kNothing) return absl::OkStatus();
  SnapshotInfo info = SnapshotOf(generation);
  info.urgent = true;
  if (decision->plan == FlushPlan::kPlane0 && info.precision == checkpoint::Precision::kExact) {
    info.precision = checkpoint::Precision::kFp16;  // Its plane 0 and that of kExact hold the same.
  }
  checkpointer_->Begin(info, state_);
  checkpointer_->WaitCopied(kFinalCopySeconds);
  if (absl::Status status = GatherNow(generation); !status.ok()) return status;
  if (absl::Status status = AwaitSaves(generation); !status.ok()) return status;
  return comm::Barrier(generation.communicator);  // Nobody leaves before the committer has written, or given up.
}

// Collective: until all that was begun is durable, or has failed. Once the others are done the committer need not wait
// for what is missing.
absl::Status Engine::AwaitSaves(Generation& generation) {
  const uint8_t done = generation.rank == 0 || DrainFinal(FinalSeconds());
  std::vector<uint8_t> all(static_cast<size_t>(generation.communicator.world_size()));
  const absl::Status status = generation.communicator.AllGather(&done, all.data(), 1).Wait();
  if (!status.ok() || generation.rank != 0) return status;
  if (std::find(all.begin(), all.end(), 0) == all.end()) checkpointer_->OthersAreDone();
  DrainFinal(FinalSeconds());
  return absl::OkStatus();
}

// Collective: the shards of the present step, from all ranks to the committer.
absl::Status Engine::GatherNow(Generation& generation) {
  comm::Communicator& communicator = generation.communicator;
  ShardNotes notes = checkpointer_->TakeNotes();
  while (!notes.refs.empty() && notes.step != state_.scalars.step) notes = checkpointer_->TakeNotes();
  const size_t most = static_cast<size_t>(MostShards(communicator.world_size()));
  std::vector<uint8_t> mine;
  for (const checkpoint::ShardRef& ref : notes.refs) {
    const auto record = checkpoint::EncodeShardRef(ref);
    mine.insert(mine.end(), record.begin(), record.end());
  }
  mine.resize(most * checkpoint::kShardRecordBytes);
  std::vector<uint8_t> all(mine.size() * static_cast<size_t>(communicator.world_size()));
  absl::Status status = communicator.AllGather(mine.data(), all.data(), mine.size()).Wait();
  if (!status.ok() || generation.rank != 0) return status;
  ShardNotes everyone{state_.scalars.step, {}};
  for (size_t at = 0; at < all.size(); at += checkpoint::kShardRecordBytes) {
    const auto ref = checkpoint::DecodeShardRef(all.data() + at);
    if (ref.ok() && ref->count > 0) everyone.refs.push_back(*ref);
  }
  checkpointer_->Collect(generation_, everyone);
  return absl::OkStatus();
}

double Engine::FinalSeconds() const {
  if (flush_until_ == 0) return kFinalWriteSeconds;
  return std::clamp(flush_until_ - parts_.clock(), 0.0, kFinalWriteSeconds);
}

}  // namespace rekindle::train
