// Reduces two buffers element by element, vectorised for the processor that the program runs on.
#ifndef REKINDLE_WORKER_COMM_RINGS_REDUCE_H_
#define REKINDLE_WORKER_COMM_RINGS_REDUCE_H_

#include <cstddef>

#include "worker/comm/contract/communicator.h"

namespace rekindle::comm {

// Sets out[i] = a[i] op b[i] for `count` elements. `out` may be `a` or `b`, but must not overlap them otherwise. All
// three must be aligned to their elements. Integer sums wrap, and each bfloat16 sum is rounded. The maximum of a float
// and a NaN is the NaN. The result does not depend on the instruction set.
void Reduce(void* out, const void* a, const void* b, size_t count, DataType type, ReduceOp op);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RINGS_REDUCE_H_
