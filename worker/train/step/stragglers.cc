#include "worker/train/step/stragglers.h"

#include <algorithm>

#include "worker/train/arithmetic/median.h"

namespace rekindle::train {
namespace {

using Cause = Straggling::Cause;

// The costs of the newest `kWindow` steps are remembered.
constexpr size_t kWindow = 16;
// There is no verdict on a rank before `kLeast` steps.
constexpr size_t kLeast = 8;
// A verdict is taken back after `kCalm` steps in a row without a reason for it, because speeds on a busy machine vary.
constexpr int kCalm = 48;
// A difference of less than `kLeastSeconds` a step is noise.
constexpr double kLeastSeconds = 1e-3;
// The limits of stragglers come in pairs: a rank becomes a straggler at the first value, and stops being one below the
// second. `kSlower` is the ratio of the rank's micro-batch time to that of the others.
constexpr double kSlower[] = {1.5, 1.25};
// `kExchange` is the share of the step that the exchange takes.
constexpr double kExchange[] = {0.3, 0.2};
// `kBlocked` is the share of the exchange in which the rank's sending is blocked.
constexpr double kBlocked[] = {0.3, 0.2};
// `kBlockedLonger` is the ratio of the rank's blocked time to that of the others.
constexpr double kBlockedLonger[] = {2.0, 1.5};

double Speed(const StepCost& cost) {
  return cost.micro_batches > 0 ? (cost.data_seconds + cost.compute_seconds) / cost.micro_batches : 0;
}

double Data(const StepCost& cost) { return cost.micro_batches > 0 ? cost.data_seconds / cost.micro_batches : 0; }

// Returns the median of all ranks' values except that of `rank`, or 0 if there is no other rank.
double MedianOfOthers(std::vector<double> values, size_t rank) {
  values.erase(values.begin() + static_cast<long>(rank));
  return values.empty() ? 0 : Median(std::move(values));
}

}  // namespace

const char* CauseName(Cause cause) {
  switch (cause) {
    case Cause::kData:
      return "data";
    case Cause::kCompute:
      return "compute";
    case Cause::kNetwork:
      return "network";
    case Cause::kNone:
      break;
  }
  return "";
}

Stragglers::Stragglers(int rank, const Straggling& verdict) : rank_(static_cast<size_t>(rank)), verdict_(verdict) {}

const Straggling& Stragglers::Add(std::span<const StepCost> costs) {
  newest_.emplace_back(costs.begin(), costs.end());
  if (newest_.size() > kWindow) newest_.pop_front();
  if (newest_.size() < kLeast && costs.size() > 1) return verdict_;
  Straggling now = JudgeSpeed();
  if (now.cause == Cause::kNone) now = JudgeNetwork();
  calm_ = now.cause == Cause::kNone ? calm_ + 1 : 0;
  if (now.cause != Cause::kNone || calm_ >= kCalm) verdict_ = now;
  return verdict_;
}

std::vector<double> Stragglers::Medians(const Figure& figure) const {
  std::vector<double> medians;
  for (size_t rank = 0; rank < newest_.front().size(); ++rank) {
    std::vector<double> values;
    for (const std::vector<StepCost>& step : newest_) values.push_back(figure(step[rank]));
    medians.push_back(Median(std::move(values)));
  }
  return medians;
}

Straggling Stragglers::JudgeSpeed() const {
  const std::vector<double> speeds = Medians(Speed);
  const double mine = speeds[rank_], others = MedianOfOthers(speeds, rank_);
  const bool known = verdict_.cause == Cause::kData || verdict_.cause == Cause::kCompute;
  const double lost = (mine - others) * Medians([](const StepCost& c) { return c.micro_batches; })[rank_];
  if (others <= 0 || mine < kSlower[known] * others || lost < kLeastSeconds) return {};
  const std::vector<double> data = Medians(Data);
  const bool by_data = data[rank_] - MedianOfOthers(data, rank_) > (mine - others) / 2;
  return {by_data ? Cause::kData : Cause::kCompute, mine, others};
}

Straggling Stragglers::JudgeNetwork() const {
  const bool known = verdict_.cause == Cause::kNetwork;
  // Only the part of the exchange after the last rank has computed is the network's fault. A rank that has computed
  // earlier may be blocked because it waits for a slower rank, so this wait is subtracted from its blocked time.
  std::vector<double> exchanges;
  std::vector<std::vector<double>> blocked(newest_.front().size());
  for (const std::vector<StepCost>& step : newest_) {
    const auto least = std::min_element(step.begin(), step.end(), [](const StepCost& a, const StepCost& b) {
      return a.exchange_seconds < b.exchange_seconds;
    });
    exchanges.push_back(least->exchange_seconds);
    for (size_t i = 0; i < step.size(); ++i) {
      const double waited = step[i].exchange_seconds - least->exchange_seconds;
      blocked[i].push_back(std::max(0.0, step[i].blocked_seconds - waited));
    }
  }
  const double exchange = Median(std::move(exchanges));
  const double step = Medians([](const StepCost& c) { return c.data_seconds + c.compute_seconds; })[rank_] +
                      Medians([](const StepCost& c) { return c.exchange_seconds; })[rank_];
  std::vector<double> medians;
  for (std::vector<double>& of_rank : blocked) medians.push_back(Median(std::move(of_rank)));
  const double mine = medians[rank_];
  if (exchange < kLeastSeconds || exchange < kExchange[known] * step || mine < kBlocked[known] * exchange ||
      mine < kBlockedLonger[known] * MedianOfOthers(medians, rank_)) {
    return {};
  }
  const std::vector<double> speeds = Medians(Speed);
  // A rank that computes slowly also sends slowly. If there is such a rank, others may wait for that rank and not for
  // the network.
  for (size_t i = 0; i < speeds.size(); ++i) {
    if (speeds[i] >= kSlower[0] * MedianOfOthers(speeds, i)) return {};
  }
  return {Cause::kNetwork, mine, exchange};
}

}  // namespace rekindle::train
