#include "coordinator/core/formation/ranges.h"

#include <algorithm>
#include <cmath>

#include "common/agreed/shares.h"

namespace rekindle::core {

std::vector<double> FillUnknownSeconds(std::vector<double> micro_batch_seconds) {
  const auto known = [](double s) { return std::isfinite(s) && s > 0; };
  double sum = 0;
  int count = 0;
  for (double s : micro_batch_seconds) {
    if (!known(s)) continue;
    sum += s;
    ++count;
  }
  const double mean = count > 0 ? sum / count : 1.0;
  for (double& s : micro_batch_seconds) {
    if (!known(s)) s = mean;
  }
  return micro_batch_seconds;
}

std::vector<std::pair<int, int>> CutRanges(const std::vector<double>& seconds, int micro_batches) {
  std::vector<std::pair<int, int>> ranges;
  int begin = 0;
  for (const int share : common::CutShares(seconds, micro_batches)) {
    ranges.emplace_back(begin, begin + share);
    begin += share;
  }
  return ranges;
}

int MicroBatchesToSave(int micro_batches, int members) { return std::max(micro_batches, members); }

void MakeDisjoint(std::vector<Holding>& members, int micro_batches) {
  std::vector<bool> taken(micro_batches, false);
  for (Holding& member : members) {
    std::vector<int> kept;
    for (int micro_batch : member.holds) {
      if (micro_batch < 0 || micro_batch >= micro_batches || taken[micro_batch]) continue;
      taken[micro_batch] = true;
      kept.push_back(micro_batch);
    }
    std::sort(kept.begin(), kept.end());
    member.computed = std::clamp(member.computed, 0, static_cast<int>(kept.size()));
    member.holds = std::move(kept);
  }
}

std::vector<std::vector<int>> DealAdds(const std::vector<Holding>& members, int micro_batches) {
  std::vector<bool> held(micro_batches, false);
  std::vector<double> finish(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    for (int micro_batch : members[i].holds) held[micro_batch] = true;
    finish[i] = (static_cast<double>(members[i].holds.size()) - members[i].computed) * members[i].seconds;
  }
  std::vector<std::vector<int>> adds(members.size());
  for (int micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
    if (held[micro_batch]) continue;
    size_t first = 0;
    for (size_t i = 1; i < members.size(); ++i) {
      if (finish[i] + members[i].seconds < finish[first] + members[first].seconds - 1e-12) first = i;
    }
    adds[first].push_back(micro_batch);
    finish[first] += members[first].seconds;
  }
  return adds;
}

}  // namespace rekindle::core
