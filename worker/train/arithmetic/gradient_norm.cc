#include "worker/train/arithmetic/gradient_norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernels/table/kernel_table.h"

namespace rekindle::train {

SquaresGatherer::SquaresGatherer(device::Device& device, const ParameterLayout& layout) : device_(device) {
  for (const ParameterInfo& info : layout.parameters) {
    first_piece_.push_back(pieces_.size());
    // A buffer of the model, such as a running mean of batch norm, has no gradient, so it adds nothing to the norm.
    if (info.is_buffer()) continue;
    const int64_t end = info.offset + info.size;
    for (int64_t at = info.offset; at < end;) {
      const int64_t block_end = (at / kNormBlockElements + 1) * kNormBlockElements;
      const int64_t count = std::min(end, block_end) - at;
      at += count;
      pieces_.push_back({.offset = at - count, .count = count});
      ends_block_.push_back(at == block_end);
    }
  }
  first_piece_.push_back(pieces_.size());
  exponents_.resize(pieces_.size());
}

absl::Status SquaresGatherer::Allocate() {
  constexpr char kPurpose[] = "the squares of the gradient";
  const auto bytes = static_cast<int64_t>(pieces_.size() * sizeof(RekindlePiece));
  absl::StatusOr<device::PinnedMemory> squares =
      device_.AllocatePinned(static_cast<int64_t>(pieces_.size() * sizeof(double)), kPurpose);
  if (!squares.ok()) return squares.status();
  absl::StatusOr<device::Memory> pieces = device_.Allocate(bytes, kPurpose);
  if (!pieces.ok()) return pieces.status();
  absl::StatusOr<device::PinnedMemory> on_host = device_.AllocatePinned(bytes, kPurpose);
  if (!on_host.ok()) return on_host.status();
  squares_ = *std::move(squares);
  pieces_on_device_ = *std::move(pieces);
  if (bytes == 0) return absl::OkStatus();
  std::memcpy(on_host->ForWriting(0, bytes).data(), pieces_.data(), static_cast<size_t>(bytes));
  return RunAndAwait(device_, device::Queue::kCompute, Copy(on_host->all(), pieces_on_device_.all()));
}

device::Range SquaresGatherer::SquaresOf(size_t first, size_t end) const {
  return squares_.Part(static_cast<int64_t>(first * sizeof(double)),
                       static_cast<int64_t>((end - first) * sizeof(double)));
}

void SquaresGatherer::Add(const GradientBuffer& gradient, std::span<const int32_t> exponents,
                          const GradientBucket& bucket) {
  const size_t first = first_piece_[static_cast<size_t>(bucket.first_parameter)];
  const size_t end = first_piece_[static_cast<size_t>(bucket.last_parameter) + 1];
  if (first == end) return;
  for (int p = bucket.first_parameter; p <= bucket.last_parameter; ++p) {
    const auto parameter = static_cast<size_t>(p);
    const int32_t exponent = gradient.exact() ? exponents[parameter] : 0;
    for (size_t i = first_piece_[parameter]; i < first_piece_[parameter + 1]; ++i) exponents_[i] = exponent;
  }
  const int64_t origin = pieces_[first].offset;
  const int64_t count = pieces_[end - 1].offset + pieces_[end - 1].count - origin;
  constexpr auto kPiece = static_cast<int64_t>(sizeof(RekindlePiece));
  device_.Run(
      device::Queue::kCompute,
      {.name = "squares",
       .reads = {gradient.Part(origin, count), pieces_on_device_.Part(static_cast<int64_t>(first) * kPiece,
                                                                      static_cast<int64_t>(end - first) * kPiece)},
       .writes = {SquaresOf(first, end)},
       .launch = [&gradient, origin, n = end - first](const device::Addresses& at, const device::Launch& on) {
         const GradientView view = gradient.ViewAt(at.Read<void>(0), origin);
         return on(&RekindleKernels::squares, {.values = view.values,
                                               .fixed = view.fixed,
                                               .origin = origin,
                                               .pieces = at.Read<RekindlePiece>(1),
                                               .n_pieces = n,
                                               .squares = at.Write<double>(0)});
       }});
}

absl::StatusOr<double> SquaresGatherer::Total() const {
  if (pieces_.empty()) return 0.0;
  const absl::Status status = device_.Await(device_.Record(device::Queue::kCompute), nullptr);
  if (!status.ok()) return status;
  const std::span<const std::byte> bytes = squares_.ForReading(0, squares_.bytes());
  double total = 0;
  double block = 0;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    double squares = 0;
    std::memcpy(&squares, bytes.data() + i * sizeof(double), sizeof(double));
    block += std::ldexp(squares, -2 * exponents_[i]);
    if (!ends_block_[i]) continue;
    total += block;
    block = 0;
  }
  return total + block;
}

absl::StatusOr<double> GradientSumOfSquares(device::Device& device, const ParameterLayout& layout,
                                            const GradientBuffer& gradient, std::span<const int32_t> exponents) {
  SquaresGatherer gatherer(device, layout);
  if (absl::Status status = gatherer.Allocate(); !status.ok()) return status;
  gatherer.Add(gradient, exponents, {.last_parameter = static_cast<int>(layout.parameters.size()) - 1});
  return gatherer.Total();
}

}  // namespace rekindle::train
