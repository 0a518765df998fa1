// Runs each kernel of a step on the GPU and on the processor with the same arguments, and compares what they write.
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu/gpu_device.h"
#include "bench/gpu/gpu_parts.h"
#include "kernels/layers/dropout_mask.h"
#include "kernels/planes/plane_limits.h"
#include "kernels/sums/fixed_point.h"
#include "kernels/table/host_kernels.h"

namespace rekindle::gpu {
namespace {

constexpr std::size_t kElements = (32 << 20) + 77;
constexpr int kExponent = 30;

// Holds an array twice: in the memory of the processor and in that of the GPU.
template <typename T>
class Both {
 public:
  explicit Both(std::vector<T> values) : host_(std::move(values)), device_(host_) {}
  explicit Both(std::size_t n) : Both(std::vector<T>(n)) {}
  // Returns the address of the array on the GPU, or on the processor.
  T* On(bool gpu) { return gpu ? device_.get() : host_.data(); }
  std::string Differs(const char* name) const { return Difference(name, device_.Host(), host_); }

 private:
  std::vector<T> host_;
  Array<T> device_;
};

std::string FirstOf(std::initializer_list<std::string> problems) {
  for (const std::string& problem : problems) {
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string Lower(std::string name) {
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  return name;
}

// Runs a kernel in both places. `arguments` returns its arguments for the GPU, or for the processor.
template <typename Arguments, typename Make>
void CallBoth(RekindleKernel<Arguments> RekindleKernels::*kernel, const RekindleKernels& gpu, const Make& arguments) {
  const Arguments on_gpu = arguments(true), on_host = arguments(false);
  Call(gpu.*kernel, on_gpu);
  (void)(kernels::HostKernels().*kernel)(&on_host, nullptr, nullptr, 0);
}

void Accumulate(const RekindleKernels& gpu) {
  Both<float> first(Values(kElements, 1, 1e-2f)), second(Values(kElements, 2, 1e-2f)), sum(kElements);
  Both<int64_t> fixed(kElements);
  Both<uint32_t> largest(1), largest_fixed(1);
  const auto to_float = [&](Both<float>& gradient, bool is_first) {
    return [&, is_first](bool on) {
      return RekindleAccumulate{.gradient = gradient.On(on),
                                .n = kElements,
                                .first = is_first ? 1u : 0u,
                                .sum = sum.On(on),
                                .factor = 0x1p-7f,
                                .largest = largest.On(on)};
    };
  };
  const auto to_fixed = [&](Both<float>& gradient, bool is_first) {
    return [&, is_first](bool on) {
      return RekindleAccumulate{.gradient = gradient.On(on),
                                .n = kElements,
                                .first = is_first ? 1u : 0u,
                                .fixed = fixed.On(on),
                                .exponent = kExponent,
                                .largest = largest_fixed.On(on)};
    };
  };
  CallBoth(&RekindleKernels::accumulate, gpu, to_float(first, true));
  CallBoth(&RekindleKernels::accumulate, gpu, to_float(second, false));
  CallBoth(&RekindleKernels::accumulate, gpu, to_fixed(first, true));
  CallBoth(&RekindleKernels::accumulate, gpu, to_fixed(second, false));
  PrintCheck("accumulate", FirstOf({sum.Differs("sum"), fixed.Differs("fixed"), largest.Differs("largest"),
                                    largest_fixed.Differs("largest of fixed")}));
  std::vector<float> bad = Values(kElements, 2, 1e-2f);
  bad[kElements - 5] = std::numeric_limits<float>::quiet_NaN();
  Both<float> with_nan(bad);
  CallBoth(&RekindleKernels::accumulate, gpu, to_float(with_nan, false));
  PrintCheck("accumulate finds NaN", largest.Differs("largest"));
  const RekindleAccumulate floats = to_float(first, false)(true), integers = to_fixed(first, false)(true);
  PrintRate("accumulate_float", 12.0 * kElements, [&] { Call(gpu.accumulate, floats); });
  PrintRate("accumulate_fixed", 20.0 * kElements, [&] { Call(gpu.accumulate, integers); });
}

// Returns the pieces of parameters whose sizes are no multiples of a block. They are cut at blocks of 64 Ki elements,
// as worker/train/arithmetic/gradient_norm.cc cuts them.
std::vector<RekindlePiece> Pieces() {
  constexpr int64_t kBlock = 65536;
  std::vector<RekindlePiece> pieces;
  int64_t end = 0;
  for (int parameter = 0; end < static_cast<int64_t>(kElements); ++parameter) {
    int64_t at = end;
    end = std::min(static_cast<int64_t>(kElements), end + (parameter % 3 == 0 ? 1000'003 : 77 * parameter + 1));
    while (at < end) {
      const int64_t stop = std::min(end, (at / kBlock + 1) * kBlock);
      pieces.push_back({at, stop - at});
      at = stop;
    }
  }
  return pieces;
}

template <typename T>
void Squares(const RekindleKernels& gpu, const char* name, const std::vector<T>& values) {
  Both<T> gradient(values);
  Both<RekindlePiece> pieces(Pieces());
  const std::size_t n = Pieces().size();
  Both<double> squares(n);
  const auto arguments = [&](bool on) {
    RekindleSquares args = {.pieces = pieces.On(on), .n_pieces = n, .squares = squares.On(on)};
    if constexpr (std::is_same_v<T, float>) args.values = gradient.On(on);
    if constexpr (!std::is_same_v<T, float>) args.fixed = gradient.On(on);
    return args;
  };
  CallBoth(&RekindleKernels::squares, gpu, arguments);
  PrintCheck(name, squares.Differs("squares"));
  const RekindleSquares on_gpu = arguments(true);
  PrintRate(name, static_cast<double>(sizeof(T) * kElements), [&] { Call(gpu.squares, on_gpu); });
}

// Makes two steps in place, and a third one beside the old values.
template <typename T>
void Update(const RekindleKernels& gpu, RekindleOptimizer optimizer, const std::string& name,
            const std::vector<T>& values) {
  std::vector<float> positive = Values(kElements, 5, 1e-6f);
  for (float& value : positive) value = std::abs(value);
  Both<float> weights(Values(kElements, 3, 1e-2f)), first(Values(kElements, 4, 1e-4f)), second(std::move(positive));
  Both<float> beside(kElements);
  Both<uint16_t> bf16(kElements), fp16(kElements);
  Both<T> gradient(values);
  const auto arguments = [&](int64_t step, bool in_place) {
    return [&, step, in_place](bool on) {
      RekindleUpdate args = {.optimizer = optimizer,
                             .learning_rate = 1e-3,
                             .weight_decay = 0.1,
                             .beta1 = 0.9,
                             .beta2 = 0.95,
                             .epsilon = 1e-8,
                             .momentum = 0.9,
                             .step = step,
                             .scale = 0.75 / 2048,
                             .n = kElements,
                             .weights = weights.On(on),
                             .first_moment = first.On(on),
                             .second_moment = second.On(on),
                             .new_weights = in_place ? weights.On(on) : beside.On(on)};
      if (in_place) {
        args.new_first_moment = first.On(on);
        args.new_second_moment = second.On(on);
        args.bf16 = bf16.On(on);
        args.fp16 = fp16.On(on);
      }
      if constexpr (std::is_same_v<T, float>) args.values = gradient.On(on);
      if constexpr (!std::is_same_v<T, float>) args.fixed = gradient.On(on), args.scale *= std::ldexp(1.0, -kExponent);
      return args;
    };
  };
  for (int64_t step = 1; step <= 3; ++step) CallBoth(&RekindleKernels::update, gpu, arguments(step, step <= 2));
  PrintCheck(name,
             FirstOf({weights.Differs("weights"), first.Differs("first_moment"), second.Differs("second_moment"),
                      beside.Differs("weights beside the old ones"), bf16.Differs("bf16"), fp16.Differs("fp16")}));
  RekindleUpdate on_gpu = arguments(1, true)(true);
  on_gpu.fp16 = nullptr;
  PrintRate(name, (24.0 + 2 + sizeof(T)) * kElements, [&] { Call(gpu.update, on_gpu); });
}

void Words(const RekindleKernels& gpu) {
  Both<float> values(Values(kElements, 7)), back(kElements);
  Both<uint16_t> halves(kElements);
  Both<uint64_t> hash(1);
  const auto to = [&](bool on) { return RekindleToBf16{values.On(on), kElements, halves.On(on)}; };
  const auto from = [&](bool on) { return RekindleFromBf16{halves.On(on), kElements, back.On(on)}; };
  const auto words = [&](bool on) {
    return RekindleHash{reinterpret_cast<uint32_t*>(back.On(on)), kElements, hash.On(on), 3};
  };
  CallBoth(&RekindleKernels::to_bf16, gpu, to);
  CallBoth(&RekindleKernels::from_bf16, gpu, from);
  CallBoth(&RekindleKernels::hash, gpu, words);
  PrintCheck("bf16 and hash", FirstOf({halves.Differs("bf16"), back.Differs("float"), hash.Differs("hash")}));
  PrintRate("to_bf16", 6.0 * kElements, [&, args = to(true)] { Call(gpu.to_bf16, args); });
  PrintRate("from_bf16", 6.0 * kElements, [&, args = from(true)] { Call(gpu.from_bf16, args); });
  PrintRate("hash", 4.0 * kElements, [&, args = words(true)] { Call(gpu.hash, args); });
}

void RunningMean(const RekindleKernels& gpu, const std::vector<int64_t>& values) {
  Both<int64_t> fixed(values);
  Both<float> floats(Values(kElements, 8)), mean(Values(kElements, 9));
  const auto of_floats = [&](bool on) {
    return RekindleRunningMean{.values = floats.On(on), .n = kElements, .count = 7, .rate = 0.1, .mean = mean.On(on)};
  };
  const auto of_integers = [&](bool on) {
    return RekindleRunningMean{.fixed = fixed.On(on),
                               .unit = std::ldexp(1.0, -kExponent),
                               .n = kElements,
                               .count = 7,
                               .rate = 0.1,
                               .mean = mean.On(on)};
  };
  CallBoth(&RekindleKernels::running_mean, gpu, of_floats);
  CallBoth(&RekindleKernels::running_mean, gpu, of_integers);
  PrintCheck("running_mean", mean.Differs("mean"));
  PrintRate("running_mean", 16.0 * kElements, [&, args = of_integers(true)] { Call(gpu.running_mean, args); });
}

void Mask(const RekindleKernels& gpu) {
  Both<float> mask(kElements);
  const auto arguments = [&](bool on) { return kernels::DropoutMaskOf(11, 0.1, kElements, mask.On(on)); };
  CallBoth(&RekindleKernels::dropout_mask, gpu, arguments);
  PrintCheck("dropout_mask", mask.Differs("mask"));
  PrintRate("dropout_mask", 4.0 * kElements, [&, args = arguments(true)] { Call(gpu.dropout_mask, args); });
}

// The values have no exceptions, whose order on a GPU is not that of the processor. The plugin's probe has some.
void Planes(const RekindleKernels& gpu) {
  constexpr uint32_t kRoom = 64;
  std::vector<float> values(kElements);
  for (std::size_t i = 0; i < kElements; ++i) values[i] = std::sin(0.37f * static_cast<float>(i)) + 2;
  Both<float> x(values), merged(kElements);
  Both<uint16_t> half(kElements), low(kElements);
  Both<int16_t> residual(kElements);
  Both<int8_t> exponent(kElements / kernels::kPlaneBlock + 1);
  Both<uint32_t> index(kRoom), bits(kRoom), exceptions(1);
  Both<uint64_t> nonfinite(1);
  const auto split_half = [&](bool on) {
    return RekindleSplitHalf{x.On(on),     kElements,   half.On(on), exponent.On(on),   residual.On(on),
                             index.On(on), bits.On(on), kRoom,       exceptions.On(on), nonfinite.On(on)};
  };
  const auto merge_half = [&](bool on) {
    return RekindleMergeHalf{half.On(on), exponent.On(on), residual.On(on), kElements, merged.On(on)};
  };
  const auto split_bf16 = [&](bool on) {
    return RekindleSplitBf16{x.On(on), kElements, half.On(on), low.On(on), nonfinite.On(on)};
  };
  const auto merge_bf16 = [&](bool on) { return RekindleMergeBf16{half.On(on), low.On(on), kElements, merged.On(on)}; };
  CallBoth(&RekindleKernels::split_half, gpu, split_half);
  CallBoth(&RekindleKernels::merge_half, gpu, merge_half);
  PrintCheck("planes of weights",
             FirstOf({half.Differs("half"), exponent.Differs("exponent"), residual.Differs("residual"),
                      exceptions.Differs("exceptions"), nonfinite.Differs("nonfinite"), merged.Differs("merged")}));
  PrintRate("split_half", 8.0 * kElements, [&, args = split_half(true)] { Call(gpu.split_half, args); });
  PrintRate("merge_half", 8.0 * kElements, [&, args = merge_half(true)] { Call(gpu.merge_half, args); });
  CallBoth(&RekindleKernels::split_bf16, gpu, split_bf16);
  CallBoth(&RekindleKernels::merge_bf16, gpu, merge_bf16);
  PrintCheck("planes of moments", FirstOf({half.Differs("high"), low.Differs("low"), merged.Differs("merged")}));
  PrintRate("split_bf16", 8.0 * kElements, [&, args = split_bf16(true)] { Call(gpu.split_bf16, args); });
  PrintRate("merge_bf16", 8.0 * kElements, [&, args = merge_bf16(true)] { Call(gpu.merge_bf16, args); });
}

}  // namespace

void CheckStepKernels(const RekindleKernels& gpu) {
  Accumulate(gpu);
  std::vector<float> gradient = Values(kElements, 6);
  std::vector<int64_t> fixed(kElements);
  kernels::AccumulateFixed(gradient.data(), static_cast<int64_t>(kElements), kExponent, true, fixed.data());
  Squares(gpu, "squares_float", gradient);
  Squares(gpu, "squares_fixed", fixed);
#define REKINDLE_CHECK(Name)                                                   \
  Update(gpu, kRekindle##Name, "update_" + Lower(#Name) + "_float", gradient); \
  Update(gpu, kRekindle##Name, "update_" + Lower(#Name) + "_fixed", fixed);
  REKINDLE_ELEMENTWISE_OPTIMIZERS(REKINDLE_CHECK)
#undef REKINDLE_CHECK
  RunningMean(gpu, fixed);
  Words(gpu);
  Mask(gpu);
  Planes(gpu);
  gradient[kElements / 2] = -std::numeric_limits<float>::infinity();
  Squares(gpu, "squares_of_infinity", gradient);
}

}  // namespace rekindle::gpu
