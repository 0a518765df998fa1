#include "kernels/cuda/planes/plane_probe.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/planes/cuda_plane_split.h"
#include "kernels/planes/plane_element.h"
#include "kernels/planes/plane_variants.h"

namespace rekindle::cuda {
namespace {

using kernels::FloatBits;
using kernels::FloatFromBits;

// Returns blocks of every magnitude, of small values and of denormals, and a last block that is not full. NaN and
// infinity are among the values.
std::vector<float> Input() {
  std::vector<float> x;
  std::uint32_t bits = 12345;
  for (std::size_t i = 0; i < 6 * 1024 + 77; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const std::uint32_t mixed = bits ^ bits >> 15;
    x.push_back(FloatFromBits(i < 2048 ? mixed : i < 4096 ? (mixed & 0x83ffffffu) + 0x3a000000u : mixed & 0x807fffffu));
  }
  return x;
}

struct Planes {
  explicit Planes(std::size_t n)
      : half(n), high(n), low(n), residual(n), exponent((n + 1023) / 1024), exact(n), rounded(n), moment(n) {}
  std::vector<std::uint16_t> half, high, low;
  std::vector<std::int16_t> residual;
  std::vector<std::int8_t> exponent;
  std::vector<float> exact, rounded, moment;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> exceptions;
  std::uint64_t nonfinite = 0;
};

Planes OnCpu(const std::vector<float>& x) {
  const auto& plain = kernels::PlainPlanes();
  const auto n = static_cast<std::int64_t>(x.size());
  Planes out(x.size());
  std::vector<std::uint32_t> index(x.size()), bits(x.size());
  kernels::PlaneExceptions exceptions{.index = index.data(), .bits = bits.data(), .capacity = n};
  std::int64_t nonfinite =
      plain.split_half(x.data(), n, out.half.data(), out.exponent.data(), out.residual.data(), 0, &exceptions);
  for (std::int64_t i = 0; i < exceptions.count; ++i) out.exceptions.emplace_back(index[i], bits[i]);
  nonfinite += plain.split_bf16(x.data(), n, out.high.data(), out.low.data());
  out.nonfinite = static_cast<std::uint64_t>(nonfinite);
  plain.merge_half(out.half.data(), out.exponent.data(), out.residual.data(), n, out.exact.data());
  plain.merge_half(out.half.data(), out.exponent.data(), nullptr, n, out.rounded.data());
  plain.merge_bf16(out.high.data(), out.low.data(), n, out.moment.data());
  return out;
}

cudaError_t OnDevice(const std::vector<float>& x, Planes* out) {
  const std::size_t n = x.size();
  const DeviceArray<float> in(x), exact(n), rounded(n), moment(n);
  const DeviceArray<std::uint16_t> half(n), high(n), low(n);
  const DeviceArray<std::int16_t> residual(n);
  const DeviceArray<std::int8_t> exponent(out->exponent.size());
  const DeviceArray<std::uint32_t> index(n), bits(n), count(1);
  const DeviceArray<std::uint64_t> nonfinite(1);
  for (cudaError_t code :
       {in.code(), exact.code(), rounded.code(), moment.code(), half.code(), high.code(), low.code(), residual.code(),
        exponent.code(), index.code(), bits.code(), count.code(), nonfinite.code()}) {
    if (code != cudaSuccess) return code;
  }
  std::vector<std::uint32_t> found, at, value;
  std::vector<std::uint64_t> not_finite;
  cudaError_t code = SplitHalf({.x = in.get(),
                                .n = n,
                                .half = half.get(),
                                .exponent = exponent.get(),
                                .residual = residual.get(),
                                .index = index.get(),
                                .bits = bits.get(),
                                .capacity = static_cast<std::uint32_t>(n),
                                .exceptions = count.get(),
                                .nonfinite = nonfinite.get()},
                               nullptr);
  const auto then = [&code](cudaError_t next) { code = code == cudaSuccess ? next : code; };
  then(SplitBf16({.x = in.get(), .n = n, .high = high.get(), .low = low.get(), .nonfinite = nonfinite.get()}, nullptr));
  then(MergeHalf({.half = half.get(), .exponent = exponent.get(), .residual = residual.get(), .n = n, .x = exact.get()},
                 nullptr));
  then(MergeHalf({.half = half.get(), .exponent = exponent.get(), .residual = nullptr, .n = n, .x = rounded.get()},
                 nullptr));
  then(MergeBf16({.high = high.get(), .low = low.get(), .n = n, .x = moment.get()}, nullptr));
  then(half.Copy(&out->half));
  then(high.Copy(&out->high));
  then(low.Copy(&out->low));
  then(residual.Copy(&out->residual));
  then(exponent.Copy(&out->exponent));
  then(exact.Copy(&out->exact));
  then(rounded.Copy(&out->rounded));
  then(moment.Copy(&out->moment));
  then(count.Copy(&found));
  then(index.Copy(&at));
  then(bits.Copy(&value));
  then(nonfinite.Copy(&not_finite));
  if (code != cudaSuccess) return code;
  for (std::size_t i = 0; i < std::min<std::size_t>(found[0], n); ++i) out->exceptions.emplace_back(at[i], value[i]);
  std::sort(out->exceptions.begin(), out->exceptions.end());
  out->nonfinite = not_finite[0];
  return cudaSuccess;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float one, float other) { return FloatBits(one) == FloatBits(other); });
}

}  // namespace

int ProbePlanes(char* error, std::size_t error_size) {
  const std::vector<float> x = Input();
  const Planes expected = OnCpu(x);
  Planes got(x.size());
  if (auto code = OnDevice(x, &got)) return Fail("the planes of a checkpoint", code, error, error_size);
  const char* wrong = nullptr;
  if (!SameBits(got.moment, expected.moment)) wrong = "merges BF16";
  if (!SameBits(got.rounded, expected.rounded) || !SameBits(got.exact, expected.exact)) wrong = "merges FP16";
  if (got.high != expected.high || got.low != expected.low) wrong = "splits BF16";
  if (got.half != expected.half || got.exponent != expected.exponent || got.residual != expected.residual) {
    wrong = "splits FP16";
  }
  if (got.exceptions != expected.exceptions || got.nonfinite != expected.nonfinite) wrong = "counts exceptions";
  if (wrong == nullptr) return 0;
  std::snprintf(error, error_size, "the device %s of a checkpoint's planes otherwise than the CPU", wrong);
  return 1;
}

}  // namespace rekindle::cuda
