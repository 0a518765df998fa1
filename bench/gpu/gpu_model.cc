#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bench/gpu/gpu_device.h"
#include "bench/gpu/gpu_parts.h"
#include "kernels/cuda/layers/layer_norm_order.h"
#include "kernels/layers/cross_entropy.h"
#include "kernels/layers/gelu.h"
#include "kernels/layers/layer_norm.h"

namespace rekindle::gpu {
namespace {

using Floats = std::vector<float>;

struct LayerNormCase {
  LayerNormCase(int64_t rows, int64_t width)
      : rows(rows), width(width), n(static_cast<std::size_t>(rows * width)), w(static_cast<std::size_t>(width)) {}
  const int64_t rows, width;
  const std::size_t n, w;
};

// Computes the gradients of a layer norm's weight and bias, which are sums over rows. It adds the rows in the order in
// which the device adds them.
void ColumnsInOrder(const LayerNormCase& c, const Floats& dy, const Floats& x, const Floats& mean,
                    const Floats& inverse, Floats* dweight, Floats* dbias) {
  for (int64_t column = 0; column < c.width; ++column) {
    const auto at = [&](const Floats& v, int64_t r) { return v[static_cast<std::size_t>(r * c.width + column)]; };
    const auto row = [](const Floats& v, int64_t r) { return v[static_cast<std::size_t>(r)]; };
    (*dbias)[static_cast<std::size_t>(column)] = cuda::SumOverRows(c.rows, [&](int64_t r) { return at(dy, r); });
    (*dweight)[static_cast<std::size_t>(column)] =
        cuda::SumOverRows(c.rows, [&](int64_t r) { return at(dy, r) * ((at(x, r) - row(mean, r)) * row(inverse, r)); });
  }
}

void LayerNorm(const RekindleLayers& layers, const LayerNormCase& c, bool timed) {
  constexpr float kEpsilon = 1e-5f;
  const std::size_t rows = static_cast<std::size_t>(c.rows);
  const Floats x = Values(c.n, 1), dy = Values(c.n, 2), weight = Values(c.w, 3), bias = Values(c.w, 4);
  Floats y(c.n), mean(rows), inverse(rows), dx(c.n), dweight(c.w), dbias(c.w);
  kernels::LayerNormForward(x.data(), c.rows, c.width, weight.data(), bias.data(), kEpsilon, y.data(), mean.data(),
                            inverse.data());
  kernels::LayerNormBackward(dy.data(), x.data(), mean.data(), inverse.data(), c.rows, c.width, weight.data(),
                             dx.data(), dweight.data(), dbias.data());
  ColumnsInOrder(c, dy, x, mean, inverse, &dweight, &dbias);

  const Array<float> d_x(x), d_dy(dy), d_weight(weight), d_bias(bias), d_y(c.n), d_mean(rows), d_inverse(rows),
      d_dx(c.n);
  const Array<float> d_dweight(c.w), d_dbias(c.w), scratch(cuda::LayerNormScratch(c.rows, c.width));
  const RekindleLayerNormForward forward = {d_x.get(), c.rows,    c.width,      d_weight.get(), d_bias.get(),
                                            kEpsilon,  d_y.get(), d_mean.get(), d_inverse.get()};
  const RekindleLayerNormBackward backward = {d_dy.get(),      d_x.get(),     d_mean.get(),   d_inverse.get(),
                                              c.rows,          c.width,       d_weight.get(), d_dx.get(),
                                              d_dweight.get(), d_dbias.get(), scratch.get()};
  Call(layers.layer_norm_forward, forward);
  Call(layers.layer_norm_backward, backward);
  const std::string shape = " " + std::to_string(c.rows) + " x " + std::to_string(c.width);
  std::string problem = Difference("y", d_y.Host(), y);
  if (problem.empty()) problem = Difference("mean", d_mean.Host(), mean);
  if (problem.empty()) problem = Difference("inverse", d_inverse.Host(), inverse);
  PrintCheck("layer_norm_forward" + shape, problem);
  problem = Difference("dx", d_dx.Host(), dx);
  if (problem.empty()) problem = Difference("dweight", d_dweight.Host(), dweight);
  if (problem.empty()) problem = Difference("dbias", d_dbias.Host(), dbias);
  PrintCheck("layer_norm_backward" + shape, problem);
  if (!timed) return;
  const double matrix = static_cast<double>(c.n) * sizeof(float);
  PrintRate("layer_norm_forward", 2 * matrix, [&] { Call(layers.layer_norm_forward, forward); });
  PrintRate("layer_norm_backward", 3 * matrix, [&] { Call(layers.layer_norm_backward, backward); });
}

void Gelu(const RekindleLayers& layers) {
  constexpr std::size_t kElements = (32 << 20) + 3;
  Floats x(kElements);
  // The inputs of GELU are bit patterns that are spread over the whole range of float32.
  for (std::size_t i = 0; i < kElements; ++i) x[i] = std::bit_cast<float>(static_cast<uint32_t>(i * 127));
  const Floats dy = Values(kElements, 7);
  Floats out(kElements), slope(kElements), dx(kElements);
  kernels::GeluForward(x.data(), static_cast<int64_t>(kElements), out.data(), slope.data());
  kernels::GeluBackward(dy.data(), slope.data(), static_cast<int64_t>(kElements), dx.data());
  const Array<float> d_x(x), d_dy(dy), d_out(kElements), d_slope(kElements), d_dx(kElements);
  const RekindleGeluForward forward = {d_x.get(), kElements, d_out.get(), d_slope.get()};
  const RekindleGeluBackward backward = {d_dy.get(), d_slope.get(), kElements, d_dx.get()};
  Call(layers.gelu_forward, forward);
  Call(layers.gelu_backward, backward);
  std::string problem = Difference("out", d_out.Host(), out);
  if (problem.empty()) problem = Difference("slope", d_slope.Host(), slope);
  PrintCheck("gelu_forward", problem);
  PrintCheck("gelu_backward", Difference("dx", d_dx.Host(), dx));
  PrintRate("gelu_forward", 12.0 * kElements, [&] { Call(layers.gelu_forward, forward); });
  PrintRate("gelu_backward", 12.0 * kElements, [&] { Call(layers.gelu_backward, backward); });
}

void CrossEntropy(const RekindleLayers& layers, int64_t rows, int64_t classes, bool spoiled, bool timed) {
  const auto n = static_cast<std::size_t>(rows * classes);
  Floats logits = Values(n, 8, 4), gradient(n);
  std::vector<int64_t> targets;
  for (int64_t r = 0; r < rows; ++r) targets.push_back(r * 7919 % classes);
  if (spoiled) {
    logits[n - 1] = std::numeric_limits<float>::quiet_NaN();
    logits[0] = std::numeric_limits<float>::infinity();
  }
  const double loss = kernels::CrossEntropy(logits.data(), rows, classes, targets.data(), gradient.data());
  const Array<float> d_logits(logits), d_gradient(n);
  const Array<int64_t> d_targets(targets);
  const Array<double> losses(static_cast<std::size_t>(rows)), d_loss(1);
  RekindleCrossEntropy args = {d_logits.get(),   rows,         classes,     d_targets.get(),
                               d_gradient.get(), losses.get(), d_loss.get()};
  Call(layers.cross_entropy, args);
  std::string problem = Difference("gradient", d_gradient.Host(), gradient);
  const double got = d_loss.Host()[0];
  if (problem.empty() && !Same(got, loss) &&
      std::abs(got - loss) > 1e-12 * std::abs(loss) + 1e-12 * static_cast<double>(rows)) {
    problem = "the device's loss is " + std::to_string(got) + ", the CPU's " + std::to_string(loss);
  }
  PrintCheck("cross_entropy " + std::to_string(rows) + " x " + std::to_string(classes) + (spoiled ? " with NaN" : ""),
             problem);
  if (timed) PrintRate("cross_entropy", 8.0 * static_cast<double>(n), [&] { Call(layers.cross_entropy, args); });
  args.gradient = d_logits.get();
  Call(layers.cross_entropy, args);
  PrintCheck("cross_entropy in place", Difference("gradient", d_logits.Host(), gradient));
}

}  // namespace

void CheckModelKernels(const RekindleLayers& layers) {
  for (const auto& [rows, width] : {std::pair<int64_t, int64_t>{1, 1}, {3, 7}, {130, 33}, {301, 1000}}) {
    LayerNorm(layers, {rows, width}, false);
  }
  LayerNorm(layers, {16384, 768}, true);
  Gelu(layers);
  CrossEntropy(layers, 1, 1, false, false);
  CrossEntropy(layers, 37, 17, true, false);
  CrossEntropy(layers, 2048, 50257, false, true);
}

}  // namespace rekindle::gpu
