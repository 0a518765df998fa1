#include "checkpoint/store/store_room.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "common/files/file.h"
#include "common/objects/object_uri.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {
namespace {

constexpr int64_t kMostKept = int64_t{1} << 30;
constexpr double kMiB = 1 << 20;
// A node has a few trainers. If more than `kMaxTrainers` are known, all are forgotten. The next shard of a forgotten
// trainer counts as the first of a save, so there must be room for all that the trainer has staged.
constexpr size_t kMaxTrainers = 4096;

}  // namespace

int64_t KeptFree(int64_t total_bytes) {
  return std::min(kMostKept, static_cast<int64_t>(common::kNearlyFullShare * static_cast<double>(total_bytes)));
}

absl::Status StoreRoom::Check(const std::string& uri, int64_t bytes) const {
  const auto parsed = common::ParseObjectUri(uri);
  if (!parsed.ok()) return parsed.status();
  if (parsed->kind != common::ObjectUri::Kind::kFile) return absl::OkStatus();
  std::string folder = parsed->folder.empty() ? "/" : parsed->folder;
  auto space = space_(folder);
  // The store's folder may not exist yet, because the first save creates it. Then the free space is that of the nearest
  // folder above.
  while (absl::IsNotFound(space.status()) && folder != "/") {
    folder = common::DirName(folder);
    space = space_(folder);
  }
  if (!space.ok() || space->total <= 0) return absl::OkStatus();
  const int64_t kept = KeptFree(space->total);
  if (space->free - kept >= bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the store %s has %.1f MiB free, of which %.1f MiB are kept for what is small, and this needs up to %.1f MiB: it "
      "was not written; free some disk space there, remove checkpoints with `rekindle checkpoint rm`, or lower "
      "keep_last",
      common::PublicUri(uri), static_cast<double>(space->free) / kMiB, static_cast<double>(kept) / kMiB,
      static_cast<double>(bytes) / kMiB));
}

bool StoreRoom::CountsAlone(const Trainer& trainer, const Save& save) {
  const std::pair number(save.generation, save.step);
  if (trainer.admitted == number) return true;
  return !trainer.shards.empty() && (trainer.refused != number || trainer.shards.count(save.xxh3) > 0);
}

absl::Status StoreRoom::Admit(const std::string& uri, const Save& save, int64_t bytes, int64_t staged) {
  const std::pair key(save.job_uid, save.trainer);
  bool alone = false;
  {
    const common::MutexLock lock(mutex_);
    const auto known = trainers_.find(key);
    alone = known != trainers_.end() && CountsAlone(known->second, save);
  }
  const absl::Status status = Check(uri, alone ? bytes : std::max(bytes, staged));
  if (!status.ok()) return status;
  const common::MutexLock lock(mutex_);
  if (trainers_.size() >= kMaxTrainers) trainers_.clear();
  trainers_[key].admitted = {save.generation, save.step};
  return status;
}

void StoreRoom::GiveUp(const Save& save) {
  const std::pair number(save.generation, save.step);
  const common::MutexLock lock(mutex_);
  Trainer& trainer = trainers_[{save.job_uid, save.trainer}];
  const bool alone = CountsAlone(trainer, save);
  if (alone || trainer.refused != number) trainer = {};
  if (alone) return;
  trainer.refused = number;
  trainer.shards.insert(save.xxh3);
}

}  // namespace rekindle::checkpoint
