// Defines the kernels of a training step and of its checkpoints as a table of C functions, which are the same for the
// processor and for a GPU.
//
// On the processor a function has done its work when it returns, and ignores `queue`. On a GPU every pointer in the
// arguments is memory of the device, `queue` is a cudaStream_t, and the work is asynchronous on it. Both give the same
// bits, except that a NaN may be another NaN. Each function returns 0, or the number of an error (cudaError_t), for
// which it writes the driver's words to `error`.
#ifndef REKINDLE_KERNELS_TABLE_KERNEL_TABLE_H_
#define REKINDLE_KERNELS_TABLE_KERNEL_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/layers/dropout_mask.h"
#include "kernels/optimizers/update.h"
#include "kernels/planes/plane_arguments.h"
#include "kernels/sums/sum_arguments.h"

// Copies memory, or sets each byte of it. The ends of a copy must not overlap. On a GPU one of them may be pinned
// memory of the host.
struct RekindleCopy {
  void* to;
  const void* from;
  std::size_t bytes;
};
struct RekindleFill {
  void* memory;
  std::uint8_t byte;
  std::size_t bytes;
};

// Converts float32 to bfloat16, rounded to nearest even (kernels/layers/bfloat16.h).
struct RekindleToBf16 {
  const float* values;
  std::size_t n;
  std::uint16_t* bf16;
};
struct RekindleFromBf16 {
  const std::uint16_t* bf16;
  std::size_t n;
  float* values;
};

template <typename Arguments>
using RekindleKernel = int (*)(const Arguments*, void* queue, char* error, std::size_t error_size);

struct RekindleKernels {
  RekindleKernel<RekindleCopy> copy;
  RekindleKernel<RekindleFill> fill;
  RekindleKernel<RekindleAccumulate> accumulate;
  RekindleKernel<RekindleSquares> squares;
  RekindleKernel<RekindleUpdate> update;
  RekindleKernel<RekindleRunningMean> running_mean;
  RekindleKernel<RekindleToBf16> to_bf16;
  RekindleKernel<RekindleFromBf16> from_bf16;
  RekindleKernel<RekindleHash> hash;
  RekindleKernel<RekindleDropoutMask> dropout_mask;
  RekindleKernel<RekindleSplitHalf> split_half;
  RekindleKernel<RekindleMergeHalf> merge_half;
  RekindleKernel<RekindleSplitBf16> split_bf16;
  RekindleKernel<RekindleMergeBf16> merge_bf16;
};

#endif  // REKINDLE_KERNELS_TABLE_KERNEL_TABLE_H_
