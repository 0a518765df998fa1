// Keeps a model process at work: asks it, watches it, and puts another one in its place.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_PROCESS_KEEPER_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_PROCESS_KEEPER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/own_model/model/gradient_slots.h"
#include "worker/own_model/model/own_model_parts.h"

namespace rekindle::own_model {

// What the process is asked.
struct Question {
  // `send` sends the question.
  std::function<absl::Status()> send;
  // `take` takes a message of the answer, and returns whether it was the last one. It returns INVALID_ARGUMENT if the
  // message breaks the rules.
  std::function<absl::StatusOr<bool>(const Message&)> take;
  // With `work` the time of the answer is one of those by which a frozen process is known.
  std::optional<FrozenWatch::Work> work = std::nullopt;
  // `is_wanted` says that the answer is waited for although nobody wants it.
  bool is_wanted = false;
};

// ProcessKeeper is thread-compatible.
class ProcessKeeper {
 public:
  // Starts the first process. Returns the errors of ModelProcess::Start() and of Admit(), and RESOURCE_EXHAUSTED if
  // there is no room.
  static absl::StatusOr<std::unique_ptr<ProcessKeeper>> Create(const OwnModelParts& parts);

  const Description& description() const { return description_; }
  const common::ProcessIdentity& process() const { return process_->identity(); }
  Channel& channel() { return process_->channel(); }
  // REQUIRES: HasProcess().
  const std::shared_ptr<const GradientSlots>& slots() const { return slots_; }
  // Returns whether there is a process. If not, the one before was ended and not replaced.
  bool HasProcess() const { return !is_gone_; }
  // Returns whether the process was ended because somebody else has killed it, as the system does where memory runs
  // out.
  bool WasKilled() const { return was_killed_; }
  // Returns whether the process has got weights, so that it has its initial values no more.
  bool HasWeights() const { return shared_.has_value(); }

  // Asks the process, and waits until it has answered. Returns
  // - CANCELLED if the trainer ends, or if nobody wants the answer any more. The process is ended then, so that what it
  //   still says is not taken for the answer to a later question.
  // - UNAVAILABLE if there is no process, or if it has ended or is frozen. It is ended then.
  // - DATA_LOSS if it has sent what does not belong there. It is ended then.
  // - INVALID_ARGUMENT or RESOURCE_EXHAUSTED, with the lines of the user's code, if it says that it has failed.
  // - the error of `send` if that is another one.
  absl::Status Ask(const Question& question);
  // Says that the process is replaced, holds up the rank, and calls Renew().
  absl::Status Replace(const std::string& why);
  // Starts another process in place of the present one, which is killed. Returns UNAVAILABLE if the new one ends at
  // once, too, CANCELLED like Ask(), and INVALID_ARGUMENT if its task fails or makes another module.
  absl::Status Renew();
  // Ends a call, so that the rank is not held up any more and the note is taken back.
  void EndCall();

  // Gives the process the weights, unless it has them. Returns FAILED_PRECONDITION if they are in memory that cannot be
  // shared.
  absl::Status ShareWeights(const float* weights);
  // Tells the process which micro-batches come next. A process that takes its place is told, too.
  void Expect(int64_t step, std::span<const Samples> micro_batches);
  // Notes that a micro-batch that was expected is over.
  void Over(int32_t index);

  // Returns whether the same bits are promised whatever happens.
  bool IsExact() const { return parts_.job.exact; }

  // The functions from here on may be called by any thread.
  bool IsHeldUp() const { return held_up_; }
  void SetUnwanted(bool unwanted) { unwanted_ = unwanted; }

 private:
  ProcessKeeper(OwnModelParts parts, Description description, std::unique_ptr<ModelProcess> process,
                GradientSlots slots);

  // Takes a message of the process, and returns whether the answer is complete.
  absl::StatusOr<bool> Hear(const Message& message, const Question& question);
  // Ends the process if it cannot be used any more after `error`, and returns the error of Ask(). `is_closed` says that
  // it has closed its socket, and so ends by itself.
  absl::Status AfterError(const absl::Status& error, bool is_closed);
  // Returns CANCELLED, and ends the process, if the present call has to end. Also notes that a call that has begun at
  // `begun` holds up the rank if it takes long.
  absl::Status CheckGoesOn(double begun, bool is_wanted);
  // Returns UNAVAILABLE if the process is frozen, and asks it for a sign of life otherwise, unless it has still to give
  // one. Does nothing if it did so a short time ago.
  absl::Status LookAtProcess();
  void Note(const std::string& text);
  // Sends what is expected and was not computed yet.
  void SendExpected();

  const OwnModelParts parts_;
  const Description description_;
  std::unique_ptr<ModelProcess> process_;
  // Each process has slots of its own, because what the one before has left behind may write into those that it had.
  std::shared_ptr<const GradientSlots> slots_;
  FrozenWatch watch_;
  // `shared_` is what the process knows of the weights: the number of their memory, and their place in it.
  std::optional<std::pair<uint64_t, uint64_t>> shared_;
  double looked_at_ = 0;
  double noted_at_ = 0;
  uint64_t pings_ = 0;
  // `expected_` has the micro-batches of step `expected_step_` that were announced and not computed yet.
  int64_t expected_step_ = 0;
  std::vector<Samples> expected_;
  std::atomic<bool> held_up_ = false;
  std::atomic<bool> unwanted_ = false;
  // `takes_part_` says that the rank has begun to make steps, so that other ranks wait for its process.
  bool takes_part_ = false;
  // `is_replacing_` says that the present call replaces the process, or has replaced it.
  bool is_replacing_ = false;
  // `has_noted_` says that the note of the present call says something.
  bool has_noted_ = false;
  // `is_gone_` says that the process was ended and not replaced.
  bool is_gone_ = false;
  bool was_killed_ = false;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_PROCESS_KEEPER_H_
