// Defines a checkpoint: a manifest that names plane files by their content. Together these files hold the state at one
// step. planes.h describes the content of a plane file.
//
// The structs here are plain values without torch and protobuf. They are thread-compatible.
#ifndef REKINDLE_CHECKPOINT_FORMAT_MANIFEST_H_
#define REKINDLE_CHECKPOINT_FORMAT_MANIFEST_H_

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
// `kMaxShards` shards of 4 Mi elements hold 64 Gi elements.
inline constexpr int kMaxShards = 16384;
inline constexpr int kMaxPlanes = 2;
inline constexpr int64_t kMaxShardBytes = 64 << 20;
inline constexpr size_t kMaxTensors = 4096;
inline constexpr size_t kMaxTensorName = 256;
inline constexpr size_t kMaxDimensions = 8;

// Names one file by its content. The file holds one plane of a shard.
struct ShardRef {
  std::string name;   // "<xxh3>.safetensors"
  int64_t bytes = 0;  // 1..kMaxShardBytes
  // `xxh3` is the XXH3-128 of the whole file as 32 lower-case hex digits.
  std::string xxh3;
  // `generation` is the generation in which the shard was staged.
  int generation = 0;
  int index = 0;  // 0..count-1
  // `count` is the number of shards that together are the state.
  int count = 0;
  int plane = 0;  // 0..kMaxPlanes-1

  bool operator==(const ShardRef&) const = default;
};

// Describes a parameter. Parameters are packed without gaps, so its position follows from those before it.
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
  // `writer` is the trainer that commits. It is a safe name (see IsSafeName).
  std::string writer;
  // `shards` is sorted by (index, plane), and all are of `generation`. Either every index has a plane 1 or none has.
  std::vector<ShardRef> shards;
  // `tensors` lists the parameters in the order of the flat state.
  std::vector<TensorInfo> tensors;
  // `loss` is the loss of the step that led to the state, in nats per token.
  std::optional<double> loss;
  // `validation_loss` is the newest one that was known at that step.
  std::optional<double> validation_loss;
  std::string state_digest;
  // `scalars` is JSON that holds everything that is not a tensor.
  std::string scalars;
  std::string spec_digest;

  bool operator==(const Manifest&) const = default;
};

// Says what makes a checkpoint good enough to be found.
struct SearchOptions {
  // If `verify` is set, every byte in the store is read and hashed. Otherwise it is enough that every shard is there
  // with its size.
  bool verify = false;
  // If `exact` is set, both planes of every shard are required.
  bool exact = false;
  // Checkpoints newer than `name` are passed over. Older ones count only if the bytes of `name` are damaged. If `name`
  // is empty, the search begins at the newest.
  std::string name;
};

// Returns the number of planes of each shard, and 0 for a manifest without shards. With two planes every bit of the
// state can be restored. REQUIRES: Validate(manifest) is OK, or the manifest has no shards.
int PlanesOf(const Manifest& manifest);
// Returns INVALID_ARGUMENT if the manifest has plane 0 alone and `options` asks for exact checkpoints.
absl::Status CheckPlanes(const Manifest& manifest, const SearchOptions& options);

struct SkippedCheckpoint {
  std::string name;
  std::string reason;
};

// Holds the result of a search for the newest good checkpoint.
struct SearchResult {
  bool found = false;
  // `durable` says that the checkpoint is in the store and not only in memory.
  bool durable = false;
  std::string name;
  Manifest manifest;
  // `skipped` has entries of the form "name: reason", newest first.
  std::vector<std::string> skipped;
  // `damaged` lists the checkpoints of `skipped` whose bytes do not match their names.
  std::vector<SkippedCheckpoint> damaged;
  // `missing` says why the checkpoint that was asked for by name is not there.
  std::string missing;
  // `highest_generation` is the highest one in the name of any manifest in the store, whole or not.
  int highest_generation = 0;
};

// Holds the parts of the name "<generation>-<step>-<writer>". Its numbers have no leading zeros. A checkpoint is newer
// if its (generation, step) is higher.
struct ManifestName {
  int generation = 0;
  int step = 0;
  std::string writer;

  auto operator<=>(const ManifestName&) const = default;
};

// Returns whether `name` has 1 to 128 characters of [A-Za-z0-9._-] and begins with a letter or digit. Such a name
// cannot leave its folder.
bool IsSafeName(const std::string& name);
// Returns `name` with every other character replaced by '_', or "writer" if nothing is left.
std::string SafeName(const std::string& name);

// Returns whether `text` is 32 lower-case hex digits.
bool IsXxh3(const std::string& text);

std::string FormatName(const ManifestName& name);
// Returns INVALID_ARGUMENT for any text that FormatName does not produce.
absl::StatusOr<ManifestName> ParseName(const std::string& text);
ManifestName NameOf(const Manifest& manifest);

// Returns FAILED_PRECONDITION for a format above kManifestFormat, and INVALID_ARGUMENT with the name of the wrong field
// otherwise. Counts and sizes have to be in bounds and names safe. The indices 0..count-1 have to be complete, in order
// and with the same planes. Every shard has to be of the manifest's generation and named by its hash.
absl::Status Validate(const Manifest& manifest);

// Returns one JSON document {"xxh3": ..., "manifest": {...}} and a newline. The checksum is that of the inner text.
// REQUIRES: Validate(manifest) is OK.
std::string EncodeManifest(const Manifest& manifest);
// Returns DATA_LOSS if the checksum or the frame is wrong. Returns INVALID_ARGUMENT for missing, repeated or mistyped
// fields, for an older format, and for what Validate refuses. Returns FAILED_PRECONDITION for a manifest of a newer
// release (manifest_release.h). kMaxManifestBytes of input bounds the memory that it uses.
absl::StatusOr<Manifest> DecodeManifest(const std::string& text);

// Returns `ref` as a record of fixed size, which ranks can exchange through a Communicator.
inline constexpr size_t kShardRecordBytes = 40;
std::array<uint8_t, kShardRecordBytes> EncodeShardRef(const ShardRef& ref);
// Decodes a record of EncodeShardRef. An all-zero record becomes a ref of count 0, which means that there is no shard.
absl::StatusOr<ShardRef> DecodeShardRef(const uint8_t* record);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_MANIFEST_H_
