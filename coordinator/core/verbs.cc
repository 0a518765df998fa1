#include "coordinator/core/verbs.h"

#include "absl/strings/str_cat.h"
#include "common/agreed/amounts.h"
#include "coordinator/core/account/costs.h"
#include "coordinator/core/choices/own_models.h"
#include "coordinator/core/choices/precision.h"
#include "coordinator/core/generation/final_state_status.h"
#include "coordinator/core/generation/finishing.h"
#include "coordinator/core/generation/retries.h"
#include "coordinator/core/members/durable.h"
#include "coordinator/core/planning/goals.h"
#include "coordinator/core/record/found_jobs.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/reports/job_admission.h"
#include "coordinator/core/state/job_end.h"
#include "coordinator/core/stopping/budget.h"
#include "coordinator/core/stopping/halting.h"
#include "coordinator/core/stopping/reopening.h"
#include "coordinator/core/taken_over/recovered.h"
#include "coordinator/core/taken_over/set_aside.h"

namespace rekindle::core {
namespace {

// `settles` says that the verb may be given to a job whose earlier trainers are awaited.
Job* FindOrRefuse(Turn& turn, const std::string& uid, bool settles = false) {
  const auto it = turn.state.jobs.find(uid);
  const FoundJob* found = it == turn.state.jobs.end() ? FindFound(turn.state, uid) : nullptr;
  if (found != nullptr) {
    const std::string& name = found->record.job().name();
    turn.effects.status = absl::FailedPreconditionError(
        absl::StrCat("there is no record of job ", name, ", which runs: `rekindle adopt ", name, "` takes it over"));
    return nullptr;
  }
  if (it == turn.state.jobs.end()) {
    turn.effects.status = absl::NotFoundError(absl::StrCat("no job has the uid ", uid, "; `rekindle jobs` lists all"));
    return nullptr;
  }
  if (!IsOver(it->second) && AwaitsOld(it->second)) {
    if (settles) return &it->second;
    turn.effects.status = absl::FailedPreconditionError(DescribeAwaitedOld(it->second));
    return nullptr;
  }
  if (!IsOver(it->second) && IsBehind(it->second)) {
    turn.effects.status = absl::UnavailableError(absl::StrCat(
        "job ", it->second.record.job().name(), " is being taken over: ", it->second.record.job().status().reason()));
    return nullptr;
  }
  if (!IsOver(it->second)) return &it->second;
  turn.effects.status = absl::FailedPreconditionError(
      absl::StrCat("job ", it->second.record.job().name(), " is over: ", it->second.record.job().status().reason()));
  return nullptr;
}

bool HasFailed(const State& state, const std::string& uid) {
  const auto job = state.jobs.find(uid);
  return job != state.jobs.end() && job->second.record.job().status().state() == v1::FAILED;
}

// Returns OK where a new job may have the name of `job`.
absl::Status CheckName(const State& state, const v1::Job& job) {
  const std::string& name = job.name();
  if (state.jobs.count(job.uid()) > 0 || IsNameTaken(state, name)) {
    return absl::AlreadyExistsError(
        absl::StrCat("job ", name, " exists already; choose another name, or `rekindle cancel ", name, "` first"));
  }
  if (FindFound(state, name) == nullptr) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("a job of the name ", name,
                                               " runs, and there is no record of it; choose another name, or "
                                               "`rekindle adopt ",
                                               name, "`"));
}

}  // namespace

absl::Status CheckSubmit(const State& state, SubmitCheck what, const v1::JobRecord& record, double unix_now) {
  const v1::JobSpec& spec = record.job().status().resolved_spec();
  switch (what) {
    case SubmitCheck::kName:
      return CheckName(state, record.job());
    case SubmitCheck::kPrecision: {
      const std::string unfit = state.tunables.refuse_unfit_precision ? UnfitPrecision(state, spec) : "";
      return unfit.empty() ? absl::OkStatus() : absl::InvalidArgumentError(unfit);
    }
    case SubmitCheck::kOwnModel: {
      const std::string unfit = UnfitForOwnModel(state, spec);
      return unfit.empty() ? absl::OkStatus() : absl::InvalidArgumentError(unfit);
    }
    case SubmitCheck::kBudget:
      return CheckBudget(state, spec, unix_now);
    case SubmitCheck::kGoals:
      return CheckGoals(state, spec, unix_now);
  }
  return absl::InternalError("no such check");
}

void Submit(Turn& turn, const v1::JobRecord& record) {
  for (const SubmitCheck what : {SubmitCheck::kName, SubmitCheck::kPrecision, SubmitCheck::kOwnModel,
                                 SubmitCheck::kBudget, SubmitCheck::kGoals}) {
    turn.effects.status = CheckSubmit(turn.state, what, record, UnixNow(turn));
    if (!turn.effects.status.ok()) return;
  }
  Job& job = AddJob(turn.state, record);
  job.record.set_data_fingerprint(SpecOf(job).data().fingerprint());
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_checkpoint_step(-1);
  if (SpecOf(job).goals().budget() > 0) status->mutable_cost()->set_budget(SpecOf(job).goals().budget());
  job.regroup.forming.since = turn.now;
  job.regroup.forming.reason = "waits for workers";
  SetState(turn, job, v1::PENDING, "waits for workers");
  turn.Save(job);
  turn.Emit(&job, "submitted", absl::StrCat("job ", record.job().name(), " was submitted"));
}

void Cancel(Turn& turn, const std::string& uid, bool discard) {
  Job* job = FindOrRefuse(turn, uid, /*settles=*/true);
  if (job == nullptr) return;
  if (IsFinishing(*job) && !discard) {
    turn.effects.status = RefuseToStop(*job);
    return;
  }
  job->record.set_want_cancelled(true);
  EndJob(turn, *job, v1::CANCELLED, "cancelled",
         IsFinishing(*job) ? absl::StrCat("cancelled by the user, who gave the final state up, of step ",
                                          job->record.finishing().step())
                           : "cancelled by the user");
}

void Pause(Turn& turn, const std::string& uid) {
  Job* job = FindOrRefuse(turn, uid);
  if (job == nullptr) return;
  if (IsFinishing(*job)) {
    turn.effects.status = RefuseToStop(*job);
    return;
  }
  if (job->record.want_paused()) return;
  job->record.set_want_paused(true);
  turn.Save(*job);
  // A job that is not active is paused at once, or as soon as it is known where its members stand, and not at a
  // boundary.
  if (!job->active) return;
  const std::string text = "pause at the next step boundary, as the user asked";
  job->record.mutable_job()->mutable_status()->set_last_event(text);
  turn.Emit(job, "pausing", text);
}

// Returns OK where the record of a job that has failed allows it to go on.
absl::Status CheckFailed(const Job& job, bool old_is_gone) {
  if (AwaitsOld(job) && !old_is_gone) return absl::FailedPreconditionError(DescribeAwaitedOld(job));
  // The records of jobs that are over are not looked at when the coordinator starts.
  const std::string flaw = FindFlawInRecord(job);
  if (flaw.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("job ", job.record.job().name(), " cannot go on, because ", flaw, ": submit it anew"));
}

void Resume(Turn& turn, const ResumeJob& verb) {
  // A job that has failed is opened again only when nothing else refuses the verb.
  const bool has_failed = HasFailed(turn.state, verb.uid);
  Job* job = has_failed ? &turn.state.jobs.at(verb.uid) : FindOrRefuse(turn, verb.uid, verb.old_is_gone);
  if (job == nullptr) return;
  if (has_failed) turn.effects.status = CheckFailed(*job, verb.old_is_gone);
  if (!turn.effects.status.ok()) return;
  if (!common::IsAmount(verb.budget)) {
    turn.effects.status = absl::InvalidArgumentError("budget: must be above 0, or left out to keep it as it is");
    return;
  }
  if (!verb.from.empty() && IsFinishing(*job)) {
    turn.effects.status = RefuseToStop(*job);
    return;
  }
  if (!verb.from.empty()) turn.effects.status = CheckLine(*job, verb.from, verb.confirmed);
  if (!turn.effects.status.ok()) return;
  CountCosts(turn, *job);
  if (!verb.store.empty() && !IsFinishing(*job)) {
    turn.effects.status = absl::FailedPreconditionError(absl::StrCat(
        "job ", job->record.job().name(), " has steps to make: --store says where a final state goes that ",
        "could not be saved; submit a new job to use another spec.checkpoint.store"));
    return;
  }
  if (verb.budget > 0) turn.effects.status = SetBudget(turn, *job, verb.budget);
  if (IsFinishing(*job)) {
    if (!turn.effects.status.ok()) return;
    // The user may have asked for a pause when all steps were made, so that nothing could be stopped. That pause ends
    // with this `resume`. Otherwise it would stop the job if the final state were lost and steps had to be made again.
    job->record.set_want_paused(false);
    return SaveFinalNow(turn, *job, verb.store);
  }
  if (turn.effects.status.ok()) turn.effects.status = CheckSetAside(*job);
  if (turn.effects.status.ok()) turn.effects.status = CheckResume(turn, *job);
  if (turn.effects.status.ok() && has_failed) turn.effects.status = Reopen(turn, verb.uid);
  if (!turn.effects.status.ok()) return;
  if (AwaitsOld(*job)) turn.effects.status = GiveOldUp(turn, *job);
  if (!turn.effects.status.ok()) return;
  if (!verb.from.empty()) BeginLine(turn, *job, verb.from);
  if (!job->record.want_paused()) return;
  // A job that had failed has its name again.
  turn.state.newest[job->record.job().name()] = verb.uid;
  job->record.set_want_paused(false);
  job->record.clear_budget_stop();
  ForgetRetries(job->record);
  if (job->record.halt().empty()) job->record.set_released(false);
  turn.Save(*job);
  const std::string text = "resumed by the user";
  GoOn(turn, *job, text);
  if (job->active) return;
  job->regroup.forming.SetReason(text);
  SetState(turn, *job, v1::PENDING, text);
}

}  // namespace rekindle::core
