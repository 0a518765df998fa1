#include "coordinator/core/planned.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "coordinator/core/candidates.h"
#include "coordinator/core/halting.h"
#include "coordinator/core/last_holders.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr double kWellFactor = 10;  // Times exclusion_seconds without a failure: suspicions are forgotten.

// Every member has entered the newest generation and holds its state.
bool AllRunning(const Job& job) {
  for (const v1::Member& member : job.record.membership().members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr || !trainer->reported || trainer->report.phase() != v1::TRAINER_RUNNING) return false;
    if (trainer->report.generation() != job.record.membership().generation()) return false;
    if (!trainer->report.has_state()) return false;
  }
  return true;
}

// What is left is the final checkpoint.
bool AllStepsMade(const Job& job) {
  for (const v1::Member& member : job.record.membership().members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr || trainer->report.step() < SpecOf(job).training().steps()) return false;
  }
  return true;
}

std::optional<std::string> WantLeave(const State& state, const Job& job, int& staying) {
  std::vector<std::string> drain, give;
  std::string why_drain, why_give;
  for (const v1::Member& member : job.record.membership().members()) {
    if (!MustLeave(state, job, member.trainer())) {
      ++staying;
      continue;
    }
    const bool drains = IsDraining(state, member.node());
    std::vector<std::string>& nodes = drains ? drain : give;
    if (std::find(nodes.begin(), nodes.end(), member.node()) == nodes.end()) nodes.push_back(member.node());
    (drains ? why_drain : why_give) =
        drains ? state.nodes.at(drain.front()).record.drain_reason() : job.giving.at(ShortName(member.trainer()));
  }
  std::vector<std::string> reasons;
  const auto add = [&](const std::vector<std::string>& nodes, const char* one, const char* more,
                       const std::string& why) {
    const bool single = nodes.size() == 1;
    if (nodes.empty()) return;
    reasons.push_back(absl::StrCat(single ? "node " : "nodes ", JoinWords(nodes), single ? one : more, why));
  };
  add(drain, " drains: ", " drain: ", why_drain);
  add(give, " is given up: ", " are given up: ", why_give);
  if (reasons.empty()) return std::nullopt;
  return JoinWords(reasons);
}

// Until the first of the members' nodes must be empty; 0: none must.
double SecondsToSave(const State& state, const Job& job, double now) {
  double first = kNever;
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = state.nodes.find(member.node());
    if (node != state.nodes.end()) first = std::min(first, node->second.drain_deadline);
  }
  constexpr double kLeast = 0.001;  // Too late is not the same as no limit.
  return first == kNever ? 0 : std::max(kLeast, first - now);
}

void SaveAtYield(Turn& turn, Job& job, bool nobody_stays) {
  if (job.yield_checkpoint) return;  // Told already: seconds count from then.
  job.yield_checkpoint = true;
  job.yield_within_seconds = nobody_stays ? SecondsToSave(turn.state, job, turn.now) : 0;
}

std::optional<std::string> WantJoin(Turn& turn, Job& job, int room) {
  std::vector<std::string> names;
  for (const auto& [id, trainer] : job.trainers) {
    if (static_cast<int>(names.size()) >= room) break;
    if (job.excluded_until.count(trainer.report.node())) continue;
    if (JoinsNow(turn, job, trainer)) names.push_back(ShortName(id));
  }
  if (names.empty()) return std::nullopt;
  return absl::StrCat(JoinWords(names), names.size() == 1 ? " joins" : " join");
}

}  // namespace

void ConsiderChange(Turn& turn, Job& job) {
  std::vector<std::string> reasons;
  if (MustStop(job)) reasons.push_back(StopReason(job));
  int staying = 0;
  const auto drain = WantLeave(turn.state, job, staying);
  const bool nobody_stays = staying == 0;
  const bool only_saves = IsFinishing(job) || AllStepsMade(job);  // Then somebody may take another's place, no more.
  const auto join = only_saves && !drain ? std::nullopt : WantJoin(turn, job, MaxWorkers(job) - staying);
  if (job.yielding) {
    if (drain && nobody_stays && !join) SaveAtYield(turn, job, true);
    return;
  }
  if (nobody_stays && !join) {
    if (IsFinishing(job)) return;  // The try under way is all that can be done.
    if (drain && reasons.empty() && PausesBeforeSave(turn, job)) return;
  }
  if (AllRunning(job)) {  // Else a joiner still copies: let it have the state first.
    if (drain) reasons.push_back(*drain);
    if (join) reasons.push_back(*join);
  }
  if (reasons.empty()) return;
  job.yielding = true;
  job.yield_reason = JoinWords(reasons);
  job.yield_checkpoint = false;
  if (MustStop(job) || (drain && nobody_stays && !join)) SaveAtYield(turn, job, drain && nobody_stays);
}

void EaseSuspicions(Turn& turn, Job& job) {
  v1::Suspicions* suspicions = job.record.mutable_suspicions();
  if (suspicions->pairs_size() == 0 && suspicions->exclusions_size() == 0) return;
  for (auto& exclusion : *suspicions->mutable_exclusions()) {
    const auto until = job.excluded_until.find(exclusion.node());
    if (until == job.excluded_until.end()) continue;
    exclusion.set_seconds_left(std::max(0.0, until->second - turn.now));
    if (turn.now < until->second) {
      turn.Wake(job, until->second);
      continue;
    }
    turn.Emit(&job, "exclusion_ended", absl::StrCat("node ", exclusion.node(), " may join again"), exclusion.node());
    job.excluded_until.erase(until);
    const std::string& removed = job.forming.removed;
    if (!removed.empty() && NodeOf(removed) == exclusion.node()) job.forming.removed.clear();
    job.must_save = true;
  }
  if (!job.active || !job.excluded_until.empty()) return;
  const double forget_at = job.formed_at + kWellFactor * turn.state.tunables.exclusion_seconds;
  if (turn.now < forget_at || job.completed_at < job.formed_at) {
    if (turn.now < forget_at) turn.Wake(job, forget_at);
    return;
  }
  suspicions->Clear();
  job.must_save = true;
}

}  // namespace rekindle::core
