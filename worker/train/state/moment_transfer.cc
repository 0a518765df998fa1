#include "worker/train/state/moment_transfer.h"

#include <algorithm>
#include <string>
#include <utility>

namespace rekindle::train {
namespace {

// A message carries at most `kMoveElements` elements of the moments.
constexpr int64_t kMoveElements = 1024 * 1024;

}  // namespace

MomentTransfer::MomentTransfer(device::Device& device, device::Exchange& exchange, const ShardDeal& deal,
                               const PreparedStep& prepared, int moments, int64_t target)
    : device_(device), exchange_(exchange), deal_(deal), prepared_(prepared), moments_(moments), target_(target) {}

absl::Status MomentTransfer::Plan(const ElementSet& held, const TrainState& state) {
  std::vector<Holding> all;
  if (absl::Status status = ShareHoldings(held, state, &all); !status.ok()) return status;
  std::vector<ElementSet> has, wants;
  for (int rank = 0; rank < exchange_.communicator().world_size(); ++rank) {
    Holding& holding = all[static_cast<size_t>(rank)];
    has.push_back(holding.Reaches(target_) ? std::move(holding.held) : ElementSet());
    wants.push_back(HeldBy(deal_.shards, rank));
  }
  if (!PlanMoves(has, wants, &moves_)) {
    return absl::InternalError("the members do not hold all of the optimizer's state of step " +
                               std::to_string(target_));
  }
  reached_ = std::move(has[static_cast<size_t>(deal_.rank)]);
  return absl::OkStatus();
}

// Gathers which moments every rank holds, indexed by rank. The call is collective.
absl::Status MomentTransfer::ShareHoldings(const ElementSet& held, const TrainState& state, std::vector<Holding>* all) {
  const bool has_state = !held.empty();
  std::vector<int64_t> mine{has_state ? state.scalars.step : -1, prepared_.exists() ? 1 : 0};
  for (const ElementRange& range : held) mine.insert(mine.end(), {range.begin, range.end});
  comm::Communicator& communicator = exchange_.communicator();
  const auto ranks = static_cast<size_t>(communicator.world_size());
  const auto length = static_cast<int64_t>(mine.size());
  std::vector<int64_t> lengths(ranks);
  absl::Status status = communicator.AllGather(&length, lengths.data(), sizeof(length)).Wait();
  if (!status.ok()) return status;
  const auto longest = static_cast<size_t>(*std::max_element(lengths.begin(), lengths.end()));
  mine.resize(longest);
  std::vector<int64_t> gathered(longest * ranks);
  status = communicator.AllGather(mine.data(), gathered.data(), longest * sizeof(int64_t)).Wait();
  if (!status.ok()) return status;
  for (size_t rank = 0; rank < ranks; ++rank) {
    const int64_t* told = gathered.data() + rank * longest;
    Holding holding{.step = told[0], .prepared = told[1] != 0, .held = {}};
    for (int64_t i = 2; i + 1 < lengths[rank]; i += 2) holding.held.push_back({told[i], told[i + 1]});
    all->push_back(std::move(holding));
  }
  return absl::OkStatus();
}

absl::Status MomentTransfer::MoveAll(TrainState& state, TrainState& target) {
  for (const Move& move : moves_) {
    absl::Status status;
    if (move.from == deal_.rank) status = Send(move, state);
    if (move.to == deal_.rank) status = Receive(move, target);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MomentTransfer::Send(const Move& move, const TrainState& state) {
  if (state.scalars.step == target_) {
    for (const ElementRange& part : PartsOf(move.range, kMoveElements)) {
      for (const FloatBuffer* moment : MomentsOf(state, moments_)) {
        exchange_.Send(moment->Part(part.begin, part.size()), move.to);
      }
    }
    return exchange_.WaitAll();
  }
  // Computes the moments after the prepared step in separate memory. This rank's own state stays unchanged, because its
  // report has promised that the rank holds the moments before the step.
  FloatBuffer made[2];
  for (int moment = 0; moment < moments_; ++moment) {
    absl::StatusOr<FloatBuffer> buffer =
        FloatBuffer::Zeros(device_, std::min(kMoveElements, move.range.size()), "moments of the next step");
    if (!buffer.ok()) return buffer.status();
    made[moment] = *std::move(buffer);
  }
  for (const ElementRange& part : PartsOf(move.range, kMoveElements)) {
    const auto room = [&](int moment) {
      return moment < moments_ ? made[moment].Part(0, part.size()) : device::Range();
    };
    device_.Run(device::Queue::kCompute,
                prepared_.NewValuesOf(state, part, {.first_moment = room(0), .second_moment = room(1)}));
    for (int moment = 0; moment < moments_; ++moment) exchange_.Send(room(moment), move.to);
    if (absl::Status status = exchange_.WaitAll(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MomentTransfer::Receive(const Move& move, TrainState& state) {
  for (const ElementRange& part : PartsOf(move.range, kMoveElements)) {
    for (const FloatBuffer* moment : MomentsOf(state, moments_)) {
      exchange_.Recv(moment->Part(part.begin, part.size()), move.from);
    }
  }
  return exchange_.WaitAll();
}

}  // namespace rekindle::train
