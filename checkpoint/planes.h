// A shard of the flat state as one or two plane files. Each is a valid safetensors file of at most 64 MiB,
// named by its XXH3-128, with the metadata format, begin, end, total, plane and precision. For n elements:
//   plane 0   weights F16 [n] (bf16: BF16), first_moment BF16 [n], second_moment BF16 [n],
//             weights_exponent I8 [ceil(n / 1024)] (not with bf16): weight = weights * 2^exponent of its 1024
//   plane 1   weights_residual I16 [n], first_moment_low U16 [n], second_moment_low U16 [n],
//             exception_index U32 [k], exception_weight F32 [k], in increasing order: whole weights
// Plane 0 is usable alone; plane 1, which only `exact` has, makes FP32 of it again bit for bit (kernels/plane_split.h).
//
// A file holds neither step nor generation: equal content has an equal name, so a repeated upload finds it there (the
// manifest says to which step it belongs).
//
// Pure functions, torch-free; thread-safe.
#ifndef REKINDLE_CHECKPOINT_PLANES_H_
#define REKINDLE_CHECKPOINT_PLANES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/state_shards.h"

namespace rekindle::checkpoint {

enum class Precision { kExact, kFp16, kBf16 };
inline constexpr std::string_view kPrecisionNames[] = {"exact", "fp16", "bf16"};

inline std::string PrecisionName(Precision precision) {
  return std::string(kPrecisionNames[static_cast<int>(precision)]);
}
// Files of a shard.
constexpr int PlanesOf(Precision precision) { return precision == Precision::kExact ? 2 : 1; }
// INVALID_ARGUMENT lists the names that there are.
absl::StatusOr<Precision> ParsePrecision(std::string_view name);

// Bytes of a range's files; plane 1 has 0 but with `exact`.
struct PlaneBytes {
  int64_t plane0 = 0;
  int64_t plane1 = 0;
};
// With that many exceptions. A range of n elements has at most n; trained weights rarely have one, as that takes less
// than 2^-31 of the largest magnitude among their 1024. With n exceptions in a range of kMaxShardElements, 56 MiB.
PlaneBytes SizeOfPlanes(int64_t total, const ShardRange& range, Precision precision, int64_t exceptions);

struct WrittenPlane {
  int64_t bytes = 0;  // From the front of the memory given; 0: there is no such plane.
  std::string xxh3;   // Of them: 32 lower-case hex digits.
};
struct WrittenPlanes {
  WrittenPlane plane0, plane1;
  const WrittenPlane& at(int plane) const { return plane == 0 ? plane0 : plane1; }
  int64_t exceptions = 0;
  int64_t nonfinite = 0;  // NaN and infinities among weights and moments. They are written like any other value.
};

// Splits, copies and hashes in one pass over the range, piece by piece in the cache; only where there are exceptions
// the residuals are hashed a second time. The memory begins at a multiple of 4; beyond the sizes returned it holds
// nothing of use. Equal states give equal bytes, on every machine.
// INVALID_ARGUMENT for a range outside of the state or too long, and memory that is misaligned or too small even
// without exceptions; RESOURCE_EXHAUSTED when plane 1's is too small for them (SizeOfPlanes with n never is).
absl::StatusOr<WrittenPlanes> WritePlanes(const StateView& state, const ShardRange& range, Precision precision,
                                          std::span<uint8_t> plane0, std::span<uint8_t> plane1);

struct ReadState {
  ShardRange range;    // index, count and owner are 0.
  bool exact = false;  // Every bit is as it was: both planes of `exact`.
};

// Copies a shard's elements to their range in `state` (of the moments those that it wants): from both planes, or from
// plane 0 alone (`plane1` empty). The memory begins at a multiple of 4. Nothing is written unless both are well-formed,
// of one range, and of a state of the same total: INVALID_ARGUMENT otherwise. That they are the bytes that a manifest
// names, and named together, is the caller's to know.
absl::StatusOr<ReadState> ReadPlanes(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1,
                                     const MutableState& state);

// As ReadPlanes, of a state of `total` elements, but the weights of that range alone, and into memory of their own.
absl::StatusOr<ReadState> ReadWeights(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1, int64_t total,
                                      std::vector<float>* weights);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_PLANES_H_
