// Holds limits and values on which programs of two kinds must agree, so that one of them never asks for more than the
// other can do.
#ifndef REKINDLE_COMMON_AGREED_AGREED_LIMITS_H_
#define REKINDLE_COMMON_AGREED_AGREED_LIMITS_H_

#include <cstddef>

namespace rekindle::common {

// At most `kMaxWorldSize` ranks can train together, because the transport names them by the bits of one 64-bit word. So
// a job has no more workers.
inline constexpr int kMaxWorldSize = 64;

// A machine on which no coordinator has been heard from for too long shuts itself down. Its programs have
// `kMachineEndSeconds` before that to save their state.
inline constexpr double kMachineEndSeconds = 60;

// A trainer reports `kSearchingMicroBatch` as the size of its micro-batches while it still searches for that size.
inline constexpr int kSearchingMicroBatch = -1;

// What a trainer says of why it ends itself has at most `kLongestLastWords` bytes. What is longer is cut.
inline constexpr size_t kLongestLastWords = 1024;

// The traceback of users' own code that a job keeps has at most `kLongestTraceback` bytes. What is longer is cut.
inline constexpr size_t kLongestTraceback = 16 << 10;

// A micro-batch of the user's own model has at most `kMostOwnSamples` samples, because a request to the process that
// runs the model has room for no more of their numbers.
inline constexpr int kMostOwnSamples = 8000;

// A job with the user's own model may ask for at most `kMostDataWorkers` data processes beside each trainer.
inline constexpr int kMostDataWorkers = 64;

// The name of a variable that a job takes from a node has at most `kLongestVariableName` bytes.
inline constexpr size_t kLongestVariableName = 128;

// The search for the size of the micro-batches leaves at least this share of the memory free, because some data grows
// later and the measurements may be too low. So memory that is smaller by no more than that has room for what was
// found.
inline constexpr double kSearchHeadRoom = 0.1;

// A report names at most `kMostDamaged` damaged checkpoints of a job, and no more are remembered.
inline constexpr int kMostDamaged = 100;

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_AGREED_LIMITS_H_
