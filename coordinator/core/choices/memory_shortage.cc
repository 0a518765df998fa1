#include "coordinator/core/choices/memory_shortage.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/spec/spec_words.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/choices/trainer_notes.h"
#include "coordinator/core/state/job_end.h"
#include "coordinator/core/state/own_code.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr int kMaxEvaluated = 65536;

int SmallestFactor(int size) {
  for (int64_t factor = 2; factor * factor <= size; ++factor) {
    if (size % factor == 0) return static_cast<int>(factor);
  }
  return size;
}

}  // namespace

bool SizeHasChanged(const Job& job) {
  const int of_members = job.record.membership().micro_batch();
  return of_members > 0 && of_members != SpecOf(job).training().micro_batch();
}

void ScaleMicroBatch(Job& job, int now) {
  v1::JobSpec::Training* training = MutableSpec(job)->mutable_training();
  const int factor = training->micro_batch() / now;
  training->set_micro_batch(now);
  // An evaluation gets more micro-batches, as they are smaller now, so that it reads the same samples as before.
  training->set_evaluate_micro_batches(std::min(kMaxEvaluated, training->evaluate_micro_batches() * factor));
  job.record.clear_probe_digest();
  job.record.mutable_micro_batch_search()->clear_memory_bytes();
}

void TakeMemoryShortage(Turn& turn, Job& job, const v1::TrainerReport& report) {
  if (!report.out_of_memory().empty()) HalveMicroBatch(turn, job, report.trainer(), Bounded(report.out_of_memory()));
}

void HalveMicroBatch(Turn& turn, Job& job, const std::string& id, const std::string& how) {
  const Trainer* trainer = FindTrainer(job, id);
  const int before = SpecOf(job).training().micro_batch();
  if (IsOver(job) || trainer == nullptr || before <= 1 || trainer->report.micro_batch() != before) return;
  const int factor = SmallestFactor(before);
  const int now = before / factor;
  const int step = job.record.job().status().step();
  const std::string what = absl::StrCat("trainer ", ShortName(id), " ran out of memory (", how, ")");
  if (common::ReduceOf(SpecOf(job).training().reduce()) == common::Reduce::kExact && step > 0) {
    return EndJob(
        turn, job, v1::FAILED, "failed",
        absl::StrCat(what, " with micro_batch ", before, " after step ", step,
                     "; with reduce exact it is part of the result and is not changed: submit the job again "
                     "with training.micro_batch ",
                     now, TrainsOwnModel(SpecOf(job)) ? "" : " or auto, or with training.activations recompute"));
  }
  ScaleMicroBatch(job, now);
  const v1::JobSpec::Training* training = &SpecOf(job).training();
  // A later job may take over the size that this job's search has found. It must not run out of memory as well, so the
  // smaller size replaces the found one.
  v1::MicroBatchSearch* search = job.record.mutable_micro_batch_search();
  if (search->micro_batch() > 0) {
    search->set_micro_batch(now);
    search->set_reason(absl::StrCat(before, " ran out of memory at step ", step));
  }
  v1::LeverStatus lever;
  lever.set_lever(kMicroBatchLever);
  lever.set_step(step);
  lever.set_text(absl::StrCat("micro_batch goes from ", before, " to ", now, " after step ", step,
                              ", global_batch stays ", training->global_batch(), ": ", what));
  RememberNote(turn, job, lever, NodeOf(id));
  turn.Changed(job);
}

}  // namespace rekindle::core
