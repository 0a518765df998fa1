// Computes the sum of squares of a flat gradient in double. The order of additions depends on the layout alone: blocks
// of 64 Ki elements in index order, and within a block its parameters in order. Every rank that computes a block gets
// the same bits. The sum can be gathered bucket by bucket, in any order, as the buckets are reduced.
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_NORM_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_NORM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/sums/sum_arguments.h"
#include "worker/contract/model_interface.h"
#include "worker/device/contract/device.h"
#include "worker/train/arithmetic/gradient_buckets.h"
#include "worker/train/arithmetic/gradient_buffer.h"

namespace rekindle::train {

inline constexpr int64_t kNormBlockElements = 65536;

// SquaresGatherer is thread-compatible.
class SquaresGatherer {
 public:
  // `device` must outlive the SquaresGatherer.
  SquaresGatherer(device::Device& device, const ParameterLayout& layout);
  // Allocates what the squares need. Returns RESOURCE_EXHAUSTED if the device has no room.
  absl::Status Allocate();
  // Queues the squares of a reduced bucket on the compute queue. They replace those that were gathered from the same
  // bucket before. `exponents` has one value a parameter if the gradient is in fixed point, else it is ignored.
  void Add(const GradientBuffer& gradient, std::span<const int32_t> exponents, const GradientBucket& bucket);
  // Waits until all squares are there. Returns the sum of squares over the newest values of every bucket, or the error
  // of the device. The sum is not finite exactly when an element is not finite.
  absl::StatusOr<double> Total() const;

 private:
  device::Range SquaresOf(size_t first, size_t end) const;

  device::Device& device_;
  // `pieces_` has the elements of each parameter that lie in one block of the flat gradient. `ends_block_` says of each
  // piece whether it is the last one of its block.
  std::vector<RekindlePiece> pieces_;
  std::vector<bool> ends_block_;
  device::Memory pieces_on_device_;
  // `exponents_` has the fixed-point exponent of each piece's newest squares.
  std::vector<int32_t> exponents_;
  // `first_piece_` holds for each parameter the index of its first Piece in `pieces_`, and at its end the number of all
  // pieces.
  std::vector<size_t> first_piece_;
  // `squares_` has the sum of squares of each piece, as a double, in units of its fixed point.
  device::PinnedMemory squares_;
};

// Returns the sum of squares of a gradient that is complete. SquaresGatherer gets a gradient bucket by bucket instead.
absl::StatusOr<double> GradientSumOfSquares(device::Device& device, const ParameterLayout& layout,
                                            const GradientBuffer& gradient, std::span<const int32_t> exponents);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_NORM_H_
