// What a checkpoint is: a manifest that names shards, by content, which together are the state at one step.
//
// Plain structs, free of torch and protobuf. Values only; thread-compatible.
#ifndef REKINDLE_CHECKPOINT_MANIFEST_H_
#define REKINDLE_CHECKPOINT_MANIFEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

inline constexpr int kManifestFormat = 1;
inline constexpr size_t kMaxManifestBytes = 4 << 20;
inline constexpr int kMaxShards = 16384;  // Of 64 MiB: 1 TiB of state.
inline constexpr int64_t kMaxShardBytes = 64 << 20;

// One shard file, named by its content.
struct ShardRef {
  std::string name;    // "<xxh3>.safetensors"
  int64_t bytes = 0;   // 1..kMaxShardBytes
  std::string xxh3;    // XXH3-128 of the whole file, 32 lower-case hex digits.
  int generation = 0;  // In which it was staged.
  int index = 0;       // 0..count-1
  int count = 0;       // Shards that together are the state.

  bool operator==(const ShardRef&) const = default;
};

struct Manifest {
  int format = kManifestFormat;
  std::string job_uid;
  int generation = 0;
  int step = 0;
  std::string writer;            // Of the trainer that commits: a safe name, see IsSafeName.
  std::vector<ShardRef> shards;  // In index order, all of `generation`.
  std::string state_digest;
  std::string scalars;  // JSON: what is not a tensor.
  std::string spec_digest;

  bool operator==(const Manifest&) const = default;
};

// What a search of the store for the newest whole checkpoint gave.
struct Newest {
  bool found = false;
  std::string name;
  Manifest manifest;
  std::vector<std::string> skipped;  // "name: reason", newest first.
  int highest_generation = 0;        // Of any manifest name in the store, whole or not.
};

// "<generation>-<step>-<writer>": numbers without leading zeros. Newer is the higher (generation, step).
struct ManifestName {
  int generation = 0;
  int step = 0;
  std::string writer;

  auto operator<=>(const ManifestName&) const = default;
};

// 1..128 of [A-Za-z0-9._-], the first one a letter or digit: never leaves its folder.
bool IsSafeName(const std::string& name);
// `name` with every other character replaced by '_'; "writer" when nothing is left.
std::string SafeName(const std::string& name);

// 32 lower-case hex digits.
bool IsXxh3(const std::string& text);

std::string FormatName(const ManifestName& name);
// INVALID_ARGUMENT for anything that FormatName does not produce.
absl::StatusOr<ManifestName> ParseName(const std::string& text);
ManifestName NameOf(const Manifest& manifest);

// INVALID_ARGUMENT names the field: counts and sizes in bounds, safe names, index 0..count-1 all there and in
// order, every shard of the manifest's generation and named by its hash.
absl::Status Validate(const Manifest& manifest);

// One JSON document {"xxh3": ..., "manifest": {...}} and a newline; the checksum is that of the inner text.
// Precondition: Validate(manifest) is OK.
std::string EncodeManifest(const Manifest& manifest);
// DATA_LOSS when the checksum or the frame is wrong, INVALID_ARGUMENT for unknown, missing, repeated or mistyped
// fields, for an unknown format, or what Validate refuses. Memory is bounded by kMaxManifestBytes of input.
absl::StatusOr<Manifest> DecodeManifest(const std::string& text);

// A ShardRef in a fixed size, for ranks to exchange through a Communicator.
inline constexpr size_t kShardRecordBytes = 40;
std::array<uint8_t, kShardRecordBytes> EncodeShardRef(const ShardRef& ref);
// An all-zero record decodes to a ref of count 0: "no shard here".
absl::StatusOr<ShardRef> DecodeShardRef(const uint8_t* record);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_MANIFEST_H_
