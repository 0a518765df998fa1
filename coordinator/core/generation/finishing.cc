#include "coordinator/core/generation/finishing.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "coordinator/core/formation/ranges.h"
#include "coordinator/core/generation/announce.h"
#include "coordinator/core/generation/final_state_status.h"
#include "coordinator/core/members/candidates.h"
#include "coordinator/core/members/deaths.h"
#include "coordinator/core/members/last_holders.h"
#include "coordinator/core/members/shard_holders.h"
#include "coordinator/core/state/fault_kind.h"
#include "coordinator/core/state/job_end.h"
#include "coordinator/core/state/regroup.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

v1::JobRecord::Finishing* FinishingOf(Job& job) { return job.record.mutable_finishing(); }

std::vector<std::string> Stopped(const std::vector<MemberView>& views) {
  std::vector<std::string> ids;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kStopped) ids.push_back(view.member->trainer());
  }
  return ids;
}

// Releases a trainer that is not needed to keep the final state, so that its slot is free.
void LetGo(Turn& turn, Job& job, const std::string& trainer) {
  RecordRelease(turn, job, trainer,
                MustLeave(turn.state, job, trainer)
                    ? WhyItLeaves(turn.state, job, trainer)
                    : absl::StrCat("node ", NodeOf(trainer), " is not needed any more: others have the final state"));
}

// Chooses as few members as possible that have all of the final state together, preferably on nodes that stay.
std::vector<Candidate> ChooseHolders(const State& state, const Job& job, std::vector<Candidate> pool, int step) {
  std::erase_if(pool, [](const Candidate& candidate) { return !candidate.live; });
  const auto merit = [&](const Candidate& candidate) {
    const auto node = state.nodes.find(candidate.node);
    const bool hinted = node != state.nodes.end() && !node->second.record.hint().empty();
    const double limit = node != state.nodes.end() ? node->second.drain_deadline : kNever;
    return std::tuple(MustLeave(state, job, candidate.trainer), hinted, -limit, candidate.previous_rank);
  };
  std::stable_sort(pool.begin(), pool.end(), [&](const auto& a, const auto& b) { return merit(a) < merit(b); });
  for (size_t i = pool.size(); i-- > 0;) {
    std::vector<Candidate> rest = pool;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (HoldTogether(rest, step)) pool = std::move(rest);
  }
  return pool;
}

// Frees all slots of the job for others, except those of the members that hold the job's final state.
void FreeOtherSlots(const Turn& turn, const Job& job, const std::vector<Candidate>& holders) {
  for (auto& [name, node] : turn.state.nodes) {
    std::erase_if(node.slots, [&, &node_name = name](const auto& slot) {
      const std::string at = absl::StrCat(node_name, "/", slot.first);
      const auto is_there = [&](const Candidate& holder) { return ShortName(holder.trainer) == at; };
      return slot.second == job.record.job().uid() && std::none_of(holders.begin(), holders.end(), is_there);
    });
  }
  turn.Replan();
}

// Forms the generation that next tries to save the final state. In that generation each shard has only one holder,
// because fewer members may be left than trained. With two holders of each shard, a member would have to hold more of
// the optimizer's state than while it trained.
void FormToSave(Turn& turn, Job& job, std::vector<Candidate> pool, const std::vector<MemberView>& views) {
  const Candidate best = *FindBest(pool);
  const Origin origin{Origin::Kind::kRank, best.step, best.attempt, "", ""};
  const int micro_batches = MicroBatchesToSave(MicroBatches(job), static_cast<int>(pool.size()));
  v1::Membership next = BuildMembership(std::move(pool), origin, /*boundary=*/true, micro_batches, NextGeneration(job));
  next.set_finishing(true);
  AssignShards(turn.state, job, &next);
  for (v1::ShardHolders& shard : *next.mutable_shards()) shard.set_second(shard.first());
  Announce(turn, job, std::move(next), origin, views);
  ShowFinal(turn, job);
}

}  // namespace

bool IsFinalDurable(const Job& job, int step) {
  const v1::JobSpec::Checkpoint& checkpoint = SpecOf(job).checkpoint();
  const bool never = checkpoint.has_every_steps() && checkpoint.every_steps() == 0 && !checkpoint.has_every_seconds() &&
                     checkpoint.interval().empty();
  return never || checkpoint.store().empty() || job.record.job().status().checkpoint_step() >= step;
}

bool TakeFailedSave(Turn& turn, Job& job, const FinalState& final, const std::vector<MemberView>& views) {
  const bool news = !IsFinishing(job), was_active = job.active;
  if (!news && !was_active) return false;
  v1::JobRecord::Finishing* finishing = FinishingOf(job);
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  if (news) {
    status->set_step(final.step);
    job.completed_step = final.step;
    finishing->set_step(final.step);
    finishing->set_digest(final.digest);
    finishing->set_stop_reason(final.stop_reason);
    finishing->set_since(UnixNow(turn));
    finishing->set_spent_before(status->cost().spent());
    finishing->set_holders(final.members);
    // From now on the job needs only the nodes that hold its final state. So its earlier plans are dropped, and other
    // jobs get its other nodes.
    job.record.clear_halt();
    job.record.clear_units();
    job.wishes.units.clear();
    job.giving_up.clear();
  }
  finishing->set_error(SaveError(job, Stopped(views), kNoAnswer));
  finishing->set_tries(finishing->tries() + 1);
  finishing->set_next_try(UnixNow(turn) + PauseAfterSaves(finishing->tries()));
  turn.Save(job);
  if (was_active) OpenForming(turn, job, "waits for the next try to save the final state", /*failure=*/false);
  return was_active;
}

void PostponeFinal(const Turn& turn, Job& job) {
  // The last try to save the final state ended because its members lost each other. The pause before the next try is
  // short, because the members that are left may have to leave soon.
  constexpr double kLongest = 5;
  v1::JobRecord::Finishing* finishing = FinishingOf(job);
  finishing->set_tries(finishing->tries() + 1);
  finishing->set_next_try(UnixNow(turn) + std::min(kLongest, PauseAfterSaves(finishing->tries())));
  turn.Save(job);
}

void KeepFinal(Turn& turn, Job& job, std::vector<Candidate> pool, const std::vector<MemberView>& views) {
  v1::JobRecord::Finishing* finishing = FinishingOf(job);
  const std::vector<Candidate> holders = ChooseHolders(turn.state, job, pool, FindBest(pool)->step);
  // `takers` are trainers without the final state that can take it over from holders that must leave: first members of
  // the last generation that did not get the state in it, then joiners.
  std::vector<Candidate> takers;
  for (const Candidate& candidate : pool) {
    const auto is_it = [&](const Candidate& holder) { return holder.trainer == candidate.trainer; };
    if (std::any_of(holders.begin(), holders.end(), is_it)) continue;
    const bool could_take = !candidate.live && !MustLeave(turn.state, job, candidate.trainer);
    could_take ? takers.push_back(candidate) : LetGo(turn, job, candidate.trainer);
  }
  const bool news = finishing->told_at() == 0;
  if (news) FreeOtherSlots(turn, job, holders);
  if (finishing->holders() != static_cast<int>(holders.size())) turn.Save(job);
  finishing->set_holders(static_cast<int>(holders.size()));
  const auto must_leave = [&](const Candidate& holder) { return MustLeave(turn.state, job, holder.trainer); };
  // A generation may have no room for a taker of each leaving holder. The holders without one wait for the next try.
  const size_t leaving = std::min(static_cast<size_t>(std::count_if(holders.begin(), holders.end(), must_leave)),
                                  static_cast<size_t>(common::kMaxWorldSize) - holders.size());
  if (leaving > 0) Fill(takers, Joiners(turn, job), static_cast<int>(leaving));
  while (takers.size() > leaving) {
    LetGo(turn, job, takers.back().trainer);
    takers.pop_back();
  }
  if (news) TellOfFinal(turn, job, "all steps are made, but ");
  const double next_try = AtUnix(turn, finishing->next_try());
  if ((takers.empty() || job.regroup.forming.failure) && turn.now < next_try) {
    ShowFinal(turn, job);
    return turn.Wake(job, next_try);
  }
  std::vector<Candidate> all = holders;
  all.insert(all.end(), takers.begin(), takers.end());
  FormToSave(turn, job, std::move(all), views);
}

bool LoseFinal(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  double until = 0;
  std::vector<std::string> causes, released;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kLeftOut && turn.now < view.gone_at) until = std::max(until, view.gone_at);
    const bool gone = view.standing == Standing::kDead || view.standing == Standing::kLeftOut;
    if (gone) (FaultKindOf(view.kind) == FaultKind::kDrained ? released : causes).push_back(view.cause);
  }
  if (causes.empty()) causes = released;
  if (until > 0) {
    turn.Wake(job, until);
    return false;
  }
  const v1::JobRecord::Finishing finishing = job.record.finishing();
  job.record.clear_finishing();
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->clear_finishing();
  const std::string back = status->checkpoint_step() >= 0
                               ? absl::StrCat("the newest checkpoint, of step ", status->checkpoint_step())
                               : "its beginning";
  const std::string text = absl::StrCat("the final state, of step ", finishing.step(),
                                        ", is lost before it was durable: ", Bounded(JoinWords(causes), 1000),
                                        "; the job goes back to ", back);
  turn.Emit(&job, "final_state_lost", text);
  job.regroup.forming.SetReason(text);
  turn.Save(job);
  turn.Replan();
  SetState(turn, job, v1::PENDING, text);
  return true;
}

void WatchFinal(Turn& turn, Job& job) {
  if (!IsFinishing(job)) return;
  const v1::JobRecord::Finishing finishing = job.record.finishing();
  const double seconds = UnixNow(turn) - finishing.since();
  if (IsFinalDurable(job, finishing.step())) {
    v1::JobStatus* status = job.record.mutable_job()->mutable_status();
    status->set_state_digest(finishing.digest());
    status->set_step(finishing.step());
    return EndJob(turn, job, v1::SUCCEEDED, "succeeded",
                  absl::StrCat("the final checkpoint, of step ", finishing.step(), ", is durable in ",
                               WhereFinalGoes(job), " after ", Seconds(seconds), " and ", finishing.tries(),
                               finishing.tries() == 1 ? " try" : " tries", " that failed; state ", finishing.digest(),
                               finishing.stop_reason().empty() ? "" : "; ", finishing.stop_reason()));
  }
  if (finishing.told_at() > 0 && UnixNow(turn) >= finishing.told_at() + kTellSavesSeconds) {
    const v1::Cost& cost = job.record.job().status().cost();
    const std::string spent =
        cost.spent() > finishing.spent_before()
            ? absl::StrCat(", which has cost ", Money(cost.spent() - finishing.spent_before(), cost.currency()))
            : "";
    TellOfFinal(turn, job, absl::StrCat("for ", std::lround(seconds / kHour), " h now", spent, ": "));
  }
  if (job.record.job().status().has_finishing()) ShowFinal(turn, job);
}

void SaveFinalNow(Turn& turn, Job& job, const std::string& store) {
  v1::JobRecord::Finishing* finishing = FinishingOf(job);
  if (!store.empty()) {
    job.record.set_final_store(store);
    job.record.mutable_job()->mutable_status()->set_final_store(store);
    // The job's error tells why the earlier store could not take the final state. It says nothing about the new store,
    // so it is removed.
    finishing->clear_error();
    turn.Emit(&job, "final_store", absl::StrCat("the final checkpoint goes to ", store, ", as the user asked"));
  }
  finishing->set_next_try(UnixNow(turn));
  turn.Save(job);
  if (job.active && !store.empty()) {
    // The members have to end their present try to save, because it still waits for the earlier store.
    job.regroup.yielding = true;
    job.regroup.SetYieldReason("the final checkpoint goes elsewhere");
    job.regroup.yield_checkpoint = false;
  }
}

}  // namespace rekindle::core
