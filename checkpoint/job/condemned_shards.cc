#include "checkpoint/job/condemned_shards.h"

#include <atomic>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "checkpoint/job/job_shards.h"

namespace rekindle::checkpoint {
namespace {

// Returns a name for a list of shards that no other process and no other call uses.
std::string UniqueName() {
  static const unsigned process = std::random_device{}();
  static std::atomic<unsigned> counter{0};
  return absl::StrCat(absl::Hex(process, absl::kZeroPad8), "-", ++counter);
}

}  // namespace

absl::StatusOr<std::string> CondemnedShards::Announce(const std::vector<std::string>& files) {
  std::string path = folder_.Condemned() + "/" + UniqueName();
  std::string text;
  for (const std::string& file : files) absl::StrAppend(&text, file, "\n");
  if (absl::Status status = folder_.backend().Put(path, text); !status.ok()) return status;
  return path;
}

absl::Status CondemnedShards::CheckSpared(const std::vector<ShardRef>& shards) {
  StoreBackend& backend = folder_.backend();
  const auto lists = backend.List(folder_.Condemned());
  if (!lists.ok()) return lists.status();
  for (const std::string& list : *lists) {
    if (backend.IsUnfinished(list)) continue;
    const auto text = backend.ReadAll(folder_.Condemned() + "/" + list, kMaxManifestBytes);
    // A list that was removed after `List` belongs to a collection that is over and removes no more shards.
    if (absl::IsNotFound(text.status())) continue;
    if (!text.ok()) return text.status();
    const std::vector<std::string> names = absl::StrSplit(*text, '\n');
    const std::set<std::string> condemned(names.begin(), names.end());
    for (const ShardRef& ref : shards) {
      if (condemned.contains(ref.name)) {
        return absl::AbortedError(Describe(ref) + " is being collected by another process");
      }
    }
  }
  return JobShards(folder_).CheckPresent(shards);
}

}  // namespace rekindle::checkpoint
