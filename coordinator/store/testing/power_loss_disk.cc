#include "coordinator/store/testing/power_loss_disk.h"

#include <algorithm>
#include <utility>

#include "common/sync/mutex.h"

namespace rekindle::coordinator {
namespace {

void Apply(const PowerLossDisk::Change& change, std::string& content) {
  const auto offset = static_cast<size_t>(change.offset);
  if (change.truncates) return content.resize(offset);
  content.resize(std::max(content.size(), offset + change.bytes.size()));
  content.replace(offset, change.bytes.size(), change.bytes);
}

}  // namespace

void PowerLossDisk::LosePowerAt(int64_t n) {
  const common::MutexLock lock(mutex_);
  power_lost_at_ = n;
}

void PowerLossDisk::FailAt(int64_t n, Result result) {
  const common::MutexLock lock(mutex_);
  fails_at_ = n;
  failure_ = result;
}

std::vector<PowerLossDisk::Operation> PowerLossDisk::operations() const {
  const common::MutexLock lock(mutex_);
  return operations_;
}

bool PowerLossDisk::lost() const {
  const common::MutexLock lock(mutex_);
  return lost_;
}

PowerLossDisk::Result PowerLossDisk::Begin(Operation operation, const File* file) {
  if (lost_) return Result::kFailed;
  if (file != nullptr && file->name.empty()) return Result::kDone;
  const auto at = static_cast<int64_t>(operations_.size());
  operations_.push_back(operation);
  if (at == power_lost_at_) {
    lost_ = true;
    return Result::kFailed;
  }
  return at == fails_at_ ? failure_ : Result::kDone;
}

bool PowerLossDisk::Keeps(uint64_t seed) {
  if (seed == kNothingUnsynced || seed == kEverything) return seed == kEverything;
  // The seed decides how likely a change is kept: with a probability of one, four or seven eighths.
  const uint64_t eighths = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 4 : 7;
  return random_() % 8 < eighths;
}

void PowerLossDisk::KeepSome(File& file, uint64_t seed) {
  std::vector<Change> kept;
  for (Change& change : file.unsynced) {
    if (Keeps(seed)) kept.push_back(std::move(change));
  }
  if (!kept.empty() && !kept.back().truncates && seed > kEverything && random_() % 2 == 0) {
    kept.back().bytes.resize(random_() % (kept.back().bytes.size() + 1));
  }
  for (const Change& change : kept) Apply(change, file.durable);
  file.unsynced.clear();
}

void PowerLossDisk::Crash(uint64_t seed) {
  const common::MutexLock lock(mutex_);
  random_.seed(seed);
  std::vector<FilePointer> files;
  for (const auto& [name, file] : durable_names_) files.push_back(file);
  for (NameChange& change : unsynced_names_) {
    if (change.file != nullptr) files.push_back(change.file);
    if (!Keeps(seed)) continue;
    durable_names_.erase(change.name);
    if (change.file != nullptr) durable_names_[change.name] = change.file;
  }
  unsynced_names_.clear();
  for (const FilePointer& file : files) {
    KeepSome(*file, seed);
    file->content = file->durable;
    file->shared.clear();
    file->syncs_folder = false;
  }
  names_ = durable_names_;
  power_lost_at_ = fails_at_ = -1;
  lost_ = false;
}

void PowerLossDisk::SetName(const std::string& name, FilePointer file) {
  names_.erase(name);
  if (file != nullptr) names_[name] = file;
  unsynced_names_.push_back({name, std::move(file)});
}

void PowerLossDisk::SyncFolder() {
  durable_names_ = names_;
  unsynced_names_.clear();
}

PowerLossDisk::Result PowerLossDisk::Open(const std::string& name, bool create, bool syncs_folder, FilePointer* file) {
  const common::MutexLock lock(mutex_);
  if (name.empty()) {
    *file = std::make_shared<File>();
    return lost_ ? Result::kFailed : Result::kDone;
  }
  const auto found = names_.find(name);
  const bool creates = found == names_.end() && create;
  const Result begun = Begin(creates ? Operation::kCreate : Operation::kOpen);
  if (begun != Result::kDone && !(creates && lost_)) return begun;
  if (found != names_.end()) {
    *file = found->second;
    return Result::kDone;
  }
  if (!create) return Result::kMissing;
  const auto made = std::make_shared<File>();
  made->name = name;
  made->syncs_folder = syncs_folder;
  SetName(name, made);
  *file = made;
  return begun;
}

PowerLossDisk::Result PowerLossDisk::Read(const FilePointer& file, int64_t offset, int64_t size, std::string* bytes) {
  const common::MutexLock lock(mutex_);
  if (const Result begun = Begin(Operation::kRead, file.get()); begun != Result::kDone) return begun;
  const auto from = std::min(static_cast<size_t>(offset), file->content.size());
  *bytes = file->content.substr(from, static_cast<size_t>(size));
  return Result::kDone;
}

PowerLossDisk::Result PowerLossDisk::Write(const FilePointer& file, int64_t offset, std::string bytes) {
  const common::MutexLock lock(mutex_);
  const bool was_lost = lost_;
  const Result begun = Begin(Operation::kWrite, file.get());
  if (was_lost) return begun;
  if (begun != Result::kDone && !lost_) bytes.resize(bytes.size() / 2);
  const Change& change = file->unsynced.emplace_back(Change{offset, std::move(bytes)});
  Apply(change, file->content);
  return begun;
}

PowerLossDisk::Result PowerLossDisk::Truncate(const FilePointer& file, int64_t size) {
  const common::MutexLock lock(mutex_);
  const bool was_lost = lost_;
  const Result begun = Begin(Operation::kTruncate, file.get());
  if (was_lost || (begun != Result::kDone && !lost_)) return begun;
  const Change& change = file->unsynced.emplace_back(Change{.offset = size, .bytes = "", .truncates = true});
  Apply(change, file->content);
  return begun;
}

PowerLossDisk::Result PowerLossDisk::Sync(const FilePointer& file) {
  const common::MutexLock lock(mutex_);
  if (const Result begun = Begin(Operation::kSync, file.get()); begun != Result::kDone) {
    if (!lost_) KeepSome(*file, random_() | 2);
    return begun;
  }
  file->durable = file->content;
  file->unsynced.clear();
  if (file->syncs_folder) SyncFolder();
  file->syncs_folder = false;
  return Result::kDone;
}

PowerLossDisk::Result PowerLossDisk::Delete(const std::string& name, bool sync_folder) {
  const common::MutexLock lock(mutex_);
  if (!names_.contains(name)) return lost_ ? Result::kFailed : Result::kMissing;
  const bool was_lost = lost_;
  const Result begun = Begin(Operation::kDelete);
  if (was_lost || (begun != Result::kDone && !lost_)) return begun;
  SetName(name, nullptr);
  if (begun == Result::kDone && sync_folder) SyncFolder();
  return begun;
}

PowerLossDisk::Result PowerLossDisk::Exists(const std::string& name, bool* exists) {
  const common::MutexLock lock(mutex_);
  *exists = names_.contains(name);
  return Begin(Operation::kLook);
}

int64_t PowerLossDisk::Size(const FilePointer& file) const {
  const common::MutexLock lock(mutex_);
  return static_cast<int64_t>(file->content.size());
}

char* PowerLossDisk::SharedRegion(const FilePointer& file, size_t region, size_t bytes) {
  const common::MutexLock lock(mutex_);
  if (region == file->shared.size()) file->shared.push_back(std::make_unique<char[]>(bytes));
  return file->shared[region].get();
}

}  // namespace rekindle::coordinator
