// Reads and writes headers of the safetensors format. A file has 8 bytes of little-endian header length, a JSON header
// (tensor name -> dtype, shape, data_offsets; "__metadata__" -> strings), and then the tensors' bytes without gaps.
// Source: https://github.com/huggingface/safetensors (format section). The functions are pure and thread-safe.
#ifndef REKINDLE_CHECKPOINT_FORMAT_SAFETENSORS_H_
#define REKINDLE_CHECKPOINT_FORMAT_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

// `kMaxSafetensorsHeader` limits the JSON header of a safetensors file, in bytes.
inline constexpr size_t kMaxSafetensorsHeader = 1 << 20;
// In files that Rekindle writes, the data begins at a multiple of `kSafetensorsAlignment` bytes.
inline constexpr size_t kSafetensorsAlignment = 64;

struct TensorEntry {
  std::string name;
  // `dtype` is one of F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL.
  std::string dtype;
  std::vector<int64_t> shape;
  // `begin` and `end` are offsets into the file's data, which starts at SafetensorsHeader::data_offset.
  uint64_t begin = 0;
  uint64_t end = 0;

  bool operator==(const TensorEntry&) const = default;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  // `tensors` lists the tensors in the order in which their data lie in the file.
  std::vector<TensorEntry> tensors;
  uint64_t data_offset = 0;

  const TensorEntry* Find(const std::string& name) const;
};

// Returns the size of one element of the dtype in bytes, or 0 for an unknown dtype.
size_t DtypeBytes(const std::string& dtype);

// Returns the header of a safetensors file: length, JSON and padding, so that the data begins at a multiple of
// `alignment`. `begin`, `end` and `data_offset` are ignored, because the tensors are placed in the order of the list.
// INVALID_ARGUMENT has the same reasons as for parsing: repeated names, an unknown dtype, or sizes that overflow.
absl::StatusOr<std::string> EncodeSafetensorsHeader(const std::map<std::string, std::string>& metadata,
                                                    const std::vector<TensorEntry>& tensors,
                                                    size_t alignment = kSafetensorsAlignment);

// Parses the header of a safetensors file strictly. `file_bytes` is the size of the whole file, and `head` has at least
// its header. INVALID_ARGUMENT names what is wrong: a header that is too long or not JSON, unknown or repeated keys,
// shape and size that disagree or overflow, or data that overlaps, has gaps, or does not end with the file.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::span<const uint8_t> head, uint64_t file_bytes);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_SAFETENSORS_H_
