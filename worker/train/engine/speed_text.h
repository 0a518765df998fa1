// Describes in sentences how fast the ranks of a generation are. The functions are pure.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_SPEED_TEXT_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_SPEED_TEXT_H_

#include <string>

#include "worker/train/control/membership.h"
#include "worker/train/step/step_ranges.h"
#include "worker/train/step/stragglers.h"

namespace rekindle::train {

// Says how the ranks' shares of the `micro_batches` of a step change, and why. `ranges` are the ranges after the
// change.
std::string DescribeRecut(const Membership& membership, const StepRanges& ranges, const StepRanges::Recut& recut,
                          int micro_batches);

// Says what makes `rank` slow. Returns an empty text if the rank is not slow.
std::string DescribeStraggler(const Membership& membership, int rank, const Straggling& straggling);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_SPEED_TEXT_H_
