// Writes and reads a shard of the flat state as one or two plane files. Each is a valid safetensors file of at most 64
// MiB. It is named by its XXH3-128 and has the metadata format, begin, end, total, plane and precision. For n elements,
// of which k are exceptions, the tensors are:
//   plane 0   weights F16 [n] (bf16: BF16), first_moment BF16 [n], second_moment BF16 [n],
//             weights_exponent I8 [ceil(n / 1024)] (not with bf16): weight i is weights[i] * 2^exponent[i / 1024]
//   plane 1   weights_residual I16 [n], first_moment_low U16 [n], second_moment_low U16 [n],
//             exception_index U32 [k] in increasing order, exception_weight F32 [k]: whole weights
// Plane 0 can be used alone. Only the precision `exact` has a plane 1, with which FP32 is restored bit for bit
// (kernels/planes/plane_split.h).
//
// A plane file holds neither step nor generation. So equal content has an equal name, and a repeated upload finds the
// file already there. The manifest says to which step a file belongs.
//
// The functions of this header are pure, torch-free and thread-safe.
#ifndef REKINDLE_CHECKPOINT_FORMAT_PLANES_H_
#define REKINDLE_CHECKPOINT_FORMAT_PLANES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/state_shards.h"
#include "kernels/planes/plane_exceptions.h"

namespace rekindle::checkpoint {

enum class Precision { kExact, kFp16, kBf16 };
inline constexpr std::string_view kPrecisionNames[] = {"exact", "fp16", "bf16"};

inline std::string PrecisionName(Precision precision) {
  return std::string(kPrecisionNames[static_cast<int>(precision)]);
}
// Returns the number of plane files of a shard.
constexpr int PlanesOf(Precision precision) { return precision == Precision::kExact ? 2 : 1; }
// Parses the name of a precision. INVALID_ARGUMENT lists the valid names.
absl::StatusOr<Precision> ParsePrecision(std::string_view name);

// Holds the sizes of the plane files of a range of the state. `plane1` is 0 unless the precision is `exact`.
struct PlaneBytes {
  int64_t plane0 = 0;
  int64_t plane1 = 0;
};
// Returns the sizes of the plane files for a range of which `exceptions` elements are exceptions. A range of n elements
// has at most n. Trained weights rarely have any, because an exception is a weight below 2^-31 of the largest magnitude
// among the 1024 weights of its block. With n exceptions in a range of kMaxShardElements, plane 1 has 56 MiB.
PlaneBytes SizeOfPlanes(int64_t total, const ShardRange& range, Precision precision, int64_t exceptions);

struct WrittenPlane {
  // `bytes` is the size of the plane file at the front of the caller's memory. It is 0 if there is no such plane.
  int64_t bytes = 0;
  // `xxh3` is the hash of the plane file as 32 lower-case hex digits.
  std::string xxh3;
};
struct WrittenPlanes {
  WrittenPlane plane0, plane1;
  const WrittenPlane& at(int plane) const { return plane == 0 ? plane0 : plane1; }
  int64_t exceptions = 0;
  // `nonfinite` counts the NaN and infinities among weights and moments, which are written like any other value.
  int64_t nonfinite = 0;
};

// Writes the planes of a range: splits, copies and hashes the state in one pass over the range, piece by piece in the
// cache. The residuals are hashed a second time only if there are exceptions. The memory of the planes must begin at a
// multiple of 4. Beyond the returned sizes it holds nothing of use. Equal states give equal bytes on every machine.
// Returns INVALID_ARGUMENT for a range that is too long or outside of the state, and for memory that is misaligned or
// too small even without exceptions. Returns RESOURCE_EXHAUSTED if the memory of plane 1 is too small for the
// exceptions. That cannot happen if it has the size that SizeOfPlanes returns for n exceptions.
absl::StatusOr<WrittenPlanes> WritePlanes(const StateView& state, const ShardRange& range, Precision precision,
                                          std::span<uint8_t> plane0, std::span<uint8_t> plane1);

// Points to the planes of a range of the state that were split elsewhere, with the arithmetic of kernels/planes.
struct SplitRange {
  // `weights` has FP16 halves, or with Precision::kBf16 bfloat16.
  const uint16_t* weights = nullptr;
  // `exponents` is null with Precision::kBf16. `residuals` and `moments_low` are used only with Precision::kExact.
  const int8_t* exponents = nullptr;
  const int16_t* residuals = nullptr;
  // A moment that is null counts as zeros.
  std::array<const uint16_t*, 2> moments = {};
  std::array<const uint16_t*, 2> moments_low = {};
  // `exceptions` lists all exceptions in the order of their indices.
  kernels::PlaneExceptions exceptions;
  int64_t nonfinite = 0;
};

// Works like WritePlanes for a range of a state of `total` elements whose planes have been split already.
absl::StatusOr<WrittenPlanes> WriteSplitPlanes(const SplitRange& split, int64_t total, const ShardRange& range,
                                               Precision precision, std::span<uint8_t> plane0,
                                               std::span<uint8_t> plane1);

struct ReadState {
  // `range` is the range of the state that was read. Its fields `index`, `count` and `owner` are 0.
  ShardRange range;
  // `exact` says that every bit is as it was saved, which takes both planes of the precision `exact`.
  bool exact = false;
};

// Points to the planes of a shard, which are proven to be well-formed and to belong together. Elements are counted from
// the first one of the shard.
struct ShardPlanes {
  // The fields `index`, `count` and `owner` of the range are 0.
  ShardRange range;
  // `exact` says that there are both planes of the precision `exact`.
  bool exact = false;
  // `weights` has FP16 halves, or bfloat16 if `exponents` is null. `residuals` and `moments_low` are null unless the
  // planes are exact.
  const uint16_t* weights = nullptr;
  const int8_t* exponents = nullptr;
  const int16_t* residuals = nullptr;
  std::array<const uint16_t*, 2> moments = {};
  std::array<const uint16_t*, 2> moments_low = {};
  // `exceptions` has the indices of the `exceptions_count` exceptions, and behind them their weights, each of 4 bytes
  // and not aligned.
  const uint8_t* exceptions = nullptr;
  int64_t exceptions_count = 0;

  int64_t elements() const { return range.end - range.begin; }
};
// Returns the planes of a shard of a state of `total` elements. If `plane1` is empty, plane 0 is used alone. The memory
// of the planes must begin at a multiple of 4. Returns INVALID_ARGUMENT unless both planes are well-formed, of one
// range, and of a state of the same total.
absl::StatusOr<ShardPlanes> ParsePlanes(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1,
                                        int64_t total);
// Returns whether any of the elements [from, to) is an exception.
bool HasException(const ShardPlanes& planes, int64_t from, int64_t to);
// Writes the weights of the elements [from, to). REQUIRES: `from` is a multiple of kernels::kPlaneBlock.
void MergeWeights(const ShardPlanes& planes, int64_t from, int64_t to, float* weights);

// Copies a shard's elements to their range in `state`, from both planes, or from plane 0 alone if `plane1` is empty. If
// `state` wants only some ranges of the moments, only those are copied. The memory of the planes must begin at a
// multiple of 4. Returns INVALID_ARGUMENT and writes nothing unless both planes are well-formed, of one range, and of a
// state of the same total. The caller must make sure that one manifest names both planes together.
absl::StatusOr<ReadState> ReadPlanes(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1,
                                     const MutableState& state);

// Works like ReadPlanes for a state of `total` elements, but reads only the weights of the range, into a vector of
// their own.
absl::StatusOr<ReadState> ReadWeights(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1, int64_t total,
                                      std::vector<float>* weights);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_PLANES_H_
