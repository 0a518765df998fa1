#include "worker/models/aten/fused.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/scalar_tensor.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/layers/bfloat16.h"
#include "kernels/layers/cross_entropy.h"
#include "kernels/layers/gelu.h"
#include "kernels/layers/layer_norm.h"

namespace rekindle::models {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A loop over the elements of an array gives each thread at least `kElements` of them, because a thread is not worth
// its cost for fewer.
constexpr int64_t kElements = 16384;
// A sum over rows adds up blocks of `kRows` rows, in order, so the number of threads does not change its bits.
constexpr int64_t kRows = 128;

// Cuts `rows` rows into blocks of `kRows` rows, and calls `work` with the number, the first row and the number of rows
// of each block.
template <typename Work>
void EachBlock(int64_t rows, const Work& work) {
  at::parallel_for(0, (rows + kRows - 1) / kRows, 1, [&](int64_t from, int64_t to) {
    for (int64_t block = from; block < to; ++block) {
      work(block, block * kRows, std::min(kRows, rows - block * kRows));
    }
  });
}

at::Tensor AsFloats(const at::Tensor& x) { return x.to(at::kFloat).contiguous(); }
const float* Read(const at::Tensor& x) { return x.const_data_ptr<float>(); }
float* Write(at::Tensor& x) { return x.mutable_data_ptr<float>(); }

// Arrays are processed in pieces of `kPiece` elements, so that their floats stay in the nearest cache. EachPiece calls
// work(first, elements) for each piece. Arrays of 16-bit values are widened piece by piece.
constexpr int64_t kPiece = 2048;
using Piece = std::array<float, kPiece>;

template <typename Work>
void EachPiece(int64_t elements, const Work& work) {
  at::parallel_for(0, elements, kElements, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kPiece) work(first, std::min(kPiece, end - first));
  });
}

const uint16_t* ReadBits(const at::Tensor& x) { return static_cast<const uint16_t*>(x.const_data_ptr()); }
uint16_t* WriteBits(at::Tensor& x) { return static_cast<uint16_t*>(x.mutable_data_ptr()); }

void GeluForward(const at::Tensor& x, at::Tensor& out, at::Tensor& slope) {
  if (x.scalar_type() == at::kBFloat16) {
    EachPiece(x.numel(),
              [&, from = ReadBits(x), to = WriteBits(out), slopes = WriteBits(slope)](int64_t at, int64_t n) {
                alignas(64) Piece wide, value, derivative;
                kernels::FromBfloat16(from + at, n, wide.data());
                kernels::GeluForward(wide.data(), n, value.data(), derivative.data());
                kernels::ToBfloat16(value.data(), n, to + at);
                kernels::ToBfloat16(derivative.data(), n, slopes + at);
              });
  } else {
    EachPiece(x.numel(), [&, from = Read(x), to = Write(out), slopes = Write(slope)](int64_t at, int64_t n) {
      kernels::GeluForward(from + at, n, to + at, slopes + at);
    });
  }
}

void GeluBackward(const at::Tensor& dy, const at::Tensor& slope, at::Tensor& dx) {
  if (dy.scalar_type() == at::kBFloat16) {
    EachPiece(dy.numel(), [&, from = ReadBits(dy), by = ReadBits(slope), to = WriteBits(dx)](int64_t at, int64_t n) {
      alignas(64) Piece wide, factor, product;
      kernels::FromBfloat16(from + at, n, wide.data());
      kernels::FromBfloat16(by + at, n, factor.data());
      kernels::GeluBackward(wide.data(), factor.data(), n, product.data());
      kernels::ToBfloat16(product.data(), n, to + at);
    });
  } else {
    EachPiece(dy.numel(), [&, from = Read(dy), by = Read(slope), to = Write(dx)](int64_t at, int64_t n) {
      kernels::GeluBackward(from + at, by + at, n, to + at);
    });
  }
}

// Returns an input or gradient of GELU as a contiguous tensor of bfloat16 if it has that type, and otherwise of
// float32.
at::Tensor ForGelu(const at::Tensor& x) { return x.scalar_type() == at::kBFloat16 ? x.contiguous() : AsFloats(x); }

class GeluFunction : public torch::autograd::Function<GeluFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input) {
    const at::Tensor x = ForGelu(input);
    at::Tensor out = at::empty_like(x), slope = at::empty_like(x);
    GeluForward(x, out, slope);
    context->save_for_backward({slope.to(input.scalar_type())});
    return out.to(input.scalar_type());
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor dy = ForGelu(gradients[0]);
    const at::Tensor slope = context->get_saved_variables()[0].to(dy.scalar_type());
    at::Tensor dx = at::empty_like(dy);
    GeluBackward(dy, slope, dx);
    return {dx.to(gradients[0].scalar_type())};
  }
};

class LayerNormFunction : public torch::autograd::Function<LayerNormFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, double epsilon) {
    const at::Tensor x = AsFloats(input);
    const int64_t rows = x.size(0), width = x.size(1);
    at::Tensor y = at::empty_like(x), mean = at::empty({rows}, at::kFloat), inverse = at::empty({rows}, at::kFloat);
    float *to = Write(y), *means = Write(mean), *inverses = Write(inverse);
    EachBlock(rows, [&](int64_t, int64_t first, int64_t count) {
      kernels::LayerNormForward(Read(x) + first * width, count, width, Read(weight), Read(bias),
                                static_cast<float>(epsilon), to + first * width, means + first, inverses + first);
    });
    context->save_for_backward({x, weight, mean, inverse});
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &inverse = saved[3];
    const at::Tensor dy = AsFloats(gradients[0]);
    const int64_t rows = x.size(0), width = x.size(1), blocks = (rows + kRows - 1) / kRows;
    at::Tensor dx = at::empty_like(dy);
    at::Tensor dweight = at::empty({blocks, width}, at::kFloat), dbias = at::empty({blocks, width}, at::kFloat);
    float *to = Write(dx), *to_weight = Write(dweight), *to_bias = Write(dbias);
    EachBlock(rows, [&](int64_t block, int64_t first, int64_t count) {
      kernels::LayerNormBackward(Read(dy) + first * width, Read(x) + first * width, Read(mean) + first,
                                 Read(inverse) + first, count, width, Read(weight), to + first * width,
                                 to_weight + block * width, to_bias + block * width);
    });
    return {dx, AddUp(dweight), AddUp(dbias), at::Tensor()};
  }

 private:
  // Returns the sum of the rows of `parts`, where each row holds the sum over one block. The sum overwrites the first
  // row.
  static at::Tensor AddUp(at::Tensor& parts) {
    const int64_t width = parts.size(1);
    float* sum = Write(parts);
    for (int64_t block = 1; block < parts.size(0); ++block) {
      const float* part = sum + block * width;
      for (int64_t i = 0; i < width; ++i) sum[i] += part[i];
    }
    return parts.select(0, 0);
  }
};

double LossOf(const at::Tensor& logits, const at::Tensor& targets, float* gradient) {
  const int64_t rows = logits.size(0), classes = logits.size(1);
  std::vector<double> sums(static_cast<size_t>((rows + kRows - 1) / kRows));
  EachBlock(rows, [&](int64_t block, int64_t first, int64_t count) {
    sums[static_cast<size_t>(block)] =
        kernels::CrossEntropy(Read(logits) + first * classes, count, classes, targets.const_data_ptr<int64_t>() + first,
                              gradient != nullptr ? gradient + first * classes : nullptr);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& targets) {
    at::Tensor gradient = AsFloats(input.detach());
    const double loss = LossOf(gradient, targets, Write(gradient));
    context->saved_data["gradient"] = gradient;
    context->saved_data["type"] = static_cast<int64_t>(input.scalar_type());
    return at::scalar_tensor(loss, at::kFloat);
  }
  // Scales the gradient that the forward of the loss has already computed. Backward may run only once after each
  // forward, because it changes this gradient in place.
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    at::Tensor gradient = context->saved_data["gradient"].toTensor();
    if (gradients[0].item<float>() != 1) gradient.mul_(gradients[0]);
    return {gradient.to(static_cast<at::ScalarType>(context->saved_data["type"].toInt())), at::Tensor()};
  }
};

}  // namespace

at::Tensor Gelu(const at::Tensor& x) { return x.is_cpu() ? GeluFunction::apply(x) : at::gelu(x, "tanh"); }

at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon) {
  if (!x.is_cpu()) return at::layer_norm(x, {x.size(1)}, weight, bias, epsilon);
  return LayerNormFunction::apply(x, weight, bias, epsilon);
}

at::Tensor SummedCrossEntropy(const at::Tensor& logits, const at::Tensor& targets) {
  if (!logits.is_cpu()) return at::cross_entropy_loss(logits.to(at::kFloat), targets, {}, at::Reduction::Sum);
  if (at::GradMode::is_enabled()) return CrossEntropyFunction::apply(logits, targets);
  return at::scalar_tensor(LossOf(AsFloats(logits), targets, nullptr), at::kFloat);
}

}  // namespace rekindle::models
