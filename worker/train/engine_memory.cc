// When a step does not fit the memory: its micro-batches get smaller, and the state stays where it is.
#include <malloc.h>

#include "common/log.h"
#include "worker/train/engine.h"
#include "worker/train/out_of_memory.h"

namespace rekindle::train {

// What a model says or throws while it computes has left the state alone: nothing of a step is applied before all of it
// is reduced. Its half-finished micro-batch is forgotten with all others.
absl::Status Engine::Computed(const std::function<absl::Status()>& compute) {
  absl::Status status;
  try {
    status = compute();
  } catch (const std::exception& error) {
    status = FromException(error);
    steps_.Forget();
  }
  out_of_memory_ = absl::IsResourceExhausted(status);
  if (out_of_memory_) steps_.Forget();
  return status;
}

// REQUIRES: the communicator was aborted, so that nobody reads what was to be reduced.
void Engine::InterruptForMemory(const Membership& membership, const absl::Status& status) {
  log::Warning("out of memory in a step",
               {{"error", std::string(status.message())}, {"micro_batch", options_.spec.micro_batch}});
  reporter_.Update([&](Report& r) { r.out_of_memory = std::string(status.message()); }, true);
  reporter_.Interrupt(membership.generation, membership, status, {});
}

// The size of the generation that begins. What is held of a step was cut otherwise.
absl::Status Engine::TakeMicroBatch(int micro_batch) {
  out_of_memory_ = false;
  if (micro_batch > 0 && micro_batch != options_.spec.micro_batch) {
    if (!parts_.resize_batches) return absl::FailedPreconditionError("this trainer cannot change its micro-batch size");
    if (absl::Status status = parts_.resize_batches(micro_batch); !status.ok()) return status;
    log::Info("micro-batch size changes", {{"from", options_.spec.micro_batch}, {"to", micro_batch}});
    options_.spec.micro_batch = micro_batch;
    steps_.Resize();
    malloc_trim(0);  // What the larger ones have left is kept in pieces that the smaller ones may not fit into.
  }
  reporter_.Update(
      [&](Report& r) {
        r.micro_batch = options_.spec.micro_batch;
        r.out_of_memory.clear();
      },
      false);
  return absl::OkStatus();
}

}  // namespace rekindle::train
