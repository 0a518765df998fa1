// Stands in for training in benches with a fixed piece of arithmetic on one thread. This header does not include
// LibTorch.
#ifndef REKINDLE_BENCH_CHECKPOINT_WORK_UNIT_H_
#define REKINDLE_BENCH_CHECKPOINT_WORK_UNIT_H_

namespace rekindle::bench {

// Multiplies matrices of 384 x 384 four times on one thread. Returns the seconds that this took.
double WorkUnit();

}  // namespace rekindle::bench

#endif  // REKINDLE_BENCH_CHECKPOINT_WORK_UNIT_H_
