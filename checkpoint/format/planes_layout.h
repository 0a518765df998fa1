// Defines what a plane file holds and in which order, for its writer and its reader. Only they use this header.
#ifndef REKINDLE_CHECKPOINT_FORMAT_PLANES_LAYOUT_H_
#define REKINDLE_CHECKPOINT_FORMAT_PLANES_LAYOUT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/format/planes.h"
#include "checkpoint/format/safetensors.h"
#include "kernels/planes/plane_split.h"

namespace rekindle::checkpoint {

inline constexpr char kPlaneFormat[] = "rekindle-shard-2";
// The data of a plane file begins at `kPlaneDataOffset` whatever the number of exceptions, because that number is known
// last.
inline constexpr int64_t kPlaneDataOffset = 1024;
// An exception takes 4 bytes for its index and 4 for the bits of its weight.
inline constexpr int64_t kExceptionBytes = 8;

// Holds everything that the header of a plane file says about the file.
struct PlaneHead {
  ShardRange range;
  int64_t total = 0;
  Precision precision = Precision::kExact;
  int plane = 0;
  int64_t exceptions = 0;

  int64_t elements() const { return range.end - range.begin; }
};

inline int64_t ExponentsOf(int64_t elements) { return (elements + kernels::kPlaneBlock - 1) / kernels::kPlaneBlock; }

// Returns how many bytes of a plane file's data come before the exponents of plane 0, or before the exceptions of plane
// 1.
inline int64_t BytesOfHalves(int64_t elements) { return 3 * int64_t{sizeof(uint16_t)} * elements; }

int64_t FileBytes(const PlaneHead& head);
// Returns the tensors of a plane file in the order of their data.
std::vector<TensorEntry> TensorsOf(const PlaneHead& head);
std::map<std::string, std::string> MetadataOf(const PlaneHead& head);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_PLANES_LAYOUT_H_
