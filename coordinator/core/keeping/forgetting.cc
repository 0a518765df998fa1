#include "coordinator/core/keeping/forgetting.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/charges/given_up.h"
#include "coordinator/core/keeping/kept_checkpoints.h"
#include "coordinator/core/record/found_jobs.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr double kDay = 24 * kHour;
// A job or node that is past its limit and still needed is looked at again after this time.
constexpr double kLookAgainSeconds = 60;
// The core looks at least this often for jobs and nodes to forget. A found job of which nothing runs any more is kept
// for this time.
constexpr double kLookSeconds = kHour;

double EndedAt(const Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  return status.finished_at() > 0 ? status.finished_at() : status.submitted_at();
}

// Frees the name of a forgotten job, or gives it to the newest of the other jobs that had it.
void ForgetName(State& state, const std::string& name, const std::string& uid) {
  const auto newest = state.newest.find(name);
  if (newest == state.newest.end() || newest->second != uid) return;
  state.newest.erase(newest);
  for (const std::string& other : state.order) {
    if (state.jobs.at(other).record.job().name() == name) state.newest[name] = other;
  }
}

void Forget(Turn& turn, const std::string& uid, const std::string& why) {
  State& state = turn.state;
  const auto at = state.jobs.find(uid);
  const Job& job = at->second;
  const std::string name = job.record.job().name(), checkpoints = CheckpointsOf(job.record);
  turn.Emit(&job, "job_forgotten",
            absl::StrCat("job ", name, " is forgotten: ", why,
                         checkpoints.empty() ? "" : absl::StrCat("; its checkpoints stay in ", checkpoints)));
  turn.effects.forget_jobs.push_back(uid);
  std::erase(state.order, uid);
  ForgetName(state, name, uid);
  state.unsettled.jobs.erase(uid);
  UnindexGivenUp(state, job.record);
  if (state.surroundings.jobs > 0) --state.surroundings.jobs;
  state.jobs.erase(at);
  turn.Replan();
}

// Returns, for each job that is over, the time of its end and its uid. The jobs that ended first come first.
std::vector<std::pair<double, std::string>> Over(const State& state) {
  std::vector<std::pair<double, std::string>> over;
  for (const std::string& uid : state.order) {
    const Job& job = state.jobs.at(uid);
    if (IsOver(job)) over.emplace_back(EndedAt(job), uid);
  }
  std::stable_sort(over.begin(), over.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return over;
}

// Forgets found jobs, which have no record, when nothing of them has run for a while. What these jobs saved stays in
// their stores.
void ForgetFound(Turn& turn) {
  auto& found = turn.state.found;
  for (auto at = found.begin(); at != found.end();) {
    FoundJob& job = at->second;
    if (!job.running.empty()) {
      job.nothing_since = kNever;
    } else if (job.nothing_since == kNever) {
      job.nothing_since = turn.now;
    }
    if (turn.now < job.nothing_since + kLookSeconds) {
      ++at;
      continue;
    }
    turn.effects.forget_jobs.push_back(at->first);
    at = found.erase(at);
  }
}

double ForgetOldJobs(Turn& turn) {
  State& state = turn.state;
  const double keep_seconds = state.tunables.keep_days * kDay;
  std::vector<std::pair<double, std::string>> over = Over(state);
  auto too_many = static_cast<std::ptrdiff_t>(over.size()) - state.tunables.keep_jobs;
  double again_at = kNever;
  for (const auto& [ended_at, uid] : over) {
    const double until = ended_at + keep_seconds - state.wall_offset;
    const bool is_old = turn.now >= until;
    if (!is_old && too_many <= 0) {
      again_at = std::min(again_at, until);
      break;
    }
    if (!RunsOn(state, uid).empty()) {
      again_at = std::min(again_at, turn.now + kLookAgainSeconds);
      continue;
    }
    --too_many;
    Forget(turn, uid,
           is_old ? absl::StrCat("it has been over for ", std::lround(state.tunables.keep_days), " days")
                  : absl::StrCat(state.tunables.keep_jobs, " jobs that ended later are kept"));
  }
  return again_at;
}

// Returns the nodes that may not be forgotten: members run there, jobs are charged for them, or their machines are
// watched.
std::set<std::string> NeededNodes(const State& state) {
  std::set<std::string> needed;
  for (const auto& [uid, job] : state.jobs) {
    if (IsOver(job)) continue;
    for (const v1::Member& member : job.record.membership().members()) needed.insert(member.node());
    for (const auto& charged : job.record.held_nodes()) needed.insert(charged.node());
    for (const auto& charged : job.record.lost_nodes()) needed.insert(charged.node());
    for (const auto& charged : job.record.given_up_nodes()) needed.insert(charged.node());
  }
  for (const auto& [name, pool] : state.pools) {
    for (const auto& [id, machine] : pool.machines) needed.insert(machine.record.node());
  }
  return needed;
}

bool IsFree(const std::set<std::string>& needed, const std::string& name, const NodeState& node) {
  return node.lost && node.slots.empty() && node.claims.empty() && needed.count(name) == 0;
}

// Removes from the found jobs the trainers that ran on the node, because none of them runs any more.
void EndFoundOn(State& state, const std::string& node) {
  for (auto& [uid, job] : state.found) {
    if (job.running.erase(node) == 0) continue;
    std::erase_if(job.trainers, [&](const auto& trainer) { return NodeOf(trainer.first) == node; });
  }
}

void ForgetNode(Turn& turn, const std::string& name) {
  EndFoundOn(turn.state, name);
  turn.effects.forget_nodes.push_back(name);
  turn.state.unsettled.nodes.erase(name);
  turn.state.start_troubles.erase(name);
  turn.state.nodes.erase(name);
  turn.Replan();
}

double ForgetOldNodes(Turn& turn) {
  State& state = turn.state;
  const std::set<std::string> needed = NeededNodes(state);
  double again_at = kNever;
  std::vector<std::string> old;
  for (const auto& [name, node] : state.nodes) {
    if (!node.lost) continue;
    const double keep = node.ended ? state.tunables.keep_ended_seconds : state.tunables.keep_lost_seconds;
    const double until = node.lost_since + keep;
    if (turn.now < until) {
      again_at = std::min(again_at, until);
    } else if (IsFree(needed, name, node)) {
      old.push_back(name);
    } else {
      again_at = std::min(again_at, turn.now + kLookAgainSeconds);
    }
  }
  for (const std::string& name : old) ForgetNode(turn, name);
  return again_at;
}

}  // namespace

std::string RunsOn(const State& state, const std::string& uid) {
  for (const auto& [name, node] : state.nodes) {
    if (!node.reported || node.lost) continue;
    for (const v1::TrainerProcess& process : node.report.trainers()) {
      if (process.running() && process.job_uid() == uid) return name;
    }
  }
  return "";
}

void ForgetAsAsked(Turn& turn, const std::string& uid) {
  const State& state = turn.state;
  const auto at = state.jobs.find(uid);
  if (const FoundJob* found = FindFound(state, uid); at == state.jobs.end() && found != nullptr) {
    turn.effects.status = absl::FailedPreconditionError(
        absl::StrCat("there is no record of job ", found->record.job().name(),
                     ", which runs: `rekindle adopt` takes it over, so that it can be cancelled"));
    return;
  }
  if (at == state.jobs.end()) {
    turn.effects.status = absl::NotFoundError(absl::StrCat("no job has the uid ", uid, "; `rekindle jobs` lists all"));
    return;
  }
  const std::string name = at->second.record.job().name();
  if (!IsOver(at->second)) {
    turn.effects.status = absl::FailedPreconditionError(
        absl::StrCat("job ", name, " is not over: `rekindle cancel ", name, "` it first"));
    return;
  }
  if (const std::string node = RunsOn(state, uid); !node.empty()) {
    turn.effects.status = absl::FailedPreconditionError(absl::StrCat(
        "job ", name, " is over, but node ", node, " has not stopped its trainer yet: try again in some seconds"));
    return;
  }
  Forget(turn, uid, "its user asked for it");
}

void ForgetOld(Turn& turn) {
  ForgetFound(turn);
  const double jobs_at = ForgetOldJobs(turn), nodes_at = ForgetOldNodes(turn);
  turn.state.forget_at = std::min({jobs_at, nodes_at, turn.now + kLookSeconds});
}

bool HasTooManyOver(const State& state) {
  return state.surroundings.jobs - state.surroundings.active > static_cast<size_t>(state.tunables.keep_jobs);
}

bool ForgetOneNode(Turn& turn) {
  const std::set<std::string> needed = NeededNodes(turn.state);
  const std::string* oldest = nullptr;
  double since = kNever;
  for (const auto& [name, node] : turn.state.nodes) {
    if (node.lost_since >= since || !IsFree(needed, name, node)) continue;
    oldest = &name;
    since = node.lost_since;
  }
  if (oldest == nullptr) return false;
  ++turn.effects.crowded_out;
  ForgetNode(turn, std::string(*oldest));
  return true;
}

}  // namespace rekindle::core
