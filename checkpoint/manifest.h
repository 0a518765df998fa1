// What a checkpoint is: a manifest that names the plane files of its shards, by content, which together are the state
// at one step. planes.h has what such a file holds.
//
// Plain structs, free of torch and protobuf. Values only; thread-compatible.
#ifndef REKINDLE_CHECKPOINT_MANIFEST_H_
#define REKINDLE_CHECKPOINT_MANIFEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

inline constexpr int kManifestFormat = 2;
inline constexpr size_t kMaxManifestBytes = 4 << 20;
inline constexpr int kMaxShards = 16384;  // Of 4 Mi elements: 64 Gi elements.
inline constexpr int kMaxPlanes = 2;
inline constexpr int64_t kMaxShardBytes = 64 << 20;
inline constexpr size_t kMaxTensors = 4096;
inline constexpr size_t kMaxTensorName = 256;
inline constexpr size_t kMaxDimensions = 8;

// One file, a plane of a shard, named by its content.
struct ShardRef {
  std::string name;    // "<xxh3>.safetensors"
  int64_t bytes = 0;   // 1..kMaxShardBytes
  std::string xxh3;    // XXH3-128 of the whole file, 32 lower-case hex digits.
  int generation = 0;  // In which it was staged.
  int index = 0;       // 0..count-1
  int count = 0;       // Shards that together are the state.
  int plane = 0;       // 0..kMaxPlanes-1

  bool operator==(const ShardRef&) const = default;
};

// A parameter: where it lies follows from those before it, as they are packed without gaps.
struct TensorInfo {
  std::string name;  // Printable ASCII.
  std::vector<int64_t> shape;

  bool operator==(const TensorInfo&) const = default;
};

struct Manifest {
  int format = kManifestFormat;
  std::string job_uid;
  int generation = 0;
  int step = 0;
  std::string writer;                     // Of the trainer that commits: a safe name, see IsSafeName.
  std::vector<ShardRef> shards;           // By (index, plane), all of `generation`; plane 1 of every index or of none.
  std::vector<TensorInfo> tensors;        // The parameters, in the order of the flat state.
  std::optional<double> loss;             // Of the step that led to it; nats a token.
  std::optional<double> validation_loss;  // Newest at that step.
  std::string state_digest;
  std::string scalars;  // JSON: what is not a tensor.
  std::string spec_digest;

  bool operator==(const Manifest&) const = default;
};

// What makes a checkpoint good enough to be found.
struct Look {
  bool verify = false;  // In the store: every byte read and hashed. Else every shard there, with its size.
  bool exact = false;   // Both planes of every shard.
  // Newer ones are passed over. Older ones count only where the bytes of this one are damaged. Empty: the newest.
  std::string name;
};

// Planes of each shard; 0 for a manifest without shards. With two, every bit of the state comes back.
// Precondition: Validate(manifest) is OK, or it has no shards.
int PlanesOf(const Manifest& manifest);
// INVALID_ARGUMENT when it has plane 0 alone and `look` is for exact ones.
absl::Status CheckPlanes(const Manifest& manifest, const Look& look);

struct SkippedCheckpoint {
  std::string name;
  std::string reason;
};

// What a search for the newest good checkpoint gave.
struct Newest {
  bool found = false;
  bool durable = false;  // It is in the store, and not only in memory.
  std::string name;
  Manifest manifest;
  std::vector<std::string> skipped;        // "name: reason", newest first.
  std::vector<SkippedCheckpoint> damaged;  // These were skipped because their bytes are not what their names promise.
  std::string missing;                     // Why the one that was asked for by name is not there.
  int highest_generation = 0;              // The highest in a manifest's name in the store, whole or not.
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

// FAILED_PRECONDITION for a format above kManifestFormat. INVALID_ARGUMENT names the field: counts and sizes in bounds,
// safe names, index 0..count-1 all there, with the same planes and in order, every shard of the manifest's generation
// and named by its hash.
absl::Status Validate(const Manifest& manifest);

// One JSON document {"xxh3": ..., "manifest": {...}} and a newline; the checksum is that of the inner text.
// Precondition: Validate(manifest) is OK.
std::string EncodeManifest(const Manifest& manifest);
// DATA_LOSS when the checksum or the frame is wrong, INVALID_ARGUMENT for missing, repeated or mistyped fields, for an
// older format, or what Validate refuses. FAILED_PRECONDITION for what a newer release made (manifest_release.h).
// Memory is bounded by kMaxManifestBytes of input.
absl::StatusOr<Manifest> DecodeManifest(const std::string& text);

// A ShardRef in a fixed size, for ranks to exchange through a Communicator.
inline constexpr size_t kShardRecordBytes = 40;
std::array<uint8_t, kShardRecordBytes> EncodeShardRef(const ShardRef& ref);
// An all-zero record decodes to a ref of count 0: "no shard here".
absl::StatusOr<ShardRef> DecodeShardRef(const uint8_t* record);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_MANIFEST_H_
