// Defines the kernels of a training step in the C interface of librekindle_cuda.so: the arguments of each, and their
// table.
//
// Every pointer is device memory. Kernels are asynchronous on the stream, and none of their results comes to the host.
// A later kernel reads from the device what it needs of an earlier one (whether the gradient is finite, how much it is
// clipped). Arrays must not overlap unless a comment allows it. Results do not depend on the device, because sums have
// a fixed order. "The CPU's bits" are those of the CPU kernel of that name in kernels/. Where the CPU's result is a
// NaN, the kernel's may be any NaN.
#ifndef REKINDLE_KERNELS_CUDA_TRAINING_API_H_
#define REKINDLE_KERNELS_CUDA_TRAINING_API_H_

#include <cstddef>
#include <cstdint>

#include "kernels/optimizers/adamw_factors.h"

// Adds a micro-batch's gradient, unscaled, and finds its largest magnitude (accumulate.h, fixed_point.h). The results
// have the CPU's bits.
struct RekindleCudaAccumulate {
  const float* gradient;
  std::size_t n;
  // If `first` is not 0, the sum is written, not added to.
  std::uint32_t first;
  // The kernel computes sum += gradient * factor.
  float* sum;
  float factor;
  // If `fixed` is not null, the kernel computes fixed += rint(gradient * 2^exponent) instead.
  std::int64_t* fixed;
  std::int32_t exponent;
  // `largest` is one word, which the caller must have set to 0. It becomes at least the bits of the largest |gradient|,
  // or those of infinity if a value is NaN or infinite.
  std::uint32_t* largest;
};

// Describes a part of a gradient that lies in one parameter and in one block of 64 Ki elements
// (worker/train/arithmetic/gradient_norm.h).
struct RekindleCudaNormPiece {
  std::int64_t offset;
  std::int32_t count;
  // `exponent` is that of the parameter's sum in fixed point. It is 0 if the gradient is float32.
  std::int32_t exponent;
  // If `ends_block` is not 0, the next piece belongs to another block.
  std::uint32_t ends_block;
};

// Holds the norm of a step's gradient and what is computed from it, for the kernels that run after the norm's.
struct RekindleCudaStep {
  // `squares` is the sum of squares of the summed gradient, with the CPU's bits.
  double squares;
  // `grad_norm` is sqrt(squares) / count.
  double grad_norm;
  // The step multiplies the gradient by `scale`, which combines the division for the mean and the clipping. `scale` is
  // 0 if `found_inf` is set.
  double scale;
  std::uint32_t found_inf;
};

struct RekindleCudaNorm {
  // If `fixed` is not null, it has the summed gradient. Otherwise `values` has it.
  const float* values;
  const std::int64_t* fixed;
  // The pieces are in the order of their elements in the gradient.
  const RekindleCudaNormPiece* pieces;
  std::size_t n_pieces;
  // `squares` is scratch with one element per piece.
  double* squares;
  // `count` is the number of tokens or samples in the sum.
  double count;
  // A `clip_norm` of 0 means no clipping.
  double clip_norm;
  RekindleCudaStep* step;
};

// Runs adamw.h for one parameter, with clipping before it and a cast after it. Nothing is written if step->found_inf is
// set. The results have the CPU's bits.
struct RekindleCudaAdamw {
  rekindle::kernels::Adamw factors;
  const RekindleCudaStep* step;
  // If `fixed` is not null, it has the summed gradient. Otherwise `values` has it.
  const float* values;
  const std::int64_t* fixed;
  // `unit` is 2^-exponent of `fixed`.
  double unit;
  std::size_t n;
  float* weights;
  float* first_moment;
  float* second_moment;
  // If `bf16` or `fp16` is not null, it gets the new weights, rounded to nearest even.
  std::uint16_t* bf16;
  std::uint16_t* fp16;
};

// RekindleCudaLayerNormForward and RekindleCudaLayerNormBackward hold the arguments of the functions in
// kernels/layers/layer_norm.h. The results have the CPU's bits, except for dweight and dbias, which are summed over
// rows as layer_norm_order.h says.
struct RekindleCudaLayerNormForward {
  const float* x;
  std::int64_t rows, width;
  const float* weight;
  const float* bias;
  float epsilon;
  // `y` may be the same array as `x`.
  float* y;
  float* mean;
  float* inverse;
};
struct RekindleCudaLayerNormBackward {
  const float* dy;
  const float* x;
  const float* mean;
  const float* inverse;
  std::int64_t rows, width;
  const float* weight;
  // `dx` may be the same array as `dy`.
  float* dx;
  float* dweight;
  float* dbias;
  // `scratch` has LayerNormScratch(rows, width) floats.
  float* scratch;
};

// RekindleCudaGeluForward and RekindleCudaGeluBackward hold the arguments of the functions in kernels/layers/gelu.h.
// The results have the CPU's bits.
struct RekindleCudaGeluForward {
  const float* x;
  std::size_t n;
  float* out;
  float* slope;
};
struct RekindleCudaGeluBackward {
  const float* dy;
  const float* slope;
  std::size_t n;
  float* dx;
};

// Holds the arguments of the function in kernels/layers/cross_entropy.h. The gradient has the CPU's bits, and the loss
// has them except for the last bits of the logarithm. A target that is not a class makes its row NaN.
struct RekindleCudaCrossEntropy {
  const float* logits;
  std::int64_t rows, classes;
  const std::int64_t* targets;
  // `gradient` may be the same array as `logits`, or null.
  float* gradient;
  // `row_losses` has one element per row.
  double* row_losses;
  // `loss` has one element: the sum of the row losses, in order.
  double* loss;
};

// Each function in the table returns 0, or reports the error of its launch as the functions of RekindleCudaApi do.
struct RekindleCudaTraining {
  int (*accumulate)(const RekindleCudaAccumulate*, void* stream, char* error, std::size_t error_size);
  int (*norm)(const RekindleCudaNorm*, void* stream, char* error, std::size_t error_size);
  int (*adamw)(const RekindleCudaAdamw*, void* stream, char* error, std::size_t error_size);
  int (*layer_norm_forward)(const RekindleCudaLayerNormForward*, void* stream, char* error, std::size_t error_size);
  int (*layer_norm_backward)(const RekindleCudaLayerNormBackward*, void* stream, char* error, std::size_t error_size);
  int (*gelu_forward)(const RekindleCudaGeluForward*, void* stream, char* error, std::size_t error_size);
  int (*gelu_backward)(const RekindleCudaGeluBackward*, void* stream, char* error, std::size_t error_size);
  int (*cross_entropy)(const RekindleCudaCrossEntropy*, void* stream, char* error, std::size_t error_size);
};

#endif  // REKINDLE_KERNELS_CUDA_TRAINING_API_H_
