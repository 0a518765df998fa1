#include "coordinator/core/speeds.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace rekindle::core {
namespace {

constexpr int kWarmSteps = 3;  // Of a generation: the first ones are slower than those that follow.
constexpr double kMeanSeconds = 300;
constexpr double kSameSpeed = 1.1;  // What is measured sways by less, and no job is to move for that.
constexpr int kMaxKinds = 100;      // Names of nodes' pools come over the network.

// Machines of one instance type are alike wherever they are.
const std::string& KindOf(const PoolPrices* pool, const std::string& name, const std::string& device) {
  if (pool == nullptr) return device;
  return pool->instance_type.empty() ? name : pool->instance_type;
}

double StatedOf(const PriceBook& book, const std::string& kind) {
  for (const auto& [name, pool] : book.pools) {
    if (KindOf(&pool, name, "") == kind) return pool.speed;
  }
  return 1;
}

double MeasuredOf(const Job& job, const std::string& kind) {
  for (const auto& speed : job.record.speeds()) {
    if (speed.kind() == kind) return speed.samples_per_second();
  }
  return 0;
}

bool AreAlike(const PriceBook& book, const Job& job) { return !book.speeds_stated && job.record.speeds_size() < 2; }

// Samples a second of speed 1: what was measured, on average, against what was stated.
double Scale(const PriceBook& book, const Job& job) {
  double sum = 0;
  for (const auto& speed : job.record.speeds()) sum += speed.samples_per_second() / StatedOf(book, speed.kind());
  return sum / std::max(1, job.record.speeds_size());
}

bool AboutEqual(double a, double b) { return std::max(a, b) < kSameSpeed * std::min(a, b); }

// Of all so far, of the last minutes in the long run.
double MeanOf(double now, double samples, SpeedMean& mean) {
  const double newest = mean.count == 0 ? 1 : std::min(1.0, (now - mean.at) / kMeanSeconds);
  ++mean.count;
  mean.at = now;
  mean.samples += std::max(newest, 1.0 / mean.count) * (samples - mean.samples);
  return mean.samples;
}

// "2.0 times as many as on b"
std::string Compare(const Job& job, const v1::JobRecord::MeasuredSpeed& of) {
  std::vector<std::string> words;
  for (const auto& other : job.record.speeds()) {
    if (other.kind() == of.kind()) continue;
    words.push_back(absl::StrFormat("%.1f times as many as on %s", of.samples_per_second() / other.samples_per_second(),
                                    other.kind()));
  }
  return absl::StrJoin(words, ", ");
}

}  // namespace

void TakeSpeed(Turn& turn, Job& job, const v1::TrainerReport& report) {
  const double seconds = report.micro_batch_seconds();
  if (seconds <= 0 || report.completed_step() < job.formed_step + kWarmSteps) return;
  const auto node = turn.state.nodes.find(report.node());
  if (node == turn.state.nodes.end()) return;
  const std::string& pool = node->second.record.pool();
  const std::string& kind = KindOf(FindPool(turn.state.prices, pool), pool, node->second.report.device().kind());
  const double samples = SpecOf(job).training().micro_batch() / seconds;
  if (!std::isfinite(samples) || samples <= 0) return;
  const double mean = MeanOf(turn.now, samples, job.speeds[kind]);
  auto* known = job.record.mutable_speeds();
  double expected = Scale(turn.state.prices, job) * StatedOf(turn.state.prices, kind);
  auto at = std::find_if(known->begin(), known->end(), [&](const auto& speed) { return speed.kind() == kind; });
  if (at == known->end()) {
    if (known->size() >= kMaxKinds) return;
    known->Add()->set_kind(kind);
    at = known->end() - 1;
  } else if (expected = at->samples_per_second(); AboutEqual(mean, expected)) {
    return;
  }
  at->set_samples_per_second(mean);
  job.must_save = true;
  turn.state.plan_due = true;
  if (known->size() < 2 || AboutEqual(mean, expected)) return;
  turn.Emit(&job, "speed_measured",
            absl::StrFormat("a worker on %s computes %.3g samples a second, %s", kind, mean, Compare(job, *at)));
}

std::vector<double> SpeedsOf(const State& state, const Job& job,
                             const std::vector<std::pair<std::string, std::string>>& places) {
  std::vector<double> speeds;
  if (AreAlike(state.prices, job)) return speeds;
  const double scale = Scale(state.prices, job);
  for (const auto& [pool, device] : places) {
    const PoolPrices* known = FindPool(state.prices, pool);
    const double stated = known == nullptr ? 1 : known->speed;
    const double measured = MeasuredOf(job, KindOf(known, pool, device)) / scale;
    speeds.push_back(measured > 0 && !AboutEqual(measured, stated) ? measured : stated);
  }
  return speeds;
}

double MembersSpeed(const State& state, const Job& job) {
  const v1::Membership& membership = job.record.membership();
  if (AreAlike(state.prices, job)) return membership.members_size();
  std::vector<std::pair<std::string, std::string>> places;
  for (const v1::Member& member : membership.members()) {
    const auto node = state.nodes.find(member.node());
    places.emplace_back();
    if (node == state.nodes.end()) continue;
    places.back() = {node->second.record.pool(), node->second.report.device().kind()};
  }
  double sum = 0;
  for (const double speed : SpeedsOf(state, job, places)) sum += speed;
  return sum;
}

}  // namespace rekindle::core
