// Holds the parts that a trainer and its trials of micro-batch sizes have in common.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_TRAINER_PARTS_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_TRAINER_PARTS_H_

#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/comm/connect/listener.h"
#include "worker/data/kinds/data_spec.h"
#include "worker/train/engine/engine.h"
#include "worker/train/program/job_runtime.h"
#include "worker/train/sessions/job_file.h"

namespace rekindle::train {

// Opens the job's data, with at most as many validation micro-batches as its spec says.
absl::StatusOr<data::OpenedData> OpenJobData(const Flags& flags, JobRuntime& runtime, const TrainerJob& job);

// Delivers a job's batches, and cuts them into another micro-batch size on request. An evaluation goes on reading the
// same samples.
class ResizableBatches final : public BatchSource {
 public:
  // `job`, `flags` and `runtime` must outlive the ResizableBatches. Resize() also changes the micro-batch size in the
  // job's spec.
  ResizableBatches(TrainerJob& job, const Flags& flags, JobRuntime& runtime, std::unique_ptr<BatchSource> batches)
      : job_(job), flags_(flags), runtime_(runtime), batches_(std::move(batches)) {}
  MicroBatch Train(int64_t step, int index) override { return batches_->Train(step, index); }
  void Expect(int64_t step, std::span<const int> indices) override { batches_->Expect(step, indices); }
  int64_t CheckedSample(int64_t step) const override { return batches_->CheckedSample(step); }
  MicroBatch Validation(int index) override { return batches_->Validation(index); }
  int validation_micro_batches() const override { return batches_->validation_micro_batches(); }
  int64_t train_samples() const override { return batches_->train_samples(); }
  absl::Status Resize(int micro_batch);

 private:
  TrainerJob& job_;
  const Flags& flags_;
  JobRuntime& runtime_;
  std::unique_ptr<BatchSource> batches_;
};

// Returns a function that connects ranks over `listener`. Peers hear whether `model` is held up. Both arguments must
// outlive all communicators that the function makes.
Connect ConnectOver(comm::Listener& listener, const Model& model);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_TRAINER_PARTS_H_
