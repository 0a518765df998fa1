// Defines the kernels of a model's layers for a GPU, as a table of C functions: the arguments of each, and their table.
//
// Every pointer is device memory. Kernels are asynchronous on the stream, and none of their results comes to the host.
// Arrays must not overlap unless a comment allows it. Results do not depend on the device, because sums have a fixed
// order. "The CPU's bits" are those of the CPU kernel of that name. Where the CPU's result is a NaN, the kernel's may
// be any NaN.
#ifndef REKINDLE_KERNELS_LAYERS_LAYER_TABLE_H_
#define REKINDLE_KERNELS_LAYERS_LAYER_TABLE_H_

#include <cstddef>
#include <cstdint>

// RekindleLayerNormForward and RekindleLayerNormBackward hold the arguments of the functions in
// kernels/layers/layer_norm.h. The results have the CPU's bits, except for dweight and dbias, which are summed over
// rows as layer_norm_order.h says.
struct RekindleLayerNormForward {
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
struct RekindleLayerNormBackward {
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

// RekindleGeluForward and RekindleGeluBackward hold the arguments of the functions in kernels/layers/gelu.h.
// The results have the CPU's bits.
struct RekindleGeluForward {
  const float* x;
  std::size_t n;
  float* out;
  float* slope;
};
struct RekindleGeluBackward {
  const float* dy;
  const float* slope;
  std::size_t n;
  float* dx;
};

// Holds the arguments of the function in kernels/layers/cross_entropy.h. The gradient has the CPU's bits, and the loss
// has them except for the last bits of the logarithm. A target that is not a class makes its row NaN.
struct RekindleCrossEntropy {
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

// Each function in the table returns 0, or the number of a CUDA error (cudaError_t), for which it writes the driver's
// words to `error`.
struct RekindleLayers {
  int (*layer_norm_forward)(const RekindleLayerNormForward*, void* stream, char* error, std::size_t error_size);
  int (*layer_norm_backward)(const RekindleLayerNormBackward*, void* stream, char* error, std::size_t error_size);
  int (*gelu_forward)(const RekindleGeluForward*, void* stream, char* error, std::size_t error_size);
  int (*gelu_backward)(const RekindleGeluBackward*, void* stream, char* error, std::size_t error_size);
  int (*cross_entropy)(const RekindleCrossEntropy*, void* stream, char* error, std::size_t error_size);
};

#endif  // REKINDLE_KERNELS_LAYERS_LAYER_TABLE_H_
