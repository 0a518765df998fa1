// Defines a checkpoint: a manifest that names plane files by the hash of their content. Together these files hold the
// state of training at one step. planes.h describes the content of a plane file.
//
// The structs of this header are plain values without torch and protobuf. They are thread-compatible.
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
#include "checkpoint/format/manifest_release.h"

namespace rekindle::checkpoint {

inline constexpr size_t kMaxManifestBytes = 4 << 20;
// `kMaxShards` shards of 4 Mi elements each hold 64 Gi elements.
inline constexpr int kMaxShards = 16384;
inline constexpr int kMaxPlanes = 2;
inline constexpr int64_t kMaxShardBytes = 64 << 20;
inline constexpr size_t kMaxTensors = 4096;
inline constexpr size_t kMaxTensorName = 256;
inline constexpr size_t kMaxDimensions = 8;

// Names the file of one plane of a shard by its content.
struct ShardRef {
  // `name` is the name of the file, "<xxh3>.safetensors".
  std::string name;
  // `bytes` is the size of the file, from 1 to kMaxShardBytes.
  int64_t bytes = 0;
  // `xxh3` is the XXH3-128 of the whole plane file as 32 lower-case hex digits.
  std::string xxh3;
  // `generation` is the generation in which the shard was staged.
  int generation = 0;
  // `index` is the position of the shard among the shards of the state, from 0 to `count` - 1.
  int index = 0;
  // `count` is the number of shards that the state is cut into.
  int count = 0;
  // `plane` is the number of the plane, from 0 to kMaxPlanes - 1.
  int plane = 0;

  bool operator==(const ShardRef&) const = default;
};

// Describes a parameter. Parameters are packed without gaps, so a parameter's position follows from those before it.
struct TensorInfo {
  // `name` is the name of the parameter, in printable ASCII.
  std::string name;
  std::vector<int64_t> shape;

  bool operator==(const TensorInfo&) const = default;
};

struct Manifest {
  int format = kManifestFormat;
  std::string job_uid;
  int generation = 0;
  int step = 0;
  // `writer` is the trainer that commits the checkpoint. It is a safe name (see IsSafeName).
  std::string writer;
  // `shards` is sorted by (index, plane), and all are of the generation `generation`. Either every index has a plane 1
  // or none has.
  std::vector<ShardRef> shards;
  // `tensors` lists the parameters in the order of the flat state.
  std::vector<TensorInfo> tensors;
  // `loss` is the loss of the step that led to the state, in nats per token.
  std::optional<double> loss;
  // `validation_loss` is the newest validation loss that was known at that step.
  std::optional<double> validation_loss;
  std::string state_digest;
  // `scalars` is JSON that holds all of the training state that is not a tensor.
  std::string scalars;
  std::string spec_digest;

  bool operator==(const Manifest&) const = default;
};

// Holds the conditions that a checkpoint must meet to be found by a search.
struct SearchOptions {
  // If `verify` is set, every byte of a checkpoint in the store is read and hashed. Otherwise it is enough that every
  // shard is there with its size.
  bool verify = false;
  // If `exact` is set, a checkpoint must have both planes of every shard.
  bool exact = false;
  // Checkpoints newer than `name` are skipped. Older ones count only if the bytes of `name` are damaged. If `name` is
  // empty, the search begins at the newest checkpoint.
  std::string name;
};

// Returns the number of planes of each shard of the manifest, and 0 for a manifest without shards. With two planes
// every bit of the state can be restored. REQUIRES: Validate(manifest) is OK, or the manifest has no shards.
int PlanesOf(const Manifest& manifest);
// Returns INVALID_ARGUMENT if the manifest has only plane 0 and `options` asks for exact checkpoints.
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
  // `skipped` lists the checkpoints that were skipped, in the form "name: reason", newest first.
  std::vector<std::string> skipped;
  // `damaged` lists the skipped checkpoints whose bytes do not match their names.
  std::vector<SkippedCheckpoint> damaged;
  // `missing` says why the checkpoint that was asked for by name is not there.
  std::string missing;
  // `highest_generation` is the highest generation in the name of any manifest in the store, whether the manifest is
  // whole or not.
  int highest_generation = 0;
};

// Holds the parts of a checkpoint's name "<generation>-<step>-<writer>". The numbers have no leading zeros. A
// checkpoint is newer if its (generation, step) is higher.
struct ManifestName {
  int generation = 0;
  int step = 0;
  std::string writer;

  auto operator<=>(const ManifestName&) const = default;
};

// Returns whether `name` has 1 to 128 characters of [A-Za-z0-9._-] and begins with a letter or digit. Such a name
// cannot leave its folder.
bool IsSafeName(const std::string& name);
// Returns `name` with every character that is not safe replaced by '_', or "writer" if nothing is left.
std::string SafeName(const std::string& name);

// Returns whether `text` is 32 lower-case hex digits.
bool IsXxh3(const std::string& text);

std::string FormatName(const ManifestName& name);
// Parses the name of a checkpoint. Returns INVALID_ARGUMENT for any text that FormatName does not produce.
absl::StatusOr<ManifestName> ParseName(const std::string& text);
ManifestName NameOf(const Manifest& manifest);

// Returns FAILED_PRECONDITION for a manifest whose format is above kManifestFormat, and otherwise INVALID_ARGUMENT with
// the name of a field that is wrong. Counts and sizes have to be in bounds and names safe. The indices 0..count-1 have
// to be complete, in order and with the same planes. Every shard has to be of the manifest's generation and named by
// its hash.
absl::Status Validate(const Manifest& manifest);

// Encodes a manifest as one JSON document {"xxh3": ..., "manifest": {...}} and a newline. The checksum is that of the
// inner text. REQUIRES: Validate(manifest) is OK.
std::string EncodeManifest(const Manifest& manifest);
// Decodes the text of a manifest. Returns DATA_LOSS if the checksum or the frame is wrong. Returns INVALID_ARGUMENT for
// missing, repeated or mistyped fields, for an older format, and for what Validate refuses. Returns FAILED_PRECONDITION
// for a manifest of a newer release (manifest_release.h). At most kMaxManifestBytes of text are accepted, which bounds
// the memory that the call uses.
absl::StatusOr<Manifest> DecodeManifest(const std::string& text);

// A shard's ref is encoded as a record of this fixed size, which ranks can exchange through a Communicator.
inline constexpr size_t kShardRecordBytes = 40;
std::array<uint8_t, kShardRecordBytes> EncodeShardRef(const ShardRef& ref);
// Decodes a record that EncodeShardRef made. An all-zero record becomes a ref of count 0, which means that there is no
// shard.
absl::StatusOr<ShardRef> DecodeShardRef(const uint8_t* record);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_MANIFEST_H_
