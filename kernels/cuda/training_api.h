// The kernels of a training step in the C interface of librekindle_cuda.so: the arguments of each and their table.
//
// Every pointer is device memory. Kernels are asynchronous on the stream, and nothing of their results comes to the
// host: what a later one needs of an earlier one (is the gradient finite, how much is it clipped) it reads from the
// device. Arrays do not overlap unless it says so. Results do not depend on the device: sums have a fixed order, and
// "as the CPU" means the same bits as the CPU kernel of that name in kernels/ (of a NaN: that it is one).
#ifndef REKINDLE_KERNELS_CUDA_TRAINING_API_H_
#define REKINDLE_KERNELS_CUDA_TRAINING_API_H_

#include <cstddef>
#include <cstdint>

#include "kernels/adamw.h"

// accumulate.h and fixed_point.h: adds a micro-batch's gradient, unscaled, and finds its largest magnitude. As the CPU.
struct RekindleCudaAccumulate {
  const float* gradient;
  std::size_t n;
  std::uint32_t first;  // Not 0: the sum is written, not added to.
  float* sum;           // sum += gradient * factor
  float factor;         //
  std::int64_t* fixed;  // Where not null, instead: fixed += rint(gradient * 2^exponent)
  std::int32_t exponent;
  // One word, which the caller has set to 0: becomes at least the bits of the largest |gradient|, those of infinity
  // where a value is NaN or infinite.
  std::uint32_t* largest;
};

// A part of a gradient that lies in one parameter and in one block of 64 Ki elements (worker/train/gradient_norm.h).
struct RekindleCudaNormPiece {
  std::int64_t offset;
  std::int32_t count;
  std::int32_t exponent;     // Of its parameter, in fixed point; else 0.
  std::uint32_t ends_block;  // Not 0: the next piece is of another block.
};

// What a step's norm says, for the kernels after it.
struct RekindleCudaStep {
  double squares;    // Sum of squares of the summed gradient. As the CPU.
  double grad_norm;  // sqrt(squares) / count
  double scale;      // By which the gradient is multiplied: the mean and the clipping. 0 with found_inf.
  std::uint32_t found_inf;
};

struct RekindleCudaNorm {
  const float* values;  // The summed gradient, or
  const std::int64_t* fixed;
  const RekindleCudaNormPiece* pieces;  // In index order.
  std::size_t n_pieces;
  double* squares;   // One a piece: scratch.
  double count;      // Of tokens or samples in the sum.
  double clip_norm;  // 0: no clipping.
  RekindleCudaStep* step;
};

// adamw.h for one parameter, with clipping before and a cast after it; nothing is written when step->found_inf. As the
// CPU.
struct RekindleCudaAdamw {
  rekindle::kernels::Adamw factors;
  const RekindleCudaStep* step;
  const float* values;  // The summed gradient, or
  const std::int64_t* fixed;
  double unit;  // Of fixed: 2^-exponent.
  std::size_t n;
  float* weights;
  float* first_moment;
  float* second_moment;
  std::uint16_t* bf16;  // Where not null: the new weights, rounded to nearest even.
  std::uint16_t* fp16;
};

// layer_norm.h. As the CPU, but dweight and dbias: those are summed over rows as layer_norm_order.h says.
struct RekindleCudaLayerNormForward {
  const float* x;
  std::int64_t rows, width;
  const float* weight;
  const float* bias;
  float epsilon;
  float* y;  // May be x.
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
  float* dx;  // May be dy.
  float* dweight;
  float* dbias;
  float* scratch;  // LayerNormScratch(rows, width) floats.
};

// gelu.h. As the CPU.
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

// cross_entropy.h. The gradient as the CPU; the loss but for the last bits of the logarithm. A target that is no class
// makes its row NaN.
struct RekindleCudaCrossEntropy {
  const float* logits;
  std::int64_t rows, classes;
  const std::int64_t* targets;
  float* gradient;     // May be logits, or null.
  double* row_losses;  // One a row.
  double* loss;        // One: the sum of them, in order.
};

// Each returns 0, or the launch's error as the functions of RekindleCudaApi do.
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
