#include "coordinator/core/forming.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/announce.h"
#include "coordinator/core/candidates.h"
#include "coordinator/core/deaths.h"
#include "coordinator/core/durable.h"
#include "coordinator/core/fallback.h"
#include "coordinator/core/fence.h"
#include "coordinator/core/finishing.h"
#include "coordinator/core/flapping.h"
#include "coordinator/core/formation.h"
#include "coordinator/core/halting.h"
#include "coordinator/core/last_holders.h"
#include "coordinator/core/looking.h"
#include "coordinator/core/micro_batch.h"
#include "coordinator/core/out_of_memory.h"
#include "coordinator/core/retries.h"
#include "coordinator/core/shard_holders.h"
#include "coordinator/core/suspicion.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

// State of a stopped member that belongs to the newest history. A READY trainer's may be stale.
bool HoldsNewest(const Job& job, const Trainer& trainer) {
  return HoldsState(job, trainer.report) && trainer.report.phase() != v1::TRAINER_READY;
}

// Those that can go on, each with what it holds of the newest state.
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

// The only stopped member with usable state; empty when there are more.
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

// Two live ranks that failed each other before: one of them has to go.
void CountAccusations(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  std::vector<Charge> charges;
  for (const MemberView& view : views) {
    if (view.standing != Standing::kStopped) return;  // Somebody was silent or dead: that explains the failure.
    if (view.trainer->report.generation() != job.record.membership().generation()) continue;
    for (const v1::Accusation& accusation : view.trainer->report.accusations()) {
      charges.push_back({view.member->trainer(), accusation.trainer(), accusation.kind(), view.trainer->stopped_at});
    }
  }
  if (charges.empty() || views.size() < 2) return;
  const auto removal = CountFailure(*job.record.mutable_suspicions(), PrimaryCharges(charges), job.record.membership(),
                                    OnlyHolder(job, views));
  job.must_save = true;
  if (!removal) return;
  const std::string node = FindMember(job, removal->trainer)->node();
  const double seconds = Exclude(*job.record.mutable_suspicions(), node, turn.state.tunables.exclusion_seconds);
  job.excluded_until[node] = turn.now + seconds;
  job.forming.removed = removal->trainer;
  job.forming.removed_reason = absl::StrCat(removal->reason, "; node ", node, " is kept out for ", Seconds(seconds));
  turn.Emit(&job, "excluded", job.forming.removed_reason, node);
}

// True when every member has stopped, died or run out of grace.
bool Settle(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  bool settled = true;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kStopped && !view.trainer->waits) job.trainers[view.member->trainer()].waits = true;
    if (view.standing != Standing::kAwaited) continue;
    if (turn.now >= view.give_up_at) {
      job.trainers[view.member->trainer()].left_out = true;
    } else {
      turn.Wake(job, view.give_up_at);
      settled = false;
    }
  }
  return settled;
}

// All that have the state must leave: for one generation those that hand it on and those that take it over may be more
// than the job's most.
struct HandingOn {
  int keep = 0;  // So many of those that leave stay for it. 0: there cannot be as many ranks as both need.
  int members = 0;
};
HandingOn PlanHandingOn(const Job& job, const std::vector<Candidate>& pool, int joiners) {
  const bool sharded = SpecOf(job).training().optimizer_state() == "sharded";  // Each has a part that others lack.
  const int least = sharded ? static_cast<int>(pool.size()) : 1;
  if (joiners == 0 || least >= MostRanks(job)) return {};
  joiners = std::min(joiners, MaxWorkers(job));
  const int members = std::min(MostRanks(job), std::max(MaxWorkers(job), least + joiners));
  return {std::max(least, members - joiners), members};
}

// Of those that must leave all but `keep` go, the one with the best state last.
void LetGo(const Turn& turn, Job& job, std::vector<Candidate>& pool, int keep) {
  const Candidate* best = FindBest(pool);
  const std::string last = keep > 0 && best != nullptr ? best->trainer : "";
  if (!last.empty()) --keep;
  std::erase_if(pool, [&](const Candidate& candidate) {
    if (candidate.trainer == last || !MustLeave(turn.state, job, candidate.trainer)) return false;
    if (keep-- > 0) return false;
    RecordRelease(job, candidate.trainer, WhyItLeaves(turn.state, job, candidate.trainer));
    return true;
  });
}

// Too few are left to go on from within the step: those that must leave do not wait for it when the others have the
// state as well, or a store has. What they computed of the step is computed again.
void ReleaseInterrupted(const Turn& turn, Job& job, std::vector<Candidate>& pool) {
  if (StaysWithOthers(turn.state, job, pool) || IsSaved(job, pool)) LetGo(turn, job, pool, 0);
}

// What those that are left hold is of no use any more: those that must leave do so, unless a silent member may come
// back with the rest of it.
void ReleaseUseless(const Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate>& pool) {
  const bool may_return =
      std::any_of(views.begin(), views.end(), [&](const MemberView& view) { return MayReturn(view, turn.now); });
  if (!may_return) LetGo(turn, job, pool, 0);
}

// Members of draining nodes go at a boundary when others keep the state, or nobody is there to take it and they have
// saved it.
// Returns how many members the next generation may have, whatever the job's most.
int ReleaseDraining(Turn& turn, Job& job, std::vector<Candidate>& pool, int joiners) {
  const std::vector<Candidate> staying = WithoutLeaving(turn.state, job, pool);
  const bool others_live = FindBest(staying) != nullptr;
  const HandingOn handing = staying.empty() ? PlanHandingOn(job, pool, joiners) : HandingOn();
  const bool others = handing.keep > 0 || !staying.empty();
  if (others) ForgetSaves(job);
  if (!others_live && others) {  // First hand the state on; the next generation is without them.
    if (handing.keep > 0) LetGo(turn, job, pool, handing.keep);
    return handing.members;
  }
  if (!others && !IsSaved(job, pool) && StayToSave(turn, job, pool)) return 0;
  ForgetSaves(job);
  const std::string why = others ? "" : WhyItLeaves(turn.state, job, pool.front().trainer);
  LetGo(turn, job, pool, 0);
  if (!others) TellLostSteps(turn, job, why);
  return 0;
}

// It is to give its nodes up, and stopped within a step, so that nobody has saved its state: those that are left go on
// to do so, once, however few they are.
bool SavesFirst(const State& state, const Job& job, const std::vector<Candidate>& pool) {
  const bool gives_up = !job.record.halt().empty() || !job.record.budget_stop().empty();
  if (!gives_up && !WithoutLeaving(state, job, pool).empty()) return false;
  const Candidate* best = FindBest(pool);
  return best != nullptr && best->step > 0 && !job.saved_before_stop && !IsSaved(job, pool);
}

// Has it told the digest of its final state in the newest generation?
bool HasFinished(const Job& job, const MemberView& view) {
  return view.trainer != nullptr && view.trainer->report.phase() == v1::TRAINER_FINISHED &&
         view.trainer->report.generation() == job.record.membership().generation();
}

// False: not yet.
bool Form(Turn& turn, Job& job, std::vector<Candidate> pool, const Origin& origin, bool boundary,
          const std::vector<MemberView>& views) {
  v1::Membership next = BuildMembership(std::move(pool), origin, boundary, MicroBatches(job), NextGeneration(job));
  if (!MayForm(turn, job, next)) return false;
  AssignShards(turn.state, job, &next);
  Announce(turn, job, std::move(next), origin, views);
  return true;
}

}  // namespace

int NextGeneration(const Job& job) {
  int highest = std::max(job.record.membership().generation(), job.record.store_generation());
  for (const auto& [id, trainer] : job.trainers) highest = std::max(highest, trainer.report.generation());
  return highest + 1;
}

void OpenForming(Turn& turn, Job& job, const std::string& reason, bool failure) {
  job.active = false;
  job.yielding = false;
  job.forming = Forming{};
  job.forming.since = turn.now;
  job.forming.reason = reason;
  job.forming.failure = failure;
  job.forming.completed_at = job.completed_at;
  job.ready_since = kNever;
  for (auto& [id, trainer] : job.trainers) trainer.left_out = trainer.waits = false;
  if (!failure) return;
  for (const v1::Member& member : job.record.membership().members()) {
    const auto found = turn.state.nodes.find(member.node());
    if (found == turn.state.nodes.end()) continue;
    NodeState& node = found->second;
    ++node.probe;
    if (node.asked_at <= node.heard) node.asked_at = turn.now;
    turn.state.watch_nodes_at = turn.now;
  }
}

void EndJob(Turn& turn, Job& job, v1::JobState state, const std::string& kind, const std::string& why) {
  const bool smoke = state == v1::FAILED && IsSmokeTest(job);
  const std::string reason = smoke ? absl::StrCat("the smoke test on one worker failed: ", why) : why;
  job.active = false;
  job.yielding = false;
  TellAllNow(turn, job);
  SetState(job, state, reason);
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_last_event(reason);
  status->clear_finishing();
  job.record.clear_finishing();
  if (turn.state.wall_offset > 0) status->set_finished_at(turn.now + turn.state.wall_offset);
  job.open_faults.clear();
  job.must_save = true;
  turn.Emit(&job, kind, reason);
}

bool TryFinish(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  std::map<std::string, std::vector<std::string>> digests;
  int finished = 0, step = 0;
  std::string early;
  for (const MemberView& view : views) {
    const bool gone = view.standing == Standing::kDead || view.standing == Standing::kLeftOut;
    if (gone && !HasFinished(job, view)) continue;  // What one has said before it went counts.
    if (!gone && (view.standing != Standing::kStopped || view.trainer->report.phase() != v1::TRAINER_FINISHED))
      return false;
    const v1::TrainerReport& report = view.trainer->report;
    digests[report.state_digest()].push_back(ShortName(view.member->trainer()));
    step = report.step();  // Equal digests are of equal steps.
    if (step < SpecOf(job).training().steps()) early = Bounded(report.stop_reason());
    finished += !gone;
  }
  if (finished == 0) return false;
  if (digests.size() == 1) {
    if (!IsFinalDurable(job, step)) {
      // Too few may be left to have all of it: then there is nothing to keep, and the job goes back.
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
  RaiseStep(job, step);
  EndJob(turn, job, v1::FAILED, "failed", absl::StrCat("the final states differ: ", JoinWords(words)));
  return true;
}

void TryForm(Turn& turn, Job& job) {
  std::vector<MemberView> views = SurveyMembers(turn.state, job);
  if (!NoteEnd(turn, job, views)) {  // On records that were brought back from a copy.
    return MustStop(job) ? ShowStopped(turn, job) : AwaitEnd(turn, job, views);
  }
  if (job.heard_again == turn.now) views = SurveyMembers(turn.state, job);
  if (!Settle(turn, job, views)) return ShowRegrouping(job);
  views = SurveyMembers(turn.state, job);
  if (TryFinish(turn, job, views)) return;
  if (MustLook(job)) return MustStop(job) ? ShowStopped(turn, job) : AwaitLook(job);
  const bool other_size = SizeHasChanged(job);
  if (job.forming.failure && !job.forming.pairs_counted && !other_size) {
    job.forming.pairs_counted = true;
    if (IsFinishing(job)) {  // Nobody of those that keep a result is left out.
      if (job.record.membership().finishing()) PostponeFinal(turn, job);
    } else {
      CountAccusations(turn, job, views);
    }
    views = SurveyMembers(turn.state, job);
  }
  std::vector<Candidate> pool = StoppedMembers(job, views);
  const Candidate* best = FindBest(pool);
  const auto take_back = [&] {  // Whom an accusation left out: without it the others do not have the state.
    job.forming.removed.clear();
    TryForm(turn, job);
  };
  if (IsFinishing(job)) {
    if (best != nullptr) return KeepFinal(turn, job, std::move(pool), views);
    if (!job.forming.removed.empty()) return take_back();
    if (!LoseFinal(turn, job, views)) return;
  }
  bool boundary = true;
  for (const Candidate& candidate : pool) {
    boundary = boundary && FindTrainer(job, candidate.trainer)->report.phase() != v1::TRAINER_INTERRUPTED;
    boundary = boundary && (best == nullptr || !candidate.live ||
                            std::tie(candidate.step, candidate.attempt) == std::tie(best->step, best->attempt));
  }
  const int stopped_at = boundary && best != nullptr ? best->step : 0;  // All that hold the state have made that step.
  boundary = boundary || other_size;
  const std::vector<Candidate> joiners = Joiners(turn, job);
  int handing_on = 0;
  const bool save_tried = job.save_tried;
  if (boundary && best != nullptr) {
    handing_on = ReleaseDraining(turn, job, pool, MustStop(job) ? 0 : static_cast<int>(joiners.size()));
  }
  if (!MustStop(job)) job.saved_before_stop = false;
  const bool saves_first = MustStop(job) && !boundary && SavesFirst(turn.state, job, pool);
  if (MustStop(job) && !saves_first) {
    if (!boundary && best != nullptr) ReleaseInterrupted(turn, job, pool);
    RaiseStep(job, stopped_at);
    return ShowStopped(turn, job);
  }
  if (FindsMicroBatch(job)) return SetState(job, v1::PENDING, "waits until its first worker has found micro_batch");
  best = FindBest(pool);
  if (best != nullptr && best->step < DurableStep(job)) best = nullptr;  // The store has more than those that live.
  if (best == nullptr && !job.forming.removed.empty()) return take_back();
  if (best == nullptr) {
    ReleaseUseless(turn, job, views, pool);
    Fallback fallback = FromAnywhere(turn, job, views, std::move(pool));
    if (fallback.wait) return;
    Form(turn, job, std::move(fallback.pool), fallback.origin, true, views);
    return;
  }
  const Origin origin{Origin::Kind::kRank, best->step, best->attempt, "", ""};
  if (saves_first) {
    job.saved_before_stop = Form(turn, job, std::move(pool), origin, boundary, views);
    return;
  }
  Fill(pool, joiners, boundary ? std::max(MaxWorkers(job), handing_on) : MinWorkers(job));
  if (static_cast<int>(pool.size()) < MinWorkers(job) && !LeavesUnsaved(turn.state, job, pool)) {
    if (!boundary) ReleaseInterrupted(turn, job, pool);
    WaitForWorkers(turn, job, pool.size());
    return;
  }
  if (!Form(turn, job, std::move(pool), origin, boundary, views)) job.save_tried = save_tried;
}

}  // namespace rekindle::core
