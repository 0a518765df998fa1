#include "coordinator/core/generation/next_generation.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/choices/memory_shortage.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/generation/announce.h"
#include "coordinator/core/generation/fallback.h"
#include "coordinator/core/generation/fence.h"
#include "coordinator/core/generation/finishing.h"
#include "coordinator/core/generation/leaving.h"
#include "coordinator/core/generation/retries.h"
#include "coordinator/core/members/candidates.h"
#include "coordinator/core/members/durable.h"
#include "coordinator/core/members/exchange_choice.h"
#include "coordinator/core/members/last_holders.h"
#include "coordinator/core/members/shard_holders.h"
#include "coordinator/core/members/suspicion.h"
#include "coordinator/core/record/store_search.h"
#include "coordinator/core/state/job_end.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/stopping/halting.h"

namespace rekindle::core {
namespace {

// Returns whether a stopped member holds state from which the job can go on. The state of a READY trainer may be stale.
bool HoldsNewest(const Job& job, const Trainer& trainer) {
  return HoldsState(job, trainer.report) && trainer.report.phase() != v1::TRAINER_READY;
}

// Surveys the members that have all stopped. A job may have been paused since, so some may be silent by now. The job is
// looked at again when the next of them will have been silent for too long, because it may wait for others meanwhile.
std::vector<MemberView> SurveyHeard(const Turn& turn, Job& job) {
  std::vector<MemberView> views = SurveyMembers(turn.state, job);
  LeaveOutSilent(turn.state, job, turn.now, views);
  for (const MemberView& view : views) {
    const double gone_at = GoneAt(turn.state, job, view.trainer);
    if (view.standing == Standing::kStopped && gone_at > turn.now) turn.Wake(job, gone_at);
  }
  return views;
}

// Returns the members that can go on, each with what it holds of the newest state.
std::vector<Candidate> StoppedMembers(const Job& job, const std::vector<MemberView>& views) {
  std::vector<Candidate> members;
  for (const MemberView& view : views) {
    if (view.standing != Standing::kStopped || !StaleMicroBatch(job, view.trainer->report).empty()) continue;
    Candidate candidate = ToCandidate(*view.trainer, view.member->rank());
    candidate.live = HoldsNewest(job, *view.trainer) && candidate.step >= job.completed_step;
    members.push_back(std::move(candidate));
  }
  return members;
}

// Returns the only stopped member with usable state. Returns an empty string when there is none or more than one.
std::string OnlyHolder(const Job& job, const std::vector<MemberView>& views) {
  std::string holder;
  for (const MemberView& view : views) {
    if (view.standing != Standing::kStopped || !HoldsNewest(job, *view.trainer)) continue;
    if (view.trainer->report.step() < job.completed_step) continue;
    if (!holder.empty()) return "";
    holder = view.member->trainer();
  }
  return holder;
}

// Counts which live ranks of a failed generation could not reach each other. Where two ranks have failed each other
// before, one of them is to be left out of the next generation, and its node is kept out for a while.
void CountAccusations(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  const std::optional<std::vector<Charge>> charges = FindCharges(job, views);
  if (!charges || charges->empty() || views.size() < 2) return;
  const auto removal =
      CountFailure(*job.record.mutable_suspicions(), *charges, job.record.membership(), OnlyHolder(job, views));
  turn.Save(job);
  if (!removal) return;
  const std::string node = FindMember(job, removal->trainer)->node();
  const double seconds = Exclude(*job.record.mutable_suspicions(), node, turn.state.tunables.exclusion_seconds);
  job.excluded_until[node] = turn.now + seconds;
  job.regroup.forming.removed = removal->trainer;
  job.regroup.forming.removed_reason =
      absl::StrCat(removal->reason, "; node ", node, " is kept out for ", Seconds(seconds));
  turn.Emit(&job, "excluded", job.regroup.forming.removed_reason, node);
}

// Returns whether every member has stopped, died or used up the time that it had to stop.
bool AllHaveStopped(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  bool all = true;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kStopped && !view.trainer->waits) job.trainers[view.member->trainer()].waits = true;
    if (view.standing != Standing::kAwaited) continue;
    if (turn.now >= view.give_up_at) {
      job.trainers[view.member->trainer()].left_out = true;
    } else {
      turn.Wake(job, view.give_up_at);
      all = false;
    }
  }
  return all;
}

// Returns whether the members save before the job gives its nodes up. Where the job has stopped within a step, nobody
// has saved its state. So the members that are left form one more generation to save it, however few they are.
bool SavesFirst(const State& state, const Job& job, const std::vector<Candidate>& pool) {
  const bool gives_up = !job.record.halt().empty() || !job.record.budget_stop().empty();
  if (!gives_up && !WithoutLeaving(state, job, pool).empty()) return false;
  const Candidate* best = FindBest(pool);
  return best != nullptr && best->step > 0 && !job.saved_before_stop && !IsSaved(job, pool);
}

// Returns whether a member has reported the digest of its final state in the newest generation.
bool HasFinished(const Job& job, const MemberView& view) {
  return view.trainer != nullptr && view.trainer->report.phase() == v1::TRAINER_FINISHED &&
         view.trainer->report.generation() == job.record.membership().generation();
}

// Forms the next generation and announces it. Returns false where it may not be formed yet.
bool Form(Turn& turn, Job& job, std::vector<Candidate> pool, const Origin& origin, bool boundary,
          const std::vector<MemberView>& views) {
  v1::Membership next = BuildMembership(std::move(pool), origin, boundary, MicroBatches(job), NextGeneration(job));
  if (!MayForm(turn, job, next)) return false;
  AssignShards(turn.state, job, &next);
  Announce(turn, job, std::move(next), origin, views);
  return true;
}

}  // namespace

bool TryFinish(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  std::map<std::string, std::vector<std::string>> digests;
  int finished = 0, step = 0;
  std::string early;
  for (const MemberView& view : views) {
    const bool gone = view.standing == Standing::kDead || view.standing == Standing::kLeftOut;
    // The digest of a member that is gone is compared only if the member's last report says that it had finished.
    if (gone && !HasFinished(job, view)) continue;
    if (!gone && (view.standing != Standing::kStopped || view.trainer->report.phase() != v1::TRAINER_FINISHED))
      return false;
    const v1::TrainerReport& report = view.trainer->report;
    digests[report.state_digest()].push_back(ShortName(view.member->trainer()));
    // Members whose states have equal digests have made equally many steps, so `step` may be that of any of them.
    step = report.step();
    if (step < SpecOf(job).training().steps()) early = Bounded(report.stop_reason());
    finished += !gone;
  }
  if (finished == 0) return false;
  if (digests.size() == 1) {
    if (!IsFinalDurable(job, step)) {
      // The members that are left may not have all of the final state together. Then they keep nothing, and the job
      // goes back to an earlier state.
      const bool is_lost = !job.active && !IsFinishing(job) && FindBest(StoppedMembers(job, views)) == nullptr;
      if (is_lost) return false;
      return TakeFailedSave(turn, job, {step, digests.begin()->first, early, finished}, views);
    }
    v1::JobStatus* status = job.record.mutable_job()->mutable_status();
    status->set_state_digest(digests.begin()->first);
    status->set_step(step);
    EndJob(turn, job, v1::SUCCEEDED, "succeeded",
           absl::StrCat("all ", finished, " members finished step ", status->step(), " with equal state ",
                        status->state_digest(), early.empty() ? "" : "; ", early));
    return true;
  }
  std::vector<std::string> words;
  for (const auto& [digest, names] : digests) words.push_back(absl::StrCat(digest, " on ", JoinWords(names)));
  RaiseStep(turn, job, step);
  EndJob(turn, job, v1::FAILED, "failed", absl::StrCat("the final states differ: ", JoinWords(words)));
  return true;
}

namespace {

// Counts the accusations between members of a failed generation, once for each failure.
void CountFailure(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  job.regroup.forming.pairs_counted = true;
  CountNcclFailure(turn, job, views);
  if (!IsFinishing(job)) return CountAccusations(turn, job, views);
  // No member that keeps the final state is left out for an accusation.
  if (job.record.membership().finishing()) PostponeFinal(turn, job);
}

// Returns whether all members stopped between two steps. `best` is the one with the newest state, if any has state.
bool StoppedAtBoundary(const Job& job, const std::vector<Candidate>& pool, const Candidate* best) {
  return std::all_of(pool.begin(), pool.end(), [&](const Candidate& candidate) {
    if (FindTrainer(job, candidate.trainer)->report.phase() == v1::TRAINER_INTERRUPTED) return false;
    return best == nullptr || !candidate.live ||
           std::tie(candidate.step, candidate.attempt) == std::tie(best->step, best->attempt);
  });
}

// Forms the next generation from a replica, a checkpoint or the initial state, because no member that lives has state
// that may be used.
void FormWithoutMembers(Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate> pool) {
  ReleaseUseless(turn, job, views, pool);
  Fallback fallback = FromAnywhere(turn, job, views, std::move(pool));
  if (!fallback.wait) Form(turn, job, std::move(fallback.pool), fallback.origin, true, views);
}

// Returns where the members of the last generation stand, once everything is known that is needed to form the next one.
// Until then, shows in the status what is awaited, or finishes the job, and returns nothing.
std::optional<std::vector<MemberView>> SurveyWhenKnown(Turn& turn, Job& job) {
  std::vector<MemberView> views = SurveyMembers(turn.state, job);
  if (!NoteEnd(turn, job, views)) {
    // It is not certain that the newest generation has ended, for example after records were brought back from a copy.
    MustStop(job) ? ShowStopped(turn, job) : AwaitEnd(turn, job, views);
    return std::nullopt;
  }
  if (job.regroup.heard_again == turn.now) views = SurveyMembers(turn.state, job);
  if (!AllHaveStopped(turn, job, views)) {
    ShowRegrouping(turn, job);
    return std::nullopt;
  }
  views = SurveyHeard(turn, job);
  if (TryFinish(turn, job, views)) return std::nullopt;
  if (!MustLook(job)) return views;
  MustStop(job) ? ShowStopped(turn, job) : AwaitLook(turn, job);
  return std::nullopt;
}

// Takes back the member that was left out because of an accusation, as the others lack a part of the state without it.
void FormWithRemoved(Turn& turn, Job& job) {
  job.regroup.forming.removed.clear();
  TryForm(turn, job);
}

}  // namespace

void TryForm(Turn& turn, Job& job) {
  std::optional<std::vector<MemberView>> known = SurveyWhenKnown(turn, job);
  if (!known) return;
  std::vector<MemberView>& views = *known;
  const bool other_size = SizeHasChanged(job);
  if (job.regroup.forming.failure && !job.regroup.forming.pairs_counted && !other_size) {
    CountFailure(turn, job, views);
    views = SurveyHeard(turn, job);
  }
  std::vector<Candidate> pool = StoppedMembers(job, views);
  const Candidate* best = FindBest(pool);
  if (IsFinishing(job)) {
    if (best != nullptr) return KeepFinal(turn, job, std::move(pool), views);
    if (!job.regroup.forming.removed.empty()) return FormWithRemoved(turn, job);
    if (!LoseFinal(turn, job, views)) return;
  }
  bool boundary = StoppedAtBoundary(job, pool, best);
  // `stopped_at` is a step that all members that hold the state have made.
  const int stopped_at = boundary && best != nullptr ? best->step : 0;
  boundary = boundary || other_size;
  const std::vector<Candidate> joiners = Joiners(turn, job);
  int handing_on = 0;
  const bool save_tried = job.regroup.save_tried;
  if (boundary && best != nullptr) {
    handing_on = ReleaseDraining(turn, job, pool, MustStop(job) ? 0 : static_cast<int>(joiners.size()));
    // What is said of the next generation names the member that has left.
    if (handing_on == 0 && ReleaseToRenew(turn, job, pool)) views = SurveyHeard(turn, job);
  }
  if (!MustStop(job)) job.saved_before_stop = false;
  const bool saves_first = MustStop(job) && !boundary && SavesFirst(turn.state, job, pool);
  if (MustStop(job) && !saves_first) {
    if (!boundary && best != nullptr) ReleaseWaiting(turn, job, pool);
    RaiseStep(turn, job, stopped_at);
    return ShowStopped(turn, job);
  }
  if (FindsMicroBatch(job)) {
    SetState(turn, job, v1::PENDING, "waits until its first worker has found micro_batch");
    return;
  }
  best = FindBest(pool);
  // The members' state is not used where the store has newer state.
  if (best != nullptr && best->step < DurableStep(job)) best = nullptr;
  if (best == nullptr && !job.regroup.forming.removed.empty()) return FormWithRemoved(turn, job);
  if (best == nullptr) return FormWithoutMembers(turn, job, views, std::move(pool));
  const Origin origin{Origin::Kind::kRank, best->step, best->attempt, "", ""};
  if (saves_first) {
    job.saved_before_stop = Form(turn, job, std::move(pool), origin, boundary, views);
    return;
  }
  Fill(pool, joiners, boundary ? std::max(MaxWorkers(job), handing_on) : MinWorkers(job));
  if (static_cast<int>(pool.size()) < MinWorkers(job) && !LeavesUnsaved(turn.state, job, pool)) {
    // Who stayed to hand the state on waits for nobody: where the state is in a store, it is read from there.
    ReleaseWaiting(turn, job, pool);
    // Where all that hold the state were released, a silent member may hold it, too, and is waited for.
    if (FindBest(pool) == nullptr) return TryForm(turn, job);
    WaitForWorkers(turn, job, pool.size());
    return;
  }
  if (!Form(turn, job, std::move(pool), origin, boundary, views)) job.regroup.save_tried = save_tried;
}

}  // namespace rekindle::core
