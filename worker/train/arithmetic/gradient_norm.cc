#include "worker/train/arithmetic/gradient_norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernels/sums/sum_of_squares.h"

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
      pieces_.push_back({.offset = at - count, .count = count, .ends_block = at == block_end});
    }
  }
  first_piece_.push_back(pieces_.size());
}

absl::Status SquaresGatherer::Allocate() {
  absl::StatusOr<device::PinnedMemory> squares =
      device_.AllocatePinned(static_cast<int64_t>(pieces_.size() * sizeof(double)), "the squares of the gradient");
  if (!squares.ok()) return squares.status();
  squares_ = *std::move(squares);
  return absl::OkStatus();
}

device::Range SquaresGatherer::SquaresOf(size_t first, size_t end) const {
  return squares_.Part(static_cast<int64_t>(first * sizeof(double)),
                       static_cast<int64_t>((end - first) * sizeof(double)));
}

void SquaresGatherer::Add(const GradientBuffer& gradient, std::span<const int32_t> exponents,
                          const GradientBucket& bucket) {
  // Describes a piece with the exponent of its parameter.
  struct Scaled {
    Piece piece;
    int32_t exponent;
  };
  std::vector<Scaled> pieces;
  const size_t first = first_piece_[static_cast<size_t>(bucket.first_parameter)];
  const size_t end = first_piece_[static_cast<size_t>(bucket.last_parameter) + 1];
  for (int p = bucket.first_parameter; p <= bucket.last_parameter; ++p) {
    const auto parameter = static_cast<size_t>(p);
    const int32_t exponent = gradient.exact() ? exponents[parameter] : 0;
    for (size_t i = first_piece_[parameter]; i < first_piece_[parameter + 1]; ++i) {
      pieces.push_back({pieces_[i], exponent});
    }
  }
  if (pieces.empty()) return;
  const int64_t origin = pieces.front().piece.offset;
  const int64_t count = pieces.back().piece.offset + pieces.back().piece.count - origin;
  device_.Run(device::Queue::kCompute,
              {.name = "squares",
               .reads = {gradient.Part(origin, count)},
               .writes = {SquaresOf(first, end)},
               .run = [&gradient, origin, pieces = std::move(pieces)](const device::Addresses& at) {
                 const GradientView view = gradient.ViewAt(at.Read<void>(0), origin);
                 double* squares = at.Write<double>(0);
                 for (const auto& [piece, exponent] : pieces) {
                   *squares++ =
                       view.fixed != nullptr
                           ? std::ldexp(kernels::SumOfSquares(view.FixedAt(piece.offset), piece.count), -2 * exponent)
                           : kernels::SumOfSquares(view.ValuesAt(piece.offset), piece.count);
                 }
                 return absl::OkStatus();
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
    block += squares;
    if (!pieces_[i].ends_block) continue;
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
