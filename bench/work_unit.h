// The stand-in for training in benches: a fixed piece of arithmetic on one thread. Its header is torch-free.
#ifndef REKINDLE_BENCH_WORK_UNIT_H_
#define REKINDLE_BENCH_WORK_UNIT_H_

namespace rekindle::bench {

// Multiplies matrices of 384 x 384 four times, on one thread; returns the seconds it took.
double WorkUnit();

}  // namespace rekindle::bench

#endif  // REKINDLE_BENCH_WORK_UNIT_H_
