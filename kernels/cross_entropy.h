// Softmax cross-entropy with its gradient in one pass: a row of logits is in the cache when its gradient is made, and
// the matrix of log-probabilities, which autograd would keep for backward, is never written.
#ifndef REKINDLE_KERNELS_CROSS_ENTROPY_H_
#define REKINDLE_KERNELS_CROSS_ENTROPY_H_

#include <cstdint>

namespace rekindle::kernels {

// Returns sum over rows of log(sum_j e^logits[j]) - logits[target]: the summed loss, nats. `logits` and `gradient` are
// rows x classes; gradient = softmax(logits) - one-hot(target), that of the summed loss. `gradient` may be nullptr
// (loss alone) or `logits` itself. Absolute error of a row below 1e-5. NaN where a row has NaN or +infinity.
// Preconditions: classes > 0; 0 <= targets[i] < classes. The gradient has the same bits on every instruction set;
// the loss those of the C library's log.
double CrossEntropy(const float* logits, int64_t rows, int64_t classes, const int64_t* targets, float* gradient);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_CROSS_ENTROPY_H_
