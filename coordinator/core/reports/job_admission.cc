#include "coordinator/core/reports/job_admission.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/account/costs.h"
#include "coordinator/core/charges/absence.h"
#include "coordinator/core/charges/charged_nodes.h"
#include "coordinator/core/charges/given_up.h"
#include "coordinator/core/members/durable.h"
#include "coordinator/core/members/faults.h"
#include "coordinator/core/record/decided.h"
#include "coordinator/core/state/fault_kind.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/stopping/halting.h"
#include "coordinator/core/taken_over/set_aside.h"

namespace rekindle::core {
namespace {

// Fills in the decisions that the record of an earlier release shows only in its status.
void ReadStatus(Job& job) {
  if (job.record.has_decided()) return;
  FillDecided(&job.record);
  const std::string& shown = job.record.job().status().reason();
  if (!MustStop(job) || !absl::StartsWith(shown, StopReason(job))) return;
  job.record.mutable_decided()->set_stopped_for(StopReason(job));
}

}  // namespace

bool IsNameTaken(const State& state, const std::string& name) {
  const auto newest = state.newest.find(name);
  return newest != state.newest.end() && !IsOver(state.jobs.at(newest->second));
}

Job& AddJob(State& state, const v1::JobRecord& record) {
  const std::string& uid = record.job().uid();
  Job& job = state.jobs[uid];
  job.record = record;
  ReadStatus(job);
  IndexGivenUp(state, record);
  state.order.push_back(uid);
  // A job that had failed and was resumed may be older than a job of its name that is over, and has the name.
  if (!IsOver(job) || !IsNameTaken(state, record.job().name())) state.newest[record.job().name()] = uid;
  return job;
}

Job& AddFound(Turn& turn, const v1::JobRecord& record) {
  Job& job = AddJob(turn.state, record);
  if (SpecOf(job).goals().budget() > 0) CostOf(job)->set_budget(SpecOf(job).goals().budget());
  job.account.counted_until = UnixNow(turn);
  job.regroup.forming.since = turn.now;
  job.regroup.forming.reason = "waits for workers";
  SetState(turn, job, v1::PENDING, "waits for workers");
  turn.Save(job);
  turn.Replan();
  return job;
}

void Adopt(Turn& turn, const v1::JobRecord& record) {
  Job& job = AddJob(turn.state, record);
  job.saved_at = turn.now;
  if (IsOver(job)) return;
  if (const std::string flaw = FindFlawInRecord(job); !flaw.empty()) SetAside(turn, job, flaw);
  const auto& lines = job.record.job().status().cost().pools();
  const bool holds = std::any_of(lines.begin(), lines.end(), [](const v1::PoolCost& line) { return line.nodes() > 0; });
  // The job's costs may be those of lost nodes alone. But a record that names neither held nor lost nodes was written
  // by an earlier release, and then the nodes of its members are taken as held.
  if (holds && job.record.held_nodes().empty() && job.record.lost_nodes().empty()) HoldMembers(turn.state, job);
  CountAbsence(turn, job);
  TakeRecordedShares(turn, job);
  for (const auto& unit : record.units()) {
    job.wishes.units.push_back({.pool = unit.pool(), .placed = unit.placed(), .leaving = unit.leaving()});
  }
  for (const auto& exclusion : record.suspicions().exclusions()) {
    if (exclusion.seconds_left() > 0) job.excluded_until[exclusion.node()] = turn.now + exclusion.seconds_left();
  }
  for (const v1::JobRecord::Death& death : job.record.deaths()) {
    Trainer& trainer = job.trainers[death.trainer()];
    trainer.report.set_trainer(death.trainer());
    trainer.spoken_of = turn.now;
    trainer.death = death.reason();
    trainer.death_kind = death.kind();
    trainer.certain = death.certain();
  }
  job.regroup.forming.since = turn.now;
  job.regroup.forming.reason = "the coordinator was restarted";
  job.regroup.forming.restarted = true;
  job.formed_at = turn.now;
  job.formed_step = job.record.membership().step();
  const int step = job.record.job().status().step(), saved = job.record.job().status().checkpoint_step();
  job.completed_step =
      // The step in the job's status may come from the newest checkpoint. All members had applied the steps in that
      // checkpoint, except perhaps for the last one, so the last one does not count as completed.
      step > 0 && step <= saved ? step - 1 : step;
  RaiseStep(turn, job, saved);
  const v1::JobState state = job.record.job().status().state();
  if ((state != v1::RUNNING && state != v1::FINISHING) || job.record.membership().members_size() == 0) {
    // The generation of a job that waits has ended. Since release 0.2 records say themselves that a generation has
    // ended.
    job.record.set_ended_generation(job.record.membership().generation());
    return;
  }
  job.active = true;
  job.completed_at = turn.now;
  v1::Fault fault;
  fault.set_kind(WordOf(FaultKind::kCoordinatorKilled));
  fault.set_reason(absl::StrCat("coordinator restarted; job adopted at generation ", record.membership().generation()));
  AddFault(turn, job, std::move(fault), "", /*pausing=*/false, turn.now);
}

}  // namespace rekindle::core
