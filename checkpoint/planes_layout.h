// What a plane file holds, in which order: for its writer and its reader. Internal to checkpoint/planes.
#ifndef REKINDLE_CHECKPOINT_PLANES_LAYOUT_H_
#define REKINDLE_CHECKPOINT_PLANES_LAYOUT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/planes.h"
#include "checkpoint/safetensors.h"
#include "kernels/plane_split.h"

namespace rekindle::checkpoint {

inline constexpr char kPlaneFormat[] = "rekindle-shard-2";
// Where the data begins: one place for any number of exceptions, as these are known last.
inline constexpr int64_t kPlaneDataOffset = 1024;
inline constexpr int64_t kExceptionBytes = 8;  // An index and the bits.

// All that the header of a plane file says.
struct PlaneHead {
  ShardRange range;
  int64_t total = 0;
  Precision precision = Precision::kExact;
  int plane = 0;
  int64_t exceptions = 0;

  int64_t elements() const { return range.end - range.begin; }
};

inline int64_t ExponentsOf(int64_t elements) { return (elements + kernels::kPlaneBlock - 1) / kernels::kPlaneBlock; }

// Bytes of the data before the exponents of plane 0, and before the exceptions of plane 1.
inline int64_t BytesOfHalves(int64_t elements) { return 3 * int64_t{sizeof(uint16_t)} * elements; }

int64_t FileBytes(const PlaneHead& head);
// The tensors in the order of their data.
std::vector<TensorEntry> TensorsOf(const PlaneHead& head);
std::map<std::string, std::string> MetadataOf(const PlaneHead& head);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_PLANES_LAYOUT_H_
