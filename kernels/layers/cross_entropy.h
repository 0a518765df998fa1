// Computes softmax cross-entropy with its gradient in one pass. A row of logits is still in the cache when its gradient
// is made, and the matrix of log-probabilities, which autograd would keep for the backward pass, is never written.
#ifndef REKINDLE_KERNELS_LAYERS_CROSS_ENTROPY_H_
#define REKINDLE_KERNELS_LAYERS_CROSS_ENTROPY_H_

#include <cstdint>

namespace rekindle::kernels {

// Returns the summed loss in nats: the sum over rows of log(sum_j e^logits[j]) - logits[target]. `logits` and
// `gradient` are rows x classes. `gradient` becomes softmax(logits) - one-hot(target), which is the gradient of the
// summed loss. It may be nullptr (loss alone) or `logits` itself. The absolute error of a row is below 1e-5. The result
// is NaN if a row has NaN or +infinity. The gradient has the same bits on every instruction set, and the loss has those
// of the C library's log. REQUIRES: classes > 0 and 0 <= targets[i] < classes.
double CrossEntropy(const float* logits, int64_t rows, int64_t classes, const int64_t* targets, float* gradient);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_LAYERS_CROSS_ENTROPY_H_
