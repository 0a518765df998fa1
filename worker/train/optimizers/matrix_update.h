// Declares the update of one parameter by an optimizer that needs the whole matrix and the processor. Each such
// optimizer is one file of this folder. Elementwise optimizers are kernels (kernels/optimizers/update.h).
#ifndef REKINDLE_WORKER_TRAIN_OPTIMIZERS_MATRIX_UPDATE_H_
#define REKINDLE_WORKER_TRAIN_OPTIMIZERS_MATRIX_UPDATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/optimizers/optimizer_list.h"
#include "kernels/optimizers/update.h"

namespace rekindle::train {

struct MatrixUpdate {
  // `update` covers all elements of the parameter, in place. Its `optimizer` is of no meaning.
  RekindleUpdate update;
  std::span<const int64_t> shape;
};

// Returns the kernel of an optimizer, or nothing if the optimizer is not elementwise. REQUIRES: FindOptimizer(kind) is
// not null.
std::optional<RekindleOptimizer> KernelOf(std::string_view kind);

#define REKINDLE_DECLARE(Name) void Update##Name(const MatrixUpdate& update);
REKINDLE_OPTIMIZERS(REKINDLE_NO_OPTIMIZER, REKINDLE_DECLARE)
#undef REKINDLE_DECLARE

// Applies the update of the optimizer called `kind`. The result has the same bits on every machine. REQUIRES:
// KernelOf(kind) is empty.
void UpdateMatrix(std::string_view kind, const MatrixUpdate& update);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_OPTIMIZERS_MATRIX_UPDATE_H_
