#include "worker/train/engine/speed_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "worker/train/arithmetic/median.h"

namespace rekindle::train {
namespace {

// If there are more than `kNamedRanks` ranks, only the one whose share changes most is named.
constexpr size_t kNamedRanks = 8;

// Returns a rank's node and its place on that node, such as "n2/0". The number of its process would not help readers.
std::string NameOf(const Membership& membership, size_t rank) {
  const std::string& trainer = membership.members[rank].trainer;
  return trainer.substr(0, trainer.rfind('/'));
}

std::string Milliseconds(double seconds) { return absl::StrFormat("%.3g ms", 1e3 * seconds); }

// Returns the rank whose number of micro-batches grows or shrinks by the largest factor.
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

std::string DescribeRecut(const Membership& membership, const StepRanges& ranges, const StepRanges::Recut& recut,
                          int micro_batches) {
  const size_t most = MostChanged(recut);
  std::vector<double> others;
  for (size_t i = 0; i < recut.before.size(); ++i) {
    if (i != most) others.push_back(ranges.seconds(static_cast<int>(i)));
  }
  const std::string name = NameOf(membership, most);
  const std::string shares = recut.before.size() > kNamedRanks
                                 ? absl::StrCat("the range of ", name, " goes from ", recut.before[most], " to ",
                                                recut.after[most], " of ", micro_batches, " micro-batches")
                                 : absl::StrCat("ranges go from ", absl::StrJoin(recut.before, "/"), " to ",
                                                absl::StrJoin(recut.after, "/"), " micro-batches");
  return absl::StrCat(shares, ": ", name, " takes ", Milliseconds(ranges.seconds(static_cast<int>(most))),
                      " for one, the others ", Milliseconds(Median(std::move(others))), "; the slowest rank computes ",
                      Milliseconds(recut.seconds_after), " a step rather than ", Milliseconds(recut.seconds_before));
}

std::string DescribeStraggler(const Membership& membership, int rank, const Straggling& straggling) {
  if (straggling.cause == Straggling::Cause::kNone) return "";
  const std::string name = NameOf(membership, static_cast<size_t>(rank));
  if (straggling.cause != Straggling::Cause::kNetwork) {
    return absl::StrFormat("%s is a straggler (%s): it takes %s for a micro-batch, %.1f times as long as the others",
                           name, CauseName(straggling.cause), Milliseconds(straggling.seconds),
                           straggling.seconds / straggling.compared);
  }
  const size_t next = (static_cast<size_t>(rank) + 1) % membership.members.size();
  return absl::StrCat(name, " is a straggler (network): of the ", Milliseconds(straggling.compared),
                      " a step that all wait for the exchange, it waits ", Milliseconds(straggling.seconds),
                      " for its link to ", NameOf(membership, next));
}

}  // namespace rekindle::train
