#include "common/testing/fault_file.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"

namespace rekindle::common {

class FaultWritableFile : public WritableFile {
 public:
  FaultWritableFile(FaultFileSystem& fs, std::string path, std::shared_ptr<FaultFileSystem::Node> node)
      : fs_(fs), path_(std::move(path)), node_(std::move(node)) {}

  absl::Status Append(const void* data, size_t bytes) override {
    const MutexLock lock(fs_.mutex_);
    const absl::Status status = fs_.Begin("append", path_);
    // A full disk or a dying process leaves a part of a write behind.
    node_->content.append(static_cast<const char*>(data), status.ok() ? bytes : bytes / 2);
    node_->modified = fs_.Tick();
    return status;
  }

  absl::Status Overwrite(int64_t offset, const void* data, size_t bytes) override {
    const MutexLock lock(fs_.mutex_);
    const absl::Status status = fs_.Begin("overwrite", path_);
    node_->content.replace(static_cast<size_t>(offset), bytes, static_cast<const char*>(data),
                           status.ok() ? bytes : bytes / 2);
    node_->modified = fs_.Tick();
    return status;
  }

  absl::Status Sync() override {
    const MutexLock lock(fs_.mutex_);
    if (absl::Status status = fs_.Begin("sync", path_); !status.ok()) return status;
    node_->durable = node_->content;
    return absl::OkStatus();
  }

  absl::Status Close() override {
    const MutexLock lock(fs_.mutex_);
    return fs_.Begin("close", path_);
  }

 private:
  FaultFileSystem& fs_;
  const std::string path_;
  const std::shared_ptr<FaultFileSystem::Node> node_;
};

class FaultReadableFile : public ReadableFile {
 public:
  FaultReadableFile(FaultFileSystem& fs, std::string path, std::shared_ptr<FaultFileSystem::Node> node)
      : fs_(fs), path_(std::move(path)), node_(std::move(node)) {}

  absl::StatusOr<size_t> ReadAt(int64_t offset, void* out, size_t bytes) const override {
    const MutexLock lock(fs_.mutex_);
    if (absl::Status status = fs_.Begin("read", path_); !status.ok()) return status;
    const std::string& content = node_->content;
    if (static_cast<size_t>(offset) >= content.size()) return 0;
    const size_t n = std::min(bytes, content.size() - static_cast<size_t>(offset));
    std::memcpy(out, content.data() + offset, n);
    return n;
  }

  absl::StatusOr<int64_t> Size() const override {
    const MutexLock lock(fs_.mutex_);
    if (absl::Status status = fs_.Begin("size", path_); !status.ok()) return status;
    return static_cast<int64_t>(node_->content.size());
  }

 private:
  FaultFileSystem& fs_;
  const std::string path_;
  const std::shared_ptr<FaultFileSystem::Node> node_;
};

FaultFileSystem::FaultFileSystem() {
  auto root = std::make_shared<Node>();
  root->is_folder = true;
  live_["/"] = durable_["/"] = root;
}

void FaultFileSystem::FailAt(int64_t n, absl::Status error, bool for_ever) {
  const MutexLock lock(mutex_);
  fail_at_ = static_cast<int64_t>(operations_.size()) + n;
  error_ = std::move(error);
  for_ever_ = for_ever;
}

void FaultFileSystem::Heal() {
  const MutexLock lock(mutex_);
  fail_at_ = -1;
  for_ever_ = false;
}

std::vector<std::string> FaultFileSystem::operations() const {
  const MutexLock lock(mutex_);
  return operations_;
}

absl::Status FaultFileSystem::Begin(const char* what, const std::string& path) {
  const auto n = static_cast<int64_t>(operations_.size());
  operations_.push_back(absl::StrCat(what, " ", path));
  if (fail_at_ >= 0 && (n == fail_at_ || (for_ever_ && n > fail_at_))) return error_;
  return absl::OkStatus();
}

double FaultFileSystem::Tick() { return now_ += 1e-3; }

double FaultFileSystem::now() const {
  const MutexLock lock(mutex_);
  return now_;
}

void FaultFileSystem::Advance(double seconds) {
  const MutexLock lock(mutex_);
  now_ += seconds;
}

void FaultFileSystem::Crash(uint64_t seed) {
  const MutexLock lock(mutex_);
  std::mt19937_64 random(seed);
  const auto coin = [&] { return seed != 0 && random() % 2 == 0; };
  Names after = durable_;
  for (const auto& [path, node] : live_) {
    const auto was = durable_.find(path);
    if ((was == durable_.end() || was->second != node) && coin()) after[path] = node;
  }
  for (const auto& [path, node] : durable_) {
    if (!live_.contains(path) && coin()) after.erase(path);
  }
  // If a crash loses a folder, it also loses everything in that folder.
  for (auto at = after.begin(); at != after.end();) {
    at = at->first == "/" || after.contains(DirName(at->first)) ? std::next(at) : after.erase(at);
  }
  for (const auto& [path, node] : after) {
    if (node->content == node->durable) continue;
    if (coin()) {
      node->durable = node->content.substr(0, random() % (node->content.size() + 1));
      // In a crash the new size of a file may have been written, but not its bytes, which then read as zeros.
      if (coin()) node->durable.resize(node->content.size(), '\0');
    }
    node->content = node->durable;
  }
  live_ = durable_ = std::move(after);
  fail_at_ = -1;
  for_ever_ = false;
}

std::unique_ptr<FaultFileSystem> FaultFileSystem::Clone() const {
  const MutexLock lock(mutex_);
  auto clone = std::make_unique<FaultFileSystem>();
  std::map<const Node*, std::shared_ptr<Node>> copies;
  const auto copy = [&](const Names& names) {
    Names out;
    for (const auto& [path, node] : names) {
      auto& twin = copies[node.get()];
      if (!twin) twin = std::make_shared<Node>(*node);
      out[path] = twin;
    }
    return out;
  };
  const MutexLock lock_of_clone(clone->mutex_);
  clone->live_ = copy(live_);
  clone->durable_ = copy(durable_);
  clone->now_ = now_;
  return clone;
}

std::vector<std::string> FaultFileSystem::Files() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> files;
  for (const auto& [path, node] : live_) {
    if (!node->is_folder) files.push_back(path);
  }
  return files;
}

std::string FaultFileSystem::Get(const std::string& path) const {
  const MutexLock lock(mutex_);
  const auto found = live_.find(path);
  return found == live_.end() ? "" : found->second->content;
}

void FaultFileSystem::Put(const std::string& path, const std::string& content) {
  const MutexLock lock(mutex_);
  auto node = std::make_shared<Node>();
  node->content = node->durable = content;
  node->modified = Tick();
  live_[path] = durable_[path] = node;
}

void FaultFileSystem::Erase(const std::string& path) {
  const MutexLock lock(mutex_);
  live_.erase(path);
  durable_.erase(path);
}

absl::StatusOr<std::shared_ptr<FaultFileSystem::Node>> FaultFileSystem::File(const std::string& path) const {
  const auto found = live_.find(path);
  if (found == live_.end() || found->second->is_folder) return absl::NotFoundError("no file " + path);
  return found->second;
}

absl::Status FaultFileSystem::CheckFolder(const std::string& path) const {
  const auto found = live_.find(path);
  if (found == live_.end() || !found->second->is_folder) return absl::NotFoundError("no folder " + path);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultFileSystem::Create(const std::string& path) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Begin("create", path); !status.ok()) return status;
  if (absl::Status status = CheckFolder(DirName(path)); !status.ok()) return status;
  if (live_.contains(path)) return absl::AlreadyExistsError(path + " is there");
  auto node = std::make_shared<Node>();
  node->modified = Tick();
  live_[path] = node;
  return std::make_unique<FaultWritableFile>(*this, path, node);
}

absl::StatusOr<std::unique_ptr<ReadableFile>> FaultFileSystem::Open(const std::string& path) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Begin("open", path); !status.ok()) return status;
  auto node = File(path);
  if (!node.ok()) return node.status();
  return std::make_unique<FaultReadableFile>(*this, path, *node);
}

absl::Status FaultFileSystem::Rename(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Begin("rename", to); !status.ok()) return status;
  const auto node = File(from);
  if (!node.ok()) return node.status();
  if (absl::Status status = CheckFolder(DirName(to)); !status.ok()) return status;
  live_[to] = *node;
  live_.erase(from);
  return absl::OkStatus();
}

absl::Status FaultFileSystem::Remove(const std::string& path) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Begin("remove", path); !status.ok()) return status;
  if (const auto node = File(path); !node.ok()) return node.status();
  live_.erase(path);
  return absl::OkStatus();
}

absl::Status FaultFileSystem::CreateFolder(const std::string& path) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Begin("mkdir", path); !status.ok()) return status;
  const auto found = live_.find(path);
  if (found != live_.end()) {
    return found->second->is_folder ? absl::OkStatus() : absl::AlreadyExistsError(path + " is no folder");
  }
  if (absl::Status status = CheckFolder(DirName(path)); !status.ok()) return status;
  auto node = std::make_shared<Node>();
  node->is_folder = true;
  node->modified = Tick();
  live_[path] = node;
  return absl::OkStatus();
}

absl::Status FaultFileSystem::SyncDir(const std::string& path) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Begin("syncdir", path); !status.ok()) return status;
  if (absl::Status status = CheckFolder(path); !status.ok()) return status;
  const auto is_removed = [&](const auto& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return DirName(item.first) == path && !live_.contains(item.first);
  };
  std::erase_if(durable_, is_removed);
  for (const auto& [name, node] : live_) {
    if (DirName(name) == path) durable_[name] = node;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FaultFileSystem::List(const std::string& path) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Begin("list", path); !status.ok()) return status;
  if (absl::Status status = CheckFolder(path); !status.ok()) return status;
  std::vector<std::string> names;
  for (const auto& [name, node] : live_) {
    if (name != "/" && DirName(name) == path) names.push_back(name.substr(name.rfind('/') + 1));
  }
  return names;
}

absl::StatusOr<FileInfo> FaultFileSystem::Stat(const std::string& path) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Begin("stat", path); !status.ok()) return status;
  const auto found = live_.find(path);
  if (found == live_.end()) return absl::NotFoundError("no " + path);
  const Node& node = *found->second;
  return FileInfo{
      .size = static_cast<int64_t>(node.content.size()), .modified = node.modified, .is_folder = node.is_folder};
}

absl::Status FaultFileSystem::Touch(const std::string& path) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Begin("touch", path); !status.ok()) return status;
  const auto node = File(path);
  if (!node.ok()) return node.status();
  (*node)->modified = Tick();
  return absl::OkStatus();
}

}  // namespace rekindle::common
