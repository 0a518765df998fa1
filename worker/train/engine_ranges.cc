// Who computes what, by what the ranks measure, and who is slow.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "worker/train/engine.h"
#include "worker/train/median.h"

namespace rekindle::train {
namespace {

constexpr size_t kNamedRanks = 8;  // Beyond, only the one whose share changes most is told of.

// "n2/0": which process of that slot does not matter to who reads it.
std::string NameOf(const Membership& membership, size_t rank) {
  const std::string& trainer = membership.members[rank].trainer;
  return trainer.substr(0, trainer.rfind('/'));
}

std::string Milliseconds(double seconds) { return absl::StrFormat("%.3g ms", 1e3 * seconds); }

// Whose share changes most for its size.
size_t MostChanged(const StepRanges::Recut& recut) {
  size_t most = 0;
  const auto change = [&](size_t i) {
    const auto [least, greatest] = std::minmax(recut.before[i], recut.after[i]);
    return static_cast<double>(greatest) / least;
  };
  for (size_t i = 1; i < recut.before.size(); ++i) {
    if (change(i) > change(most)) most = i;
  }
  return most;
}

}  // namespace

std::vector<StepRange> Engine::RangesOf(const Membership& membership) {
  std::vector<StepRange> ranges;
  for (const Member& member : membership.members) ranges.push_back({member.begin, member.end});
  return ranges;
}

std::set<int> Engine::AssignedIn(const Generation& generation) const {
  std::set<int> assigned;
  if (generation.membership.finishing || state_.scalars.step >= options_.spec.steps) return assigned;
  if (generation.membership.interrupted && state_.scalars.step == generation.membership.step) {
    const Member& self = generation.membership.members[static_cast<size_t>(generation.rank)];
    assigned.insert(self.holds.begin(), self.holds.end());
    assigned.insert(self.adds.begin(), self.adds.end());
  } else {
    const StepRange& range = generation.ranges.of(generation.rank);
    for (int index = range.begin; index < range.end; ++index) assigned.insert(index);
  }
  return assigned;
}

// Before the step is applied: what it promises next is of the new ranges. Every rank has the same messages.
void Engine::FollowSpeeds(Generation& generation, const StepOutcome& outcome) {
  std::vector<StepCost> costs;
  for (const StepMessage& message : outcome.messages) costs.push_back(message.cost);
  ranges_note_.seconds_saved += std::max(0.0, generation.ranges.seconds_saved());
  if (const auto recut = generation.ranges.Add(costs)) TellRecut(generation, *recut);
  TellStraggling(generation, stragglers_.Add(costs));
  // What the coordinator cuts the next generation's ranges by: once measured, what these are cut by.
  const double measured = generation.ranges.seconds(generation.rank);
  const StepCost& mine = costs[static_cast<size_t>(generation.rank)];
  if (measured > 0) {
    micro_batch_seconds_ = measured;
  } else if (micro_batch_seconds_ == 0 && mine.micro_batches > 0) {
    micro_batch_seconds_ = (mine.data_seconds + mine.compute_seconds) / mine.micro_batches;
  }
  const int size = generation.ranges.of(generation.rank).size();
  parts_.metrics.Update([&](TrainerMetrics& m) { m.micro_batches = size; });
}

void Engine::TellRecut(const Generation& generation, const StepRanges::Recut& recut) {
  const size_t most = MostChanged(recut);
  std::vector<double> others;
  for (size_t i = 0; i < recut.before.size(); ++i) {
    if (i != most) others.push_back(generation.ranges.seconds(static_cast<int>(i)));
  }
  const std::string shares =
      recut.before.size() > kNamedRanks
          ? absl::StrCat("the range of ", NameOf(generation.membership, most), " goes from ", recut.before[most],
                         " to ", recut.after[most], " of ", options_.spec.micro_batches(), " micro-batches")
          : absl::StrCat("ranges go from ", absl::StrJoin(recut.before, "/"), " to ", absl::StrJoin(recut.after, "/"),
                         " micro-batches");
  const double seconds = generation.ranges.seconds(static_cast<int>(most));
  ranges_note_.step = state_.scalars.step + 1;
  ranges_note_.text =
      absl::StrCat(shares, ": ", NameOf(generation.membership, most), " takes ", Milliseconds(seconds),
                   " for one, the others ", Milliseconds(Median(std::move(others))), "; the slowest rank computes ",
                   Milliseconds(recut.seconds_after), " a step rather than ", Milliseconds(recut.seconds_before));
  TellLever(ranges_note_);
}

// At the end, what it was worth beside equal shares.
void Engine::TellTimeSaved() {
  if (ranges_note_.text.empty()) return;
  LeverNote note = ranges_note_;
  note.step = state_.scalars.step;
  note.text = absl::StrCat("ranges by measured speed, beside equal ones: the slowest rank computed ",
                           absl::StrFormat("%.3g s", note.seconds_saved), " less in all");
  TellLever(std::move(note));
}

// Each rank tells of itself; the coordinator makes one event of a change.
void Engine::TellStraggling(const Generation& generation, const Straggling& straggling) {
  const std::string cause = CauseName(straggling.cause);
  if (cause == reporter_.Snapshot().straggler_cause) return;
  std::string text;
  const std::string name = NameOf(generation.membership, static_cast<size_t>(generation.rank));
  if (straggling.cause == Straggling::Cause::kNetwork) {
    const size_t next = (static_cast<size_t>(generation.rank) + 1) % generation.membership.members.size();
    text = absl::StrCat(name, " is a straggler (network): of the ", Milliseconds(straggling.compared),
                        " a step that all wait for the exchange, it waits ", Milliseconds(straggling.seconds),
                        " for its link to ", NameOf(generation.membership, next));
  } else if (straggling.cause != Straggling::Cause::kNone) {
    text = absl::StrFormat("%s is a straggler (%s): it takes %s for a micro-batch, %.1f times as long as the others",
                           name, cause, Milliseconds(straggling.seconds), straggling.seconds / straggling.compared);
  }
  if (!text.empty()) log::Warning(text);
  reporter_.Update(
      [&](Report& r) {
        r.straggler_cause = cause;
        r.straggler = text;
      },
      false);
}

}  // namespace rekindle::train
