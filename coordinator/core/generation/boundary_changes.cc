#include "coordinator/core/generation/boundary_changes.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "coordinator/core/members/candidates.h"
#include "coordinator/core/members/exchange_choice.h"
#include "coordinator/core/members/last_holders.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/stopping/halting.h"

namespace rekindle::core {
namespace {

// The suspicion that two ranks cannot work together is forgotten after `kWellFactor` times `exclusion_seconds` without
// a failure.
constexpr double kWellFactor = 10;

// Returns whether every member has entered the newest generation and holds its state.
bool AllRunning(const Job& job) {
  for (const v1::Member& member : job.record.membership().members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr || !trainer->reported || trainer->report.phase() != v1::TRAINER_RUNNING) return false;
    if (trainer->report.generation() != job.record.membership().generation()) return false;
    if (!trainer->report.has_state()) return false;
  }
  return true;
}

// Returns whether all steps are made, so that only the final checkpoint is left.
bool AllStepsMade(const Job& job) {
  for (const v1::Member& member : job.record.membership().members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr || trainer->report.step() < SpecOf(job).training().steps()) return false;
  }
  return true;
}

// Describes why some members have to leave.
struct Leaving {
  std::string why;
  // `drains` says that some of the members leave because their nodes drain.
  bool drains = false;
};

std::optional<Leaving> WantLeave(const State& state, const Job& job, int& staying) {
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
        drains ? state.nodes.at(drain.front()).record.drain_reason() : job.giving_up.at(ShortName(member.trainer()));
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
  return Leaving{JoinWords(reasons), !drain.empty()};
}

// Returns the seconds until the first of the members' nodes must be empty, or 0 where none must.
double SecondsToSave(const State& state, const Job& job, double now) {
  double first = kNever;
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = state.nodes.find(member.node());
    if (node != state.nodes.end()) first = std::min(first, node->second.drain_deadline);
  }
  // A drain limit that has passed must not be returned as 0, because 0 means that there is no limit.
  constexpr double kLeast = 0.001;
  return first == kNever ? 0 : std::max(kLeast, first - now);
}

void SaveAtYield(Turn& turn, Job& job, bool nobody_stays) {
  // If the members were told earlier to save a checkpoint, the seconds that they have for it count from then and are
  // not set again.
  if (job.regroup.yield_checkpoint) return;
  job.regroup.yield_checkpoint = true;
  job.regroup.yield_within_seconds = nobody_stays ? SecondsToSave(turn.state, job, turn.now) : 0;
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
  const auto leave = WantLeave(turn.state, job, staying);
  const bool nobody_stays = staying == 0;
  // A job that only has to save its final state lets a new trainer replace one that leaves, but does not grow.
  const bool only_saves = IsFinishing(job) || AllStepsMade(job);
  const auto join = only_saves && !leave ? std::nullopt : WantJoin(turn, job, MaxWorkers(job) - staying);
  if (job.regroup.yielding) {
    if (leave && nobody_stays && !join) SaveAtYield(turn, job, true);
    return;
  }
  if (nobody_stays && !join) {
    // All members have to leave, and nobody joins. A finishing job tries to save its final state already, and can do no
    // more than that.
    if (IsFinishing(job)) return;
    if (leave && reasons.empty() && PausesBeforeSave(turn, job)) return;
  }
  // A member that still copies the state has to get all of it before the membership changes.
  const bool may_change = AllRunning(job);
  if (may_change && leave) reasons.push_back(leave->why);
  if (may_change && join) reasons.push_back(*join);
  const std::string renewal = may_change && !leave && !only_saves ? WhyUseNcclAgain(turn, job) : "";
  if (!renewal.empty()) reasons.push_back(renewal);
  if (reasons.empty()) return;
  job.regroup.yielding = true;
  job.regroup.SetYieldReason(JoinWords(reasons), may_change && leave && leave->drains);
  job.regroup.yield_checkpoint = false;
  if (MustStop(job) || (leave && nobody_stays && !join)) SaveAtYield(turn, job, leave && nobody_stays);
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
    const std::string& removed = job.regroup.forming.removed;
    if (!removed.empty() && NodeOf(removed) == exclusion.node()) job.regroup.forming.removed.clear();
    turn.Save(job);
  }
  if (!job.active || !job.excluded_until.empty()) return;
  const double forget_at = job.formed_at + kWellFactor * turn.state.tunables.exclusion_seconds;
  if (turn.now < forget_at || job.completed_at < job.formed_at) {
    if (turn.now < forget_at) turn.Wake(job, forget_at);
    return;
  }
  suspicions->Clear();
  turn.Save(job);
}

}  // namespace rekindle::core
