#include "coordinator/core/generation/leaving.h"

#include <algorithm>
#include <string>

#include "common/spec/spec_words.h"
#include "coordinator/core/members/deaths.h"
#include "coordinator/core/members/last_holders.h"

namespace rekindle::core {
namespace {

// HandingOn plans how the state is handed on when all members that have it must leave. For one generation those that
// leave and those that take the state over run together, even if the job's highest number of workers is lower.
struct HandingOn {
  // `keep` is how many of those that must leave stay to hand the state on. It is 0 where nobody can take the state
  // over, or where a generation cannot have enough ranks for those that leave and those that take over.
  int keep = 0;
  int members = 0;
};
HandingOn PlanHandingOn(const Job& job, const std::vector<Candidate>& pool, int joiners) {
  // Where the optimizer's state is in shards, each member has a part that others lack.
  const std::string& state = SpecOf(job).training().optimizer_state();
  const bool sharded = common::OptimizerStateOf(state) == common::OptimizerState::kSharded;
  const int least = sharded ? static_cast<int>(pool.size()) : 1;
  if (joiners == 0 || least >= MostRanks(job)) return {};
  joiners = std::min(joiners, MaxWorkers(job));
  const int members = std::min(MostRanks(job), std::max(MaxWorkers(job), least + joiners));
  return {std::max(least, members - joiners), members};
}

// Releases all candidates that must leave, except for `keep` of them. The one with the best state is released last.
void LetGo(const Turn& turn, Job& job, std::vector<Candidate>& pool, int keep) {
  const Candidate* best = FindBest(pool);
  const std::string last = keep > 0 && best != nullptr ? best->trainer : "";
  if (!last.empty()) --keep;
  std::erase_if(pool, [&](const Candidate& candidate) {
    if (candidate.trainer == last || !MustLeave(turn.state, job, candidate.trainer)) return false;
    if (keep-- > 0) return false;
    RecordRelease(turn, job, candidate.trainer, WhyItLeaves(turn.state, job, candidate.trainer));
    return true;
  });
}

}  // namespace

void ReleaseWaiting(const Turn& turn, Job& job, std::vector<Candidate>& pool) {
  if (StaysWithOthers(turn.state, job, pool) || IsSaved(job, pool)) LetGo(turn, job, pool, 0);
}

void ReleaseUseless(const Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate>& pool) {
  const bool may_return =
      std::any_of(views.begin(), views.end(), [&](const MemberView& view) { return MayReturn(view, turn.now); });
  if (!may_return) LetGo(turn, job, pool, 0);
}

int ReleaseDraining(Turn& turn, Job& job, std::vector<Candidate>& pool, int joiners) {
  const std::vector<Candidate> staying = WithoutLeaving(turn.state, job, pool);
  const bool others_live = FindBest(staying) != nullptr;
  const HandingOn handing = staying.empty() ? PlanHandingOn(job, pool, joiners) : HandingOn();
  const bool others = handing.keep > 0 || !staying.empty();
  if (others) ForgetSaves(job);
  if (!others_live && others) {
    // The members that must leave stay for one more generation, in which they hand the state on.
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

}  // namespace rekindle::core
