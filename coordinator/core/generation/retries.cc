#include "coordinator/core/generation/retries.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/choices/memory_shortage.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/stopping/halting.h"

namespace rekindle::core {
namespace {

// The first wait before a retry is the shortest, and each one is twice as long as the one before.
constexpr double kShortestSeconds = 0.1;
constexpr double kLongestSeconds = 30;

// Returns whether the membership `next` is a retry. A generation with smaller micro-batches, after a trainer ran out of
// memory, is no retry. State of a later step proves that a step was completed, even if nobody has said so.
bool IsRetry(const Job& job, const v1::Membership& next) {
  const v1::Membership& last = job.record.membership();
  if (last.members_size() != next.members_size() || SizeHasChanged(job)) return false;
  if (std::max(job.record.job().status().step(), next.step()) > last.step()) return false;
  return std::all_of(next.members().begin(), next.members().end(),
                     [&](const v1::Member& member) { return FindMember(job, member.trainer()) != nullptr; });
}

// Returns how the interrupted members explain their interruption, or else why the generation was ended.
std::string WhatTheySay(const Job& job) {
  constexpr size_t kFew = 3;
  std::vector<std::string> words;
  for (const v1::Member& member : job.record.membership().members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr || trainer->report.phase() != v1::TRAINER_INTERRUPTED || words.size() >= kFew) continue;
    if (trainer->report.generation() != job.record.membership().generation()) continue;
    words.push_back(DescribeInterruption(*trainer));
  }
  return words.empty() ? job.regroup.forming.reason : Bounded(JoinWords(words), 1000);
}

std::string SameMembers(const Job& job) {
  const int count = job.record.membership().members_size();
  return count == 1 ? "the same member" : absl::StrCat("the same ", count, " members");
}

void Stop(Turn& turn, Job& job) {
  const std::string& name = job.record.job().name();
  job.record.set_retries_stop(absl::StrCat(kMostFruitless, " generations in a row of ", SameMembers(job),
                                           " ended without a step: ", WhatTheySay(job),
                                           "; mend that, then `rekindle resume ", name, "`"));
  job.record.set_want_paused(true);
  turn.Save(job);
  SetStopped(turn, job, v1::PAUSED);
  turn.Emit(&job, "retries_stop", absl::StrCat("the job is paused: ", job.record.retries_stop()));
  turn.Emit(&job, "nodes_released", absl::StrCat("the job gave its nodes up; ", DescribeLoss(job)));
  ReleaseNodes(turn, job, absl::StrCat("was given up: ", kMostFruitless, " generations in a row ended without a step"));
}

}  // namespace

bool MayForm(Turn& turn, Job& job, const v1::Membership& next) {
  if (!IsRetry(job, next)) {
    job.record.clear_retries();
    return true;
  }
  const int fruitless = job.record.retries() + 1;
  if (fruitless >= kMostFruitless) {
    Stop(turn, job);
    return false;
  }
  const double seconds = std::min(kLongestSeconds, kShortestSeconds * std::exp2(job.record.retries()));
  if (const double until = job.regroup.forming.since + seconds; turn.now < until) {
    turn.Wake(job, until);
    const std::string waits = absl::StrCat("waits ", Seconds(seconds), " before the next generation of ",
                                           SameMembers(job), " (", fruitless, " in a row ended without a step, after ",
                                           kMostFruitless, " the job is paused): ", WhatTheySay(job));
    SetState(turn, job, v1::PENDING, MustStop(job) ? DescribeStopping(job) : waits);
    return false;
  }
  job.record.set_retries(fruitless);
  return true;
}

void ForgetRetries(v1::JobRecord& record) {
  record.clear_retries();
  record.clear_retries_stop();
}

}  // namespace rekindle::core
