#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "bench/gpu/gpu_device.h"
#include "bench/gpu/gpu_parts.h"
#include "kernels/cuda/half_bits.h"
#include "kernels/optimizers/adamw.h"
#include "kernels/sums/accumulate.h"
#include "kernels/sums/fixed_point.h"
#include "kernels/sums/sum_of_squares.h"

namespace rekindle::gpu {
namespace {

constexpr std::size_t kElements = (32 << 20) + 77;
constexpr int kExponent = 30;
constexpr double kTokens = 2048;

std::string FirstOf(std::initializer_list<std::string> problems) {
  for (const std::string& problem : problems) {
    if (!problem.empty()) return problem;
  }
  return "";
}

float FloatOf(uint32_t bits) { return std::bit_cast<float>(bits); }

void Accumulate(const RekindleCudaTraining& kernels) {
  const std::vector<float> first = Values(kElements, 1, 1e-2f);
  std::vector<float> second = Values(kElements, 2, 1e-2f);
  const auto n = static_cast<int64_t>(kElements);
  const Array<float> gradient(first), sum(kElements);
  const Array<int64_t> fixed(kElements);
  const Array<uint32_t> largest(1), largest_fixed(1);
  RekindleCudaAccumulate to_float = {.gradient = gradient.get(),
                                     .n = kElements,
                                     .first = 1,
                                     .sum = sum.get(),
                                     .factor = 0x1p-7f,
                                     .largest = largest.get()};
  RekindleCudaAccumulate to_fixed = to_float;
  to_fixed.fixed = fixed.get();
  to_fixed.exponent = kExponent;
  to_fixed.largest = largest_fixed.get();
  Call(kernels.accumulate, to_float);
  Call(kernels.accumulate, to_fixed);
  const Array<float> gradient2(second);
  to_float.gradient = to_fixed.gradient = gradient2.get();
  to_float.first = to_fixed.first = 0;
  Call(kernels.accumulate, to_float);
  Call(kernels.accumulate, to_fixed);

  std::vector<float> expected(kElements);
  std::vector<int64_t> expected_fixed(kElements);
  float most = kernels::AccumulateFloat(first.data(), n, 0x1p-7f, true, expected.data());
  most = std::max(most, kernels::AccumulateFloat(second.data(), n, 0x1p-7f, false, expected.data()));
  kernels::AccumulateFixed(first.data(), n, kExponent, true, expected_fixed.data());
  kernels::AccumulateFixed(second.data(), n, kExponent, false, expected_fixed.data());
  PrintCheck("accumulate",
             FirstOf({Difference("sum", sum.Host(), expected), Difference("fixed", fixed.Host(), expected_fixed),
                      Difference("largest", {FloatOf(largest.Host()[0])}, std::vector<float>{most}),
                      Difference("largest", {FloatOf(largest_fixed.Host()[0])}, std::vector<float>{most})}));

  second[kElements - 5] = std::numeric_limits<float>::quiet_NaN();
  const Array<float> bad(second);
  to_float.gradient = bad.get();
  Call(kernels.accumulate, to_float);
  PrintCheck("accumulate finds NaN", Difference("largest", {FloatOf(largest.Host()[0])},
                                                std::vector<float>{std::numeric_limits<float>::infinity()}));
  to_float.gradient = gradient.get();
  PrintRate("accumulate_float", 12.0 * kElements, [&] { Call(kernels.accumulate, to_float); });
  PrintRate("accumulate_fixed", 20.0 * kElements, [&] { Call(kernels.accumulate, to_fixed); });
}

// Returns the pieces of parameters whose sizes are no multiples of a block. They are cut at blocks of 64 Ki elements,
// as worker/train/arithmetic/gradient_norm.cc cuts them.
std::vector<RekindleCudaNormPiece> Pieces(bool fixed) {
  constexpr int64_t kBlock = 65536;
  std::vector<RekindleCudaNormPiece> pieces;
  int64_t end = 0;
  for (int parameter = 0; end < static_cast<int64_t>(kElements); ++parameter) {
    int64_t at = end;
    end = std::min(static_cast<int64_t>(kElements), end + (parameter % 3 == 0 ? 1000'003 : 77 * parameter + 1));
    while (at < end) {
      const int64_t stop = std::min(end, (at / kBlock + 1) * kBlock);
      pieces.push_back(
          {at, static_cast<int32_t>(stop - at), fixed ? kExponent + parameter % 2 : 0, stop % kBlock == 0});
      at = stop;
    }
  }
  return pieces;
}

template <typename T>
double SquaresOnCpu(const std::vector<T>& x, const std::vector<RekindleCudaNormPiece>& pieces) {
  double total = 0, block = 0;
  for (const RekindleCudaNormPiece& piece : pieces) {
    block += std::ldexp(kernels::SumOfSquares(x.data() + piece.offset, piece.count), -2 * piece.exponent);
    if (piece.ends_block == 0) continue;
    total += block;
    block = 0;
  }
  return total + block;
}

RekindleCudaStep StepOnCpu(double squares, double clip_norm) {
  const double norm = std::sqrt(squares) / kTokens;
  if (!std::isfinite(norm)) return {squares, norm, 0, 1};
  return {squares, norm, (clip_norm > 0 ? std::min(1.0, clip_norm / (norm + 1e-6)) : 1.0) / kTokens, 0};
}

template <typename T>
void Norm(const RekindleCudaTraining& kernels, const char* name, std::vector<T> x) {
  constexpr bool kFixed = std::is_same_v<T, int64_t>;
  const std::vector<RekindleCudaNormPiece> pieces = Pieces(kFixed);
  const Array<T> device(x);
  const Array<RekindleCudaNormPiece> device_pieces(pieces);
  const Array<double> squares(pieces.size());
  const Array<RekindleCudaStep> step(1);
  RekindleCudaNorm args = {.pieces = device_pieces.get(),
                           .n_pieces = pieces.size(),
                           .squares = squares.get(),
                           .count = kTokens,
                           .clip_norm = 1e-5,
                           .step = step.get()};
  if constexpr (kFixed) args.fixed = device.get();
  if constexpr (!kFixed) args.values = device.get();
  Call(kernels.norm, args);
  const RekindleCudaStep got = step.Host()[0], want = StepOnCpu(SquaresOnCpu(x, pieces), args.clip_norm);
  PrintCheck(name, Difference("squares, norm, scale, found_inf",
                              {got.squares, got.grad_norm, got.scale, static_cast<double>(got.found_inf)},
                              std::vector<double>{want.squares, want.grad_norm, want.scale,
                                                  static_cast<double>(want.found_inf)}));
  PrintRate(name, static_cast<double>(sizeof(T) * kElements), [&] { Call(kernels.norm, args); });
}

struct Weights {
  std::vector<float> weights = Values(kElements, 3, 1e-2f), first = Values(kElements, 4, 1e-4f),
                     second = Values(kElements, 5, 1e-6f);
};

// Makes two steps on the device and on the CPU. Then it makes a step whose gradient is not finite, which must change
// nothing.
template <typename T>
void Adamw(const RekindleCudaTraining& kernels, const char* name, const std::vector<T>& gradient) {
  constexpr bool kFixed = std::is_same_v<T, int64_t>;
  Weights cpu;
  for (float& value : cpu.second) value = std::abs(value);
  const Array<float> weights(cpu.weights), first(cpu.first), second(cpu.second);
  const Array<T> device(gradient);
  const Array<uint16_t> bf16(kElements), fp16(kElements);
  const double scale = 0.75 / kTokens, unit = kFixed ? std::ldexp(1.0, -kExponent) : 1;
  const Array<RekindleCudaStep> step(std::vector<RekindleCudaStep>{{1, 1, scale, 0}});
  const Array<RekindleCudaStep> skipped(std::vector<RekindleCudaStep>{{1, 1, 0, 1}});
  RekindleCudaAdamw args = {.step = step.get(),
                            .unit = unit,
                            .n = kElements,
                            .weights = weights.get(),
                            .first_moment = first.get(),
                            .second_moment = second.get(),
                            .bf16 = bf16.get(),
                            .fp16 = fp16.get()};
  if constexpr (kFixed) args.fixed = device.get();
  if constexpr (!kFixed) args.values = device.get();
  for (int64_t i = 1; i <= 2; ++i) {
    args.factors = kernels::MakeAdamw(1e-3, 0.9, 0.95, 1e-8, 0.1, i);
    Call(kernels.adamw, args);
    if constexpr (kFixed) {
      kernels::AdamwUpdate(args.factors, gradient.data(), scale * unit, kElements, cpu.weights.data(), cpu.first.data(),
                           cpu.second.data());
    } else {
      kernels::AdamwUpdate(args.factors, gradient.data(), static_cast<float>(scale), kElements, cpu.weights.data(),
                           cpu.first.data(), cpu.second.data());
    }
  }
  args.step = skipped.get();
  Call(kernels.adamw, args);
  std::vector<uint16_t> cpu_bf16, cpu_fp16;
  for (const float weight : cpu.weights) {
    cpu_bf16.push_back(cuda::Bf16Bits(weight));
    cpu_fp16.push_back(cuda::Fp16Bits(weight));
  }
  PrintCheck(name, FirstOf({Difference("weights", weights.Host(), cpu.weights),
                            Difference("first_moment", first.Host(), cpu.first),
                            Difference("second_moment", second.Host(), cpu.second),
                            Difference("bf16", bf16.Host(), cpu_bf16), Difference("fp16", fp16.Host(), cpu_fp16)}));
  args.step = step.get();
  args.fp16 = nullptr;
  PrintRate(name, (24.0 + 2 + sizeof(T)) * kElements, [&] { Call(kernels.adamw, args); });
}

}  // namespace

void CheckStepKernels(const RekindleCudaTraining& kernels) {
  Accumulate(kernels);
  std::vector<float> gradient = Values(kElements, 6);
  std::vector<int64_t> fixed(kElements);
  kernels::AccumulateFixed(gradient.data(), static_cast<int64_t>(kElements), kExponent, true, fixed.data());
  Norm(kernels, "norm_float", gradient);
  Norm(kernels, "norm_fixed", fixed);
  Adamw(kernels, "adamw_float", gradient);
  Adamw(kernels, "adamw_fixed", fixed);
  gradient[kElements / 2] = -std::numeric_limits<float>::infinity();
  Norm(kernels, "norm_of_infinity", gradient);
}

}  // namespace rekindle::gpu
