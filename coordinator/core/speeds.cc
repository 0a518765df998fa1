#include "coordinator/core/speeds.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/first_epoch.h"
#include "coordinator/scheduler/level.h"

namespace rekindle::core {
namespace {

constexpr int kWarmSteps = 3;      // Of a generation: the first ones are slower than those that follow.
constexpr int kSettledSteps = 10;  // A step's time is a mean over so many.
constexpr int kEnough = 10;        // Reports: one alone decides nothing.
constexpr double kMeanSeconds = 300;
constexpr double kOutlier = 2;                     // No report counts as further from the mean than by this factor.
constexpr double kSlowest = 1e-3, kFastest = 1e3;  // As a fleet file may say.
constexpr int kMaxKinds = 100;                     // Names of nodes' pools come over the network.

// Machines of one instance type are alike wherever they are.
const std::string& KindOf(const PoolPrices* pool, const std::string& name, const std::string& device) {
  if (pool == nullptr) return device;
  return pool->instance_type.empty() ? name : pool->instance_type;
}

// 0: the fleet file has no such machines any more.
double StatedOf(const PriceBook& book, const std::string& kind) {
  for (const auto& [name, pool] : book.pools) {
    if (KindOf(&pool, name, "") == kind) return pool.speed;
  }
  return kind.empty() || kind == kCpu || kind == kGpu ? 1 : 0;
}

const v1::JobRecord::MeasuredSpeed* FindMeasured(const Job& job, const std::string& kind) {
  for (const auto& speed : job.record.speeds()) {
    if (speed.kind() == kind) return &speed;
  }
  return nullptr;
}

bool AreAlike(const PriceBook& book, const Job& job) { return !book.speeds_stated && job.record.speeds_size() < 2; }

// Samples a second of speed 1: what was measured against what was stated, the geometric mean, of the machines that the
// fleet still has, else of all. 1: nothing was measured.
double Scale(const PriceBook& book, const Job& job) {
  double sum = 0, sum_of_all = 0;
  int kinds = 0;
  for (const auto& speed : job.record.speeds()) {
    const double stated = StatedOf(book, speed.kind());
    sum_of_all += std::log(speed.samples_per_second());
    if (stated <= 0) continue;
    sum += std::log(speed.samples_per_second() / stated);
    ++kinds;
  }
  return kinds > 0 ? std::exp(sum / kinds) : std::exp(sum_of_all / std::max(1, job.record.speeds_size()));
}

// No job is to move for what measuring sways by.
bool AboutEqual(double a, double b) { return std::max(a, b) < scheduler::kAsFast * std::min(a, b); }

// Of all so far, of the last minutes in the long run.
double MeanOf(double now, double samples, SpeedMean& mean) {
  if (mean.count >= kEnough) samples = std::clamp(samples, mean.samples / kOutlier, mean.samples * kOutlier);
  const double newest = mean.count == 0 ? 1 : std::min(1.0, (now - mean.at) / kMeanSeconds);
  mean.count = std::min(mean.count + 1, 1'000'000);
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

// Of the members of the newest membership, together.
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

}  // namespace

void TakeSpeed(Turn& turn, Job& job, const v1::TrainerReport& report) {
  const double seconds = report.micro_batch_seconds();
  if (seconds <= 0 || report.completed_step() < job.formed_step + kWarmSteps) return;
  const auto node = turn.state.nodes.find(report.node());
  if (node == turn.state.nodes.end()) return;
  const PriceBook& book = turn.state.prices;
  const std::string& pool = node->second.record.pool();
  const std::string& kind = KindOf(FindPool(book, pool), pool, node->second.report.device().kind());
  const double samples = SpecOf(job).training().micro_batch() / seconds;
  const v1::JobRecord::MeasuredSpeed* known = FindMeasured(job, kind);
  if (samples <= 0 || (known == nullptr && job.speeds.size() >= kMaxKinds && job.speeds.count(kind) == 0)) return;
  const auto [at, is_new] = job.speeds.try_emplace(kind);
  if (is_new && known != nullptr) {  // From before a restart.
    at->second = {.samples = known->samples_per_second(), .at = turn.now, .count = 100 * kEnough};
  }
  const double mean = MeanOf(turn.now, samples, at->second);
  if (at->second.count < kEnough || (known != nullptr && AboutEqual(mean, known->samples_per_second()))) return;
  const double expected = known != nullptr ? known->samples_per_second() : Scale(book, job) * StatedOf(book, kind);
  auto* speeds = job.record.mutable_speeds();
  auto entry = std::find_if(speeds->begin(), speeds->end(), [&](const auto& speed) { return speed.kind() == kind; });
  if (entry == speeds->end()) {
    speeds->Add()->set_kind(kind);
    entry = speeds->end() - 1;
  }
  entry->set_samples_per_second(mean);
  if (speeds->size() == 1 && known == nullptr) {  // Until now it was in seconds of speed 1.
    job.record.set_step_samples(job.record.step_samples() * Scale(book, job));
  }
  job.must_save = true;
  turn.state.plan_due = true;
  if (speeds->size() < 2 || AboutEqual(mean, expected)) return;
  turn.Emit(&job, "speed_measured",
            absl::StrFormat("a worker on %s computes %.3g samples a second, %s", kind, mean, Compare(job, *entry)));
}

std::vector<double> SpeedsOf(const State& state, const Job& job,
                             const std::vector<std::pair<std::string, std::string>>& places) {
  std::vector<double> speeds;
  if (AreAlike(state.prices, job)) return speeds;
  const double scale = Scale(state.prices, job);
  for (const auto& [pool, device] : places) {
    const PoolPrices* known = FindPool(state.prices, pool);
    const double stated = known == nullptr ? 1 : known->speed;
    const v1::JobRecord::MeasuredSpeed* measured = FindMeasured(job, KindOf(known, pool, device));
    const double speed = measured == nullptr ? stated : measured->samples_per_second() / scale;
    speeds.push_back(AboutEqual(speed, stated) ? stated : std::clamp(speed, kSlowest, kFastest));
  }
  return speeds;
}

void TakeStepWork(const State& state, Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  const int steps = status.step() - job.formed_step;  // By these members.
  const bool first = job.record.step_samples() <= 0;
  if (!job.active || status.step_seconds() <= 0 || steps < (first ? 1 : kSettledSteps)) return;
  job.record.set_step_samples(status.step_seconds() * MembersSpeed(state, job) * Scale(state.prices, job));
}

double StepHours(const State& state, const Job& job) {
  if (job.record.step_samples() <= 0) return SpecOf(job).estimate().step_seconds() / kHour;
  return job.record.step_samples() / Scale(state.prices, job) / MaxWorkers(job) / kHour;
}

}  // namespace rekindle::core
