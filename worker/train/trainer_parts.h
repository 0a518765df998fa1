// Parts of a trainer that its trials of micro-batch sizes have in common with it.
#ifndef REKINDLE_WORKER_TRAIN_TRAINER_PARTS_H_
#define REKINDLE_WORKER_TRAIN_TRAINER_PARTS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/comm/host_communicator.h"
#include "worker/data/open_data.h"
#include "worker/train/engine.h"
#include "worker/train/job_file.h"

namespace rekindle::train {

// The job's data, with at most as many validation micro-batches as its spec says. `dir`: the node's folder.
absl::StatusOr<data::OpenedData> OpenJobData(const TrainerJob& job, const std::string& dir);

// The same, cut into another size of micro-batch when asked to: an evaluation goes on reading the same samples.
class ResizableBatches final : public BatchSource {
 public:
  // `job` outlives it, and follows the size.
  ResizableBatches(TrainerJob& job, std::string dir, std::unique_ptr<BatchSource> batches)
      : job_(job), dir_(std::move(dir)), batches_(std::move(batches)) {}
  MicroBatch Train(int64_t step, int index) override { return batches_->Train(step, index); }
  MicroBatch Validation(int index) override { return batches_->Validation(index); }
  int validation_micro_batches() const override { return batches_->validation_micro_batches(); }
  int64_t train_samples() const override { return batches_->train_samples(); }
  absl::Status Resize(int micro_batch);

 private:
  TrainerJob& job_;
  const std::string dir_;
  std::unique_ptr<BatchSource> batches_;
};

// `listener` outlives all that it connects.
Connect ConnectOver(comm::Listener& listener);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TRAINER_PARTS_H_
