// A field of a job's spec as a lever declares it: what it is when left out, and what it may be. The coordinator fills
// in and checks by this alone, and refuses the fields that the chosen lever does not have.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_PARAMETER_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_PARAMETER_H_

namespace rekindle::train {

struct Parameter {
  enum class Ends { kBothIn, kLowOut, kHighOut };  // Whether `low` and `high` themselves are allowed.

  const char* field;        // Its name in the proto's message.
  double initial = 0;       // When left out.
  double initial_part = 0;  // Not 0: this part of the job's steps instead, rounded down, at least `low`.
  double low = 0;
  double high = 0;
  Ends ends = Ends::kBothIn;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_PARAMETER_H_
