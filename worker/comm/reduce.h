// Element-wise reduction of two buffers, vectorised for the processor it runs on.
#ifndef REKINDLE_WORKER_COMM_REDUCE_H_
#define REKINDLE_WORKER_COMM_REDUCE_H_

#include <cstddef>

#include "worker/comm/communicator.h"

namespace rekindle::comm {

// out[i] = a[i] op b[i] for `count` elements. `out` may be `a` or `b`, but not overlap them otherwise; all are aligned
// to their element. Integer sums wrap; each of
// bfloat16 is rounded. The maximum of a float and a NaN is the NaN. The result does not depend on the
// instruction set.
void Reduce(void* out, const void* a, const void* b, size_t count, DataType type, ReduceOp op);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_REDUCE_H_
