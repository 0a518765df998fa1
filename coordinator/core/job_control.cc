#include "coordinator/core/job_control.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/adoption.h"
#include "coordinator/core/amounts.h"
#include "coordinator/core/announce.h"
#include "coordinator/core/budget.h"
#include "coordinator/core/charged_nodes.h"
#include "coordinator/core/costs.h"
#include "coordinator/core/durable.h"
#include "coordinator/core/faults.h"
#include "coordinator/core/fence.h"
#include "coordinator/core/finishing.h"
#include "coordinator/core/flapping.h"
#include "coordinator/core/forming.h"
#include "coordinator/core/found.h"
#include "coordinator/core/goals.h"
#include "coordinator/core/halting.h"
#include "coordinator/core/planned.h"
#include "coordinator/core/precision.h"
#include "coordinator/core/progress.h"
#include "coordinator/core/recovered.h"
#include "coordinator/core/retries.h"
#include "coordinator/core/spending.h"
#include "coordinator/core/survey.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

// `settles`: the verb is one that a job whose trainers of before are awaited can be given.
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

// Members that stopped at a boundary, or finished, watch no connection any more: if another does not follow and is
// silent, nobody else will tell.
std::string FindSilentPeer(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  double stopped_at = kNever;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kStopped) stopped_at = std::min(stopped_at, view.trainer->stopped_at);
  }
  if (stopped_at == kNever) return "";
  const double deadline = std::max(stopped_at + DeadlineSeconds(turn.state.tunables, job),
                                   turn.state.started + turn.state.tunables.reconnect_seconds);
  for (const MemberView& view : views) {
    if (view.standing != Standing::kAwaited) continue;
    if (view.trainer != nullptr && view.trainer->heard > stopped_at) continue;
    if (turn.now >= deadline) {
      return absl::StrCat("trainer ", ShortName(view.member->trainer()), " did not stop with the others and is silent");
    }
    turn.Wake(job, deadline);
  }
  return "";
}

// The first evidence that the running generation cannot go on; empty: there is none.
std::string FindFailure(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  const v1::Membership& membership = job.record.membership();
  if (const std::string silent = FindSilentPeer(turn, job, views); !silent.empty()) return silent;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kDead) return view.cause;
    if (view.trainer == nullptr || !view.trainer->reported) continue;
    const v1::TrainerReport& report = view.trainer->report;
    if (report.phase() == v1::TRAINER_INTERRUPTED && report.generation() == membership.generation()) {
      return DescribeInterruption(*view.trainer);
    }
  }
  if (!HasEnded(job)) {
    AwaitEnd(turn, job, views);
    return "";
  }
  double all_gone_at = 0;
  for (const MemberView& view : views) all_gone_at = std::max(all_gone_at, view.gone_at);
  if (turn.now >= all_gone_at) return "no member was heard of any more";
  turn.Wake(job, all_gone_at);
  return "";
}

// A coordinator that died in the middle of a change finds members that have stopped as told.
void ResumeYield(Turn& turn, Job& job) {
  for (const v1::Member& member : job.record.membership().members()) {
    if (job.yielding) break;
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr || trainer->report.phase() != v1::TRAINER_QUIESCED) continue;
    if (trainer->report.generation() != job.record.membership().generation()) continue;
    job.yielding = true;
    job.yield_reason = "a change of membership that was under way is completed";
  }
  ConsiderChange(turn, job);
}

void Watch(Turn& turn, Job& job) {
  const std::vector<MemberView> views = SurveyMembers(turn.state, job);
  (void)NoteEnd(turn, job, views);
  const std::string failure = FindFailure(turn, job, views);
  if (failure.empty()) {
    if (TryFinish(turn, job, views)) return;
    ResumeYield(turn, job);
    const bool all_stopped = std::all_of(views.begin(), views.end(),
                                         [](const MemberView& view) { return view.standing == Standing::kStopped; });
    if (job.yielding && all_stopped) OpenForming(turn, job, job.yield_reason, /*failure=*/false);
    return;
  }
  OpenForming(turn, job, failure, /*failure=*/true);
}

// Members of a new generation may all be gone before one of them says a word in it.
void WakeWhenGone(Turn& turn, Job& job) {
  double gone_at = 0;
  for (const v1::Member& member : job.record.membership().members()) {
    gone_at = std::max(gone_at, GoneAt(turn.state, job, FindTrainer(job, member.trainer())));
  }
  turn.Wake(job, gone_at);
}

// Whether a new job may have that name.
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

Job& AddJob(State& state, const v1::JobRecord& record) {
  const std::string& uid = record.job().uid();
  Job& job = state.jobs[uid];
  job.record = record;
  state.order.push_back(uid);
  state.newest[record.job().name()] = uid;
  return job;
}

}  // namespace

bool IsNameTaken(const State& state, const std::string& name) {
  const auto newest = state.newest.find(name);
  return newest != state.newest.end() && !IsOver(state.jobs.at(newest->second));
}

absl::Status CheckSubmit(const State& state, SubmitCheck what, const v1::JobRecord& record, double unix_now) {
  const v1::JobSpec& spec = record.job().status().resolved_spec();
  switch (what) {
    case SubmitCheck::kName:
      return CheckName(state, record.job());
    case SubmitCheck::kPrecision: {
      const std::string unfit = state.tunables.refuse_unfit_precision ? UnfitPrecision(state, spec) : "";
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
  for (const SubmitCheck what :
       {SubmitCheck::kName, SubmitCheck::kPrecision, SubmitCheck::kBudget, SubmitCheck::kGoals}) {
    turn.effects.status = CheckSubmit(turn.state, what, record, UnixNow(turn));
    if (!turn.effects.status.ok()) return;
  }
  Job& job = AddJob(turn.state, record);
  job.record.set_data_fingerprint(SpecOf(job).data().fingerprint());
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_checkpoint_step(-1);
  if (SpecOf(job).goals().budget() > 0) status->mutable_cost()->set_budget(SpecOf(job).goals().budget());
  job.forming.since = turn.now;
  job.forming.reason = "waits for workers";
  SetState(job, v1::PENDING, "waits for workers");
  job.must_save = true;
  turn.Emit(&job, "submitted", absl::StrCat("job ", record.job().name(), " was submitted"));
}

Job& AddFound(Turn& turn, const v1::JobRecord& record) {
  Job& job = AddJob(turn.state, record);
  if (SpecOf(job).goals().budget() > 0) CostOf(job)->set_budget(SpecOf(job).goals().budget());
  job.counted_until = UnixNow(turn);
  job.forming.since = turn.now;
  job.forming.reason = "waits for workers";
  SetState(job, v1::PENDING, "waits for workers");
  job.must_save = true;
  turn.state.plan_due = true;
  return job;
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
  job->must_save = true;
  if (!job->active) return;  // It is paused at once, or when it is known where its members stand.
  const std::string text = "pause at the next step boundary, as the user asked";
  job->record.mutable_job()->mutable_status()->set_last_event(text);
  turn.Emit(job, "pausing", text);
}

void Resume(Turn& turn, const ResumeJob& verb) {
  Job* job = FindOrRefuse(turn, verb.uid, verb.old_is_gone);
  if (job == nullptr) return;
  if (!IsAmount(verb.budget)) {
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
    job->record.set_want_paused(false);  // It came too late to stop anything, and must not if the state is lost.
    return SaveFinalNow(turn, *job, verb.store);
  }
  if (turn.effects.status.ok()) turn.effects.status = CheckResume(turn, *job);
  if (!turn.effects.status.ok()) return;
  if (AwaitsOld(*job)) turn.effects.status = GiveOldUp(turn, *job);
  if (!turn.effects.status.ok()) return;
  if (!verb.from.empty()) BeginLine(turn, *job, verb.from);
  if (!job->record.want_paused()) return;
  job->record.set_want_paused(false);
  job->record.clear_budget_stop();
  ForgetRetries(job->record);
  if (job->record.halt().empty()) job->record.set_released(false);
  job->must_save = true;
  const std::string text = "resumed by the user";
  GoOn(turn, *job, text);
  if (job->active) return;
  job->forming.reason = text;
  SetState(*job, v1::PENDING, text);
}

void Adopt(Turn& turn, const v1::JobRecord& record) {
  Job& job = AddJob(turn.state, record);
  job.saved_at = turn.now;
  if (IsOver(job)) return;
  const auto& lines = record.job().status().cost().pools();
  const bool holds = std::any_of(lines.begin(), lines.end(), [](const v1::PoolCost& line) { return line.nodes() > 0; });
  // An earlier release kept neither. With lost nodes alone those are what the lines show, and they are charged as such.
  if (holds && job.record.held_nodes().empty() && job.record.lost_nodes().empty()) HoldMembers(turn.state, job);
  CountAbsence(turn, job);
  for (const auto& unit : record.units()) {
    job.units.push_back({.pool = unit.pool(), .placed = unit.placed(), .leaving = unit.leaving()});
  }
  for (const auto& exclusion : record.suspicions().exclusions()) {
    if (exclusion.seconds_left() > 0) job.excluded_until[exclusion.node()] = turn.now + exclusion.seconds_left();
  }
  for (const v1::JobRecord::Death& death : record.deaths()) {
    Trainer& trainer = job.trainers[death.trainer()];
    trainer.report.set_trainer(death.trainer());
    trainer.spoken_of = turn.now;
    trainer.death = death.reason();
    trainer.death_kind = death.kind();
    trainer.certain = death.certain();
  }
  job.forming.since = turn.now;
  job.forming.reason = kRestarted;
  job.formed_at = turn.now;
  job.formed_step = record.membership().step();
  const int step = record.job().status().step(), saved = record.job().status().checkpoint_step();
  job.completed_step =
      step > 0 && step <= saved ? step - 1 : step;  // What it saved, all had applied but for the last step.
  RaiseStep(job, saved);
  const v1::JobState state = record.job().status().state();
  if ((state != v1::RUNNING && state != v1::FINISHING) || record.membership().members_size() == 0) {
    job.record.set_ended_generation(record.membership().generation());  // It waits: that was so, and says it since 0.2.
    return;
  }
  job.active = true;
  job.completed_at = turn.now;
  v1::Fault fault;
  fault.set_kind("coordinator_killed");
  fault.set_reason(absl::StrCat("coordinator restarted; job adopted at generation ", record.membership().generation()));
  AddFault(turn, job, std::move(fault), "", /*pausing=*/false, turn.now);
}

namespace {

// It was told to stop, and its state is kept: what it holds can go.
bool HasStopped(const Job& job) { return MustStop(job) && IsSaved(job); }

void DecideOnce(Turn& turn, Job& job) {
  EaseSuspicions(turn, job);
  CountCosts(turn, job);
  ForgetEndedNodes(turn, job);
  WatchFinal(turn, job);
  if (IsOver(job)) return;
  KeepBudget(turn, job);
  GrantSpending(turn, job);
  job.budget_room = RoomForSlots(turn, job, LowestPrice(turn.state, job, UnixNow(turn)));
  KeepHalt(turn, job);
  TellGathered(turn, job);
  if (job.active) Watch(turn, job);
  if (job.active || IsOver(job)) return;
  TryForm(turn, job);
  if (!job.active) return;
  WakeWhenGone(turn, job);
  if (MustStop(job)) ConsiderChange(turn, job);  // It was formed only to save: its members stop at the first boundary.
}

}  // namespace

void Advance(Turn& turn, Job& job) {
  job.wake_at = kNever;
  if (IsOver(job)) return;
  if (IsBehind(job)) ConsiderAdoption(turn, job);
  if (IsBehind(job)) return GrantSpending(turn, job);  // Its nodes live, and may spend on while nothing is decided.
  const bool had_stopped = HasStopped(job);
  DecideOnce(turn, job);
  // What it holds is given up in the turn in which it stops: nobody may speak of it again for long.
  if (!had_stopped && !IsOver(job) && HasStopped(job)) DecideOnce(turn, job);
}

}  // namespace rekindle::core
