// Compares the time of our kernels with that of LibTorch's operations for the same work on the calling thread.
//
//   rekindle-bench-kernels [--rounds R]
//
// It prints one line of JSON for each kernel: {"name", "seconds", "peer_seconds", "bytes"}. The times are medians over
// interleaved rounds. In `bytes`, each array that must be read or written counts once.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/nll_loss_backward.h>
#include <ATen/ops/nll_loss_forward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/time/clock.h"
#include "kernels/layers/cross_entropy.h"
#include "kernels/layers/gelu.h"
#include "kernels/layers/layer_norm.h"
#include "kernels/optimizers/adamw.h"
#include "kernels/sums/accumulate.h"
#include "kernels/sums/sum_of_squares.h"

namespace rekindle {
namespace {

// The constants are the sizes of the demo model's micro-batch, 4 x 128 tokens of width 128, and of its gradient.
constexpr int64_t kRows = 512, kWidth = 128, kClasses = 256, kParameters = 838'000;
constexpr double kEpsilon = 1e-5;

int rounds = 200;

double Time(const std::function<void()>& work) {
  const double start = common::SteadySeconds();
  work();
  return common::SteadySeconds() - start;
}

double Median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size()) / 2, values.end());
  return values[values.size() / 2];
}

void Compare(const std::string& name, double bytes, const std::function<void()>& ours,
             const std::function<void()>& peer) {
  std::vector<double> our_times, peer_times;
  for (int i = 0; i < rounds; ++i) {
    our_times.push_back(Time(ours));
    peer_times.push_back(Time(peer));
  }
  const nlohmann::json row = {
      {"name", name}, {"seconds", Median(our_times)}, {"peer_seconds", Median(peer_times)}, {"bytes", bytes}};
  std::printf("%s\n", row.dump().c_str());
}

float* Data(const at::Tensor& tensor) { return tensor.mutable_data_ptr<float>(); }

void LayerNorm() {
  const at::Tensor x = at::randn({kRows, kWidth}), dy = at::randn({kRows, kWidth}), y = at::randn({kRows, kWidth});
  const at::Tensor weight = at::ones({kWidth}), bias = at::zeros({kWidth}), mean = at::zeros({kRows, 1});
  const at::Tensor inverse = at::ones({kRows, 1}), dweight = at::zeros({kWidth}), dbias = at::zeros({kWidth});
  const double matrix = kRows * kWidth * sizeof(float);
  Compare(
      "layer_norm_forward", 2 * matrix,
      [&] {
        kernels::LayerNormForward(Data(x), kRows, kWidth, Data(weight), Data(bias), kEpsilon, Data(y), Data(mean),
                                  Data(inverse));
      },
      [&] { at::native_layer_norm(x, {kWidth}, weight, bias, kEpsilon); });
  Compare(
      "layer_norm_backward", 3 * matrix,
      [&] {
        kernels::LayerNormBackward(Data(dy), Data(x), Data(mean), Data(inverse), kRows, kWidth, Data(weight), Data(y),
                                   Data(dweight), Data(dbias));
      },
      [&] {
        at::native_layer_norm_backward(dy, x, {kWidth}, mean, inverse, weight, bias, {true, true, true});
      });
}

void Gelu() {
  const at::Tensor x = at::randn({kRows, 4 * kWidth}), out = at::empty_like(x), slope = at::empty_like(x);
  const double matrix = 4.0 * kRows * kWidth * sizeof(float);
  Compare(
      "gelu_forward", 3 * matrix, [&] { kernels::GeluForward(Data(x), x.numel(), Data(out), Data(slope)); },
      [&] { at::gelu(x, "tanh"); });
  Compare(
      "gelu_backward", 3 * matrix, [&] { kernels::GeluBackward(Data(x), Data(slope), x.numel(), Data(out)); },
      [&] { at::gelu_backward(x, slope, "tanh"); });
}

void CrossEntropy() {
  const at::Tensor logits = at::randn({kRows, kClasses}), gradient = at::empty_like(logits);
  const at::Tensor targets = at::randint(kClasses, {kRows}, at::kLong), one = at::scalar_tensor(1.0f);
  Compare(
      "cross_entropy", 2.0 * kRows * kClasses * sizeof(float),
      [&] { kernels::CrossEntropy(Data(logits), kRows, kClasses, targets.const_data_ptr<int64_t>(), Data(gradient)); },
      [&] {
        const at::Tensor log = at::_log_softmax(logits, 1, false);
        const auto [loss, weight] = at::nll_loss_forward(log, targets, {}, at::Reduction::Sum, -100);
        const at::Tensor d = at::nll_loss_backward(one, log, targets, {}, at::Reduction::Sum, -100, weight);
        at::_log_softmax_backward_data(d, log, 1, at::kFloat);
      });
}

// Measures the work on a gradient after a backward pass in 16 bits: it is unscaled, checked to be finite, and summed
// over micro-batches, and its norm is taken.
void Unscale() {
  std::vector<at::Tensor> gradient = {at::randn({kParameters})};
  const at::Tensor sum = at::zeros({kParameters}), one = at::ones({1});
  at::Tensor found = at::zeros({1});
  Compare(
      "unscale_check_accumulate", 12.0 * kParameters,
      [&] { kernels::AccumulateFloat(Data(gradient[0]), kParameters, 1, false, Data(sum)); },
      [&] {
        at::_amp_foreach_non_finite_check_and_unscale_(gradient, found, one);
        at::Tensor(sum).add_(gradient[0]);
      });
  Compare(
      "norm", 4.0 * kParameters, [&] { kernels::SumOfSquares(Data(sum), kParameters); },
      [&] { at::linalg_vector_norm(sum); });
}

void AdamW() {
  std::vector<at::Tensor> weights, gradient, first, second, step = {at::ones({})};
  for (auto* list : {&weights, &gradient, &first, &second}) list->push_back(at::randn({kParameters}).abs());
  const kernels::Adamw constants = kernels::MakeAdamw(1e-3, 0.9, 0.95, 1e-8, 0.1, 10);
  Compare(
      "adamw", 28.0 * kParameters,
      [&] {
        kernels::AdamwUpdate(constants, Data(gradient[0]), 1.0f, kParameters, Data(weights[0]), Data(first[0]),
                             Data(second[0]));
      },
      [&] { at::_fused_adamw_(weights, gradient, first, second, {}, step, 1e-3, 0.9, 0.95, 0.1, 1e-8, false, false); });
}

int Main(int argc, char** argv) {
  CLI::App app("Our kernels beside LibTorch's, on one thread; one line of JSON each.");
  app.add_option("--rounds", rounds)->check(CLI::Range(3, 1'000'000));
  CLI11_PARSE(app, argc, argv);
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  LayerNorm();
  Gelu();
  CrossEntropy();
  Unscale();
  AdamW();
  return 0;
}

}  // namespace
}  // namespace rekindle

int main(int argc, char** argv) { return rekindle::Main(argc, argv); }
