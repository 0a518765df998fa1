// Decides whether a model process is frozen. It is a pure class without clock or process, so that every case can be
// tested. Times are seconds of one steady clock.
//
// A process is frozen if a signal has stopped it, if it has used no processor and sent no message for
// `quiet_seconds`, or if a micro-batch takes much longer than those before. The first micro-batch has a limit of its
// own, because user code may compile or load something then. So has the first one of an evaluation. Evaluations and
// training are counted apart, as an evaluation says nothing about a backward pass.
#ifndef REKINDLE_WORKER_OWN_MODEL_CHILD_FROZEN_WATCH_H_
#define REKINDLE_WORKER_OWN_MODEL_CHILD_FROZEN_WATCH_H_

#include <array>
#include <deque>
#include <string>

namespace rekindle::own_model {

struct FrozenLimits {
  double quiet_seconds = 10;
  double least_seconds = 60;
  // A micro-batch may take `factor` times the median of the newest ones.
  double factor = 10;
  double first_seconds = 1800;
};

// What the system says of the process.
struct ProcessView {
  bool is_stopped = false;
  // `cpu_seconds` is what the process and those that it has started have used.
  double cpu_seconds = 0;
};

// FrozenWatch is thread-compatible.
class FrozenWatch {
 public:
  enum class Work { kTraining, kEvaluation };

  explicit FrozenWatch(FrozenLimits limits = {}) : limits_(limits) {}

  // Notes that another process computes from now on. Its first micro-batch may take long again. It was asked nothing.
  void Replace();
  // Begins a micro-batch.
  void Begin(double now, Work work = Work::kTraining);
  // Notes a message of the process that shows that it gets on, or waits for data.
  void Heard(double now) { heard_at_ = now; }
  // Notes that the micro-batch has ended.
  void End(double now);
  // Returns whether to ask the process for a sign of life now, which is noted then. It is asked only now and then, and
  // not again before Answered(): while some code of the process holds Python's lock it answers nothing, and would find
  // its socket full of questions.
  bool Asks(double now);
  void Answered() { is_asked_ = false; }

  // Returns why the process is frozen, or an empty string.
  std::string Look(const ProcessView& view, double now);
  // Says how long a first micro-batch takes already, as in "compiling or loading, 40 s". Returns an empty string if the
  // present micro-batch is not the first one.
  std::string LongFirst(double now) const;

 private:
  // What is known of one kind of work.
  struct Known {
    bool is_first = true;
    // `seconds` has the times of the newest micro-batches.
    std::deque<double> seconds;
  };

  Known& Present() { return known_[static_cast<size_t>(work_)]; }
  const Known& Present() const { return known_[static_cast<size_t>(work_)]; }
  // Returns the time that a micro-batch may take now.
  double Limit() const;

  const FrozenLimits limits_;
  double begun_at_ = 0;
  double heard_at_ = 0;
  // `is_asked_` says that the process has not answered what it was asked at `asked_at_`.
  bool is_asked_ = false;
  double asked_at_ = 0;
  // `cpu_seconds_` is what the process had used of the processor when it was last seen to compute.
  double cpu_seconds_ = 0;
  Work work_ = Work::kTraining;
  // `known_` has one entry for each Work.
  std::array<Known, 2> known_;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_CHILD_FROZEN_WATCH_H_
