#include "coordinator/core/record/record_age.h"

#include <algorithm>
#include <utility>
#include <vector>
#include "absl/strings/str_cat.h"

namespace rekindle::core {

void NoteAhead(Job& job, const v1::TrainerReport& report) {
  // A trainer that waits to join is in no generation, whatever generation it was in last.
  const bool is_in_one = report.phase() != v1::TRAINER_READY && report.phase() != v1::TRAINER_STARTING;
  // A reported generation is over where the store knows a later one, so it does not count then.
  const bool is_above = report.generation() > job.record.membership().generation() &&
                        report.generation() >= job.record.store_generation();
  if (job.ahead.empty()) job.ahead_since = kNever;
  if (is_in_one && is_above && job.past.count(report.trainer()) == 0) {
    job.ahead.insert(report.trainer());
  } else {
    job.ahead.erase(report.trainer());
  }
}

bool IsBehind(const Job& job) { return (!job.ahead.empty() || AwaitsOld(job)) && !IsOver(job); }

bool MustTell(const Job& job, const std::string& trainer) { return IsBehind(job) && job.ahead.count(trainer) > 0; }

bool AwaitsOld(const Job& job) { return job.record.has_recovered(); }

void ForgetOld(const Turn& turn, Job& job) {
  if (!AwaitsOld(job)) return;
  job.record.clear_recovered();
  turn.Save(job);
}

}  // namespace rekindle::core
