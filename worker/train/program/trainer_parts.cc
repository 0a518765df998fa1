#include "worker/train/program/trainer_parts.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "worker/comm/connect/host_communicator.h"
#include "worker/comm/connect/host_options.h"

namespace rekindle::train {
namespace {

// Delivers the batches of another source, but at most `most` validation micro-batches.
class CappedBatches final : public BatchSource {
 public:
  CappedBatches(std::unique_ptr<BatchSource> batches, int most) : batches_(std::move(batches)), most_(most) {}
  MicroBatch Train(int64_t step, int index) override { return batches_->Train(step, index); }
  void Expect(int64_t step, std::span<const int> indices) override { batches_->Expect(step, indices); }
  int64_t CheckedSample(int64_t step) const override { return batches_->CheckedSample(step); }
  MicroBatch Validation(int index) override { return batches_->Validation(index); }
  int validation_micro_batches() const override { return std::min(most_, batches_->validation_micro_batches()); }
  int64_t train_samples() const override { return batches_->train_samples(); }

 private:
  const std::unique_ptr<BatchSource> batches_;
  const int most_;
};

}  // namespace

absl::StatusOr<data::OpenedData> OpenJobData(const Flags& flags, JobRuntime& runtime, const TrainerJob& job) {
  auto opened = runtime.OpenData(flags, job);
  if (!opened.ok()) return opened.status();
  opened->batches = std::make_unique<CappedBatches>(std::move(opened->batches), job.spec.evaluate_micro_batches);
  return opened;
}

absl::Status ResizableBatches::Resize(int micro_batch) {
  TrainSpec& spec = job_.spec;
  if (spec.micro_batch % micro_batch != 0) {
    return absl::InternalError("micro-batches of " + std::to_string(spec.micro_batch) + " cannot be cut into " +
                               std::to_string(micro_batch));
  }
  spec.evaluate_micro_batches *= spec.micro_batch / micro_batch;
  spec.micro_batch = micro_batch;
  auto opened = OpenJobData(flags_, runtime_, job_);
  if (!opened.ok()) return opened.status();
  batches_ = std::move(opened->batches);
  return absl::OkStatus();
}

Connect ConnectOver(comm::Listener& listener, const Model& model) {
  return [&listener, &model](const Membership& membership, int rank, const comm::Deadlines& deadlines,
                             OnCommunicatorError on_error, const std::function<bool()>& cancelled,
                             std::vector<comm::Accusation>* accused) {
    comm::HostOptions options;
    options.generation = membership.generation;
    options.rank = rank;
    options.membership = membership.digest;
    for (const Member& member : membership.members) options.peers.push_back({member.address, member.host});
    options.deadlines = deadlines;
    options.on_error = std::move(on_error);
    options.held_up = [&model] { return model.IsHeldUp(); };
    return comm::ConnectHost(listener, std::move(options), cancelled, accused);
  };
}

}  // namespace rekindle::train
