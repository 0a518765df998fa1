#include "coordinator/core/record/store_search.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/record/stored_record.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr int64_t kLooksOfAnEpoch = 1 << 20;
// Trainers that have found less in the store than they should look again after this time, in seconds.
constexpr double kLookAgainSeconds = 10;

bool SeesWhatIsKnown(const Job& job, const v1::TrainerReport& report) {
  const v1::Checkpointed& known = job.record.checkpoint();
  if (known.manifest().empty()) return job.record.store_generation() == 0 || report.store_generation() > 0;
  if (!report.restorable().manifest().empty() && report.restorable().step() >= known.step()) return true;
  return std::any_of(report.damaged().begin(), report.damaged().end(),
                     [&](const auto& damaged) { return damaged.checkpoint().manifest() == known.manifest(); });
}

bool MadeStep(const Job& job, const v1::TrainerReport& before, const v1::TrainerReport& report) {
  const int newest = job.record.membership().generation();
  return job.active && newest > 0 && before.generation() == newest && report.generation() == newest &&
         report.completed_step() > before.completed_step();
}

}  // namespace

void AskToLook(const Turn& turn, Job& job) {
  if (IsOver(job) || SpecOf(job).checkpoint().store().empty()) return;
  job.record.set_look(std::max(job.record.look(), turn.state.epoch.number * kLooksOfAnEpoch) + 1);
  job.record.set_must_look(true);
  job.look_again_at = turn.now + kLookAgainSeconds;
  turn.Save(job);
}

void NoteLook(Turn& turn, Job& job, const v1::TrainerReport& before, const v1::TrainerReport& report) {
  if (!MustLook(job)) return;
  const bool has_looked = report.looked() >= job.record.look() && SeesWhatIsKnown(job, report);
  if (has_looked && EndAsStored(turn, job, report.stored_job_file())) return;
  if (has_looked || MadeStep(job, before, report)) NeedNotLook(turn, job);
}

void NeedNotLook(const Turn& turn, Job& job) {
  job.record.set_must_look(false);
  turn.Save(job);
}

bool MustLook(const Job& job) { return job.record.must_look() && !IsFinishing(job); }

void AwaitLook(const Turn& turn, Job& job) {
  std::string trouble;
  bool finds_less = false;
  for (const auto& [id, trainer] : job.trainers) {
    if (!trainer.reported || !trainer.death.empty()) continue;
    const v1::TrainerReport& report = trainer.report;
    if (!report.checkpoint_error().empty()) {
      trouble = absl::StrCat("; ", ShortName(id), ": ", Bounded(report.checkpoint_error(), 200));
    } else if (report.looked() >= job.record.look() - 1) {
      // It has looked for this time or for the one before, and looks again.
      finds_less = true;
      trouble = absl::StrCat("; ", ShortName(id), " finds less there than the records know of: is it mounted?");
    }
  }
  // The store may be mounted by then.
  if (finds_less && turn.now >= job.look_again_at) AskToLook(turn, job);
  if (finds_less) turn.Wake(job, job.look_again_at);
  SetState(turn, job, v1::PENDING,
           absl::StrCat("looks into ", SpecOf(job).checkpoint().store(),
                        " first: more may have been saved there than the records and the workers know of", trouble));
}

}  // namespace rekindle::core
