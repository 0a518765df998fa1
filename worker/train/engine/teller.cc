#include "worker/train/engine/teller.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/log/log.h"
#include "worker/contract/user_lines.h"
#include "worker/train/engine/speed_text.h"

namespace rekindle::train {
void Teller::Introduce(const Introduction& introduction) {
  reporter_.Update(
      [&](Report& r) {
        r.data_fingerprint = introduction.data_fingerprint;
        r.probe_digest = introduction.probe_digest;
        r.unigram_bits_per_byte = introduction.unigram_bits_per_byte;
        r.epoch_steps = introduction.epoch_steps;
        r.micro_batch = introduction.micro_batch;
        r.micro_batch_reason = introduction.micro_batch_reason;
        r.micro_batch_search_seconds = introduction.micro_batch_search_seconds;
        r.device = introduction.device;
      },
      false);
}

void Teller::Ready() {
  reporter_.Update([](Report& r) { r.phase = Phase::kReady; }, true);
  timeline_.Mark("ready", 0, 0, 0);
}

void Teller::StoreUnseen() {
  reporter_.Update([](Report& r) { r.store_unseen = true; }, false);
}

void Teller::NcclFailed(bool failed) {
  reporter_.Update(
      [failed](Report& r) {
        if (r.device) r.device->nccl_failed = failed;
      },
      false);
}

void Teller::LeftNccl() {
  reporter_.Update([](Report& r) { r.device->nccl_left = true; }, true);
}

void Teller::Stalled(double seconds) {
  metrics_.Update([&](TrainerMetrics& m) { m.stall_seconds += seconds; });
}

void Teller::MicroBatchIs(int micro_batch) {
  reporter_.Update(
      [&](Report& r) {
        r.micro_batch = micro_batch;
        r.out_of_memory.clear();
      },
      false);
}

void Teller::Connected(int rank, int generation, double seconds) {
  metrics_.Update([&](TrainerMetrics& m) {
    m.rank = rank;
    m.generation = generation;
    m.stall_seconds += seconds;
  });
}

void Teller::OutOfMemory(const absl::Status& status, int micro_batch) {
  log::Warning("out of memory in a step", {{"error", std::string(status.message())}, {"micro_batch", micro_batch}});
  reporter_.Update([&](Report& r) { r.out_of_memory = std::string(status.message()); }, true);
}

void Teller::Note(const std::string& text) {
  reporter_.Update([&](Report& r) { r.note = NoteOf(text); }, true);
}

void Teller::Failed(const absl::Status& status) {
  log::Error("this trainer cannot go on", {{"error", std::string(status.message())}});
  reporter_.Update(
      [&](Report& r) {
        r.phase = Phase::kFailed;
        r.error = std::string(status.message());
        r.traceback = TracebackOf(status);
        r.error_is_jobs_fault = absl::IsInvalidArgument(status);
      },
      true);
}

void Teller::Works(bool works) {
  metrics_.Update([&](TrainerMetrics& m) { m.works = works; });
}

void Teller::Stands(const Moment& moment, double lease_seconds, bool may_spend) {
  log::Warning(
      may_spend ? "nothing was heard of the coordinator: all ranks stand still until it is back"
                : "the job may spend no more without word of the coordinator: all ranks stand still until it is back",
      {{"lease_seconds", lease_seconds}, {"step", static_cast<long long>(moment.step)}});
  timeline_.Mark("standing", moment.generation, moment.step, moment.world_size);
}

void Teller::Restored(const Moment& moment, const std::string& name, const checkpoint::Restored& restored) {
  std::string text = absl::StrCat("restored ", name, restored.exact ? "" : " (16 bits a value)", ": ");
  const char* separator = "";
  for (const auto& [tier, bytes] : restored.bytes_from) {
    absl::StrAppend(&text, separator, bytes, " bytes from ", tier == "peer" ? "peers' memory" : tier);
    separator = ", ";
  }
  log::Info(text);
  reporter_.Update([&](Report& r) { r.restored = text; }, false);
  timeline_.Mark("restored", moment.generation, moment.step, moment.world_size);
}

void Teller::NotRestored(const std::string& name, const absl::Status& status) {
  log::Warning("could not restore", {{"checkpoint", name}, {"error", std::string(status.message())}});
  reporter_.Update([](Report& r) { r.has_state = false; }, false);
}

void Teller::CheckpointBegan(const Moment& moment) {
  timeline_.Mark("checkpoint", moment.generation, moment.step, moment.world_size);
}

void Teller::KeepsFinalState(bool keeps) {
  metrics_.Update([&](TrainerMetrics& m) { m.keeps_final_state = keeps; });
}

void Teller::Finished(int64_t step, const std::string& digest, const std::string& stop_reason) {
  reporter_.Update(
      [&](Report& r) {
        r.state_digest = digest;
        r.stop_reason = stop_reason;
        r.completed_step = step;
      },
      false);
}

void Teller::WaitedForCopy(double seconds) {
  metrics_.Update([&](TrainerMetrics& m) { m.checkpoint_stall_seconds += seconds; });
}

void Teller::Prepared(double seconds) {
  metrics_.Update([&](TrainerMetrics& m) { m.reduce_seconds += seconds; });
}

void Teller::Applied(double seconds) {
  metrics_.Update([&](TrainerMetrics& m) { m.optimizer_seconds += seconds; });
}

void Teller::Step(const StepFacts& facts) {
  const double loss = facts.outcome.record.MeanLoss();
  const auto tokens = static_cast<double>(facts.outcome.record.tokens);
  const double step_seconds = facts.times.step_seconds();
  const int64_t step = facts.scalars.step;
  Evaluation(facts.outcome.evaluation);
  control_.AddLoss({step, loss});
  reporter_.Update(
      [&](Report& r) {
        // The exchange of a step shows that every rank has applied the step before, so only that one is reported as
        // completed.
        r.completed_step = step - 1;
        r.loss = loss;
        if (facts.learning_rate) r.learning_rate = *facts.learning_rate;
        r.loss_scale = std::ldexp(1.0, facts.scalars.loss_scale.log2);
        r.skipped_steps = facts.scalars.loss_scale.skipped;
        r.micro_batch_seconds = facts.micro_batch_seconds;
        r.step_seconds = step_seconds;
        r.step_seconds_p99 = facts.times.step_seconds_p99();
        r.tokens_per_second = step_seconds > 0 ? tokens / step_seconds : 0;
      },
      false);
  metrics_.Update([&](TrainerMetrics& m) {
    m.steps += 1;
    m.tokens += tokens;
    m.step_seconds = step_seconds;
    if (facts.redone) m.micro_batches_redone += facts.computed;
  });
  timeline_.Mark("step", facts.moment.generation, step, facts.moment.world_size, facts.computed);
}

void Teller::Evaluation(const StepRecord& evaluation) {
  if (evaluation.micro_batches == 0) return;
  reporter_.Update([&](Report& r) { r.validation = {evaluation.step, evaluation.MeanLoss()}; }, false);
}

void Teller::Lever(LeverNote note) {
  log::Info(note.text, {{"lever", note.lever}, {"step", static_cast<long long>(note.step)}});
  reporter_.Update([&](Report& r) { r.levers[note.lever] = note; }, false);
}

void Teller::SmallerReduce(const Moment& moment, int64_t elements) {
  // A ring all-reduce over N ranks sends each element 2 (N - 1) times, counted over all ranks.
  const double bytes = 2.0 * (moment.world_size - 1) * static_cast<double>(elements) * sizeof(uint16_t);
  Lever(
      {.lever = "reduce",
       .step = moment.step,
       .text = absl::StrFormat("reduce bf16: all ranks together send %.3g MB less a step than with fp32", bytes / 1e6),
       .bytes_saved = bytes});
}

void Teller::ShareIs(int micro_batches) {
  metrics_.Update([&](TrainerMetrics& m) { m.micro_batches = micro_batches; });
}

void Teller::Recut(int64_t step, const Membership& membership, const StepRanges& ranges, const StepRanges::Recut& recut,
                   int micro_batches) {
  ranges_.step = step + 1;
  ranges_.text = DescribeRecut(membership, ranges, recut, micro_batches);
  Lever(ranges_);
}

void Teller::AllSavedByRanges(int64_t step) {
  if (ranges_.text.empty()) return;
  LeverNote note = ranges_;
  note.step = step;
  note.text = absl::StrCat("ranges by measured speed, beside equal ones: the slowest rank computed ",
                           absl::StrFormat("%.3g s", note.seconds_saved), " less in all");
  Lever(std::move(note));
}

void Teller::SlowAt(const Membership& membership, int rank, const Straggling& straggling) {
  const std::string cause = CauseName(straggling.cause);
  if (cause == reporter_.Snapshot().straggler_cause) return;
  const std::string text = DescribeStraggler(membership, rank, straggling);
  if (!text.empty()) log::Warning(text);
  reporter_.Update(
      [&](Report& r) {
        r.straggler_cause = cause;
        r.straggler = text;
      },
      false);
}

}  // namespace rekindle::train
