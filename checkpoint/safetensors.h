// The safetensors format: 8 bytes of little-endian header length, a JSON header (tensor name -> dtype, shape,
// data_offsets; "__metadata__" -> strings), then the tensors' bytes without gaps.
// Source: https://github.com/huggingface/safetensors (format section). Pure functions; thread-safe.
#ifndef REKINDLE_CHECKPOINT_SAFETENSORS_H_
#define REKINDLE_CHECKPOINT_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

inline constexpr size_t kMaxSafetensorsHeader = 1 << 20;  // Of the JSON text.
inline constexpr size_t kSafetensorsAlignment = 64;       // Where our files' data begins.

struct TensorEntry {
  std::string name;
  std::string dtype;  // F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // Into the data, which starts at SafetensorsHeader::data_offset of the file.
  uint64_t end = 0;

  bool operator==(const TensorEntry&) const = default;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorEntry> tensors;  // In the order of their data.
  uint64_t data_offset = 0;

  const TensorEntry* Find(const std::string& name) const;
};

// Bytes of one element; 0 for an unknown dtype.
size_t DtypeBytes(const std::string& dtype);

// Length, JSON and padding, so that the data begins at a multiple of `alignment`. `begin`, `end` and `data_offset` are
// not read: tensors are laid out in order.
// INVALID_ARGUMENT as for parsing (names twice, unknown dtype, sizes that overflow).
absl::StatusOr<std::string> EncodeSafetensorsHeader(const std::map<std::string, std::string>& metadata,
                                                    const std::vector<TensorEntry>& tensors,
                                                    size_t alignment = kSafetensorsAlignment);

// Strict: `file_bytes` is the size of the whole file and `head` at least its header. INVALID_ARGUMENT names what is
// wrong: header too long or not JSON, unknown or repeated keys, shape and size that disagree or overflow, data that
// overlaps, has gaps, or does not end with the file.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::span<const uint8_t> head, uint64_t file_bytes);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SAFETENSORS_H_
