// Provides tests with a bucket in memory, whose calls fail or hang as a test tells it to.
#ifndef REKINDLE_COMMON_TESTING_OBJECT_TESTING_H_
#define REKINDLE_COMMON_TESTING_OBJECT_TESTING_H_

#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/objects/object_client.h"
#include "common/sync/mutex.h"

namespace rekindle::common {

struct MemoryObjects : ObjectClient, std::enable_shared_from_this<MemoryObjects> {
  Mutex mutex;
  struct Object {
    std::string content;
    double modified = 0;
  };
  std::map<std::string, Object> objects;
  // `now` is the time of the bucket's clock. It is reported in whole seconds, as S3 does.
  double now = 1e9;
  // `errors` are the errors that the next calls of the bucket return, in order.
  std::deque<absl::Status> errors;
  // A test may change the bucket's fields only while no call runs, or while it holds the mutex.
  bool lose_last_piece = false, short_reads = false, hang = false;
  int calls = 0, given_up = 0;
  CondVar released;

  std::string Get(const std::string& key) {
    const MutexLock lock(mutex);
    return objects[key].content;
  }

  absl::Status Next() {
    MutexLock lock(mutex);
    ++calls;
    released.Wait(lock, [this] { return !hang; });
    if (errors.empty()) return absl::OkStatus();
    const absl::Status status = errors.front();
    errors.pop_front();
    return status;
  }

  struct MemoryUpload : Upload {
    MemoryUpload(std::shared_ptr<MemoryObjects> to, std::string key) : to(std::move(to)), key(std::move(key)) {}
    ~MemoryUpload() override {
      const MutexLock lock(to->mutex);
      to->given_up += finished ? 0 : 1;
    }
    absl::Status Write(std::vector<uint8_t> piece) override {
      pieces.emplace_back(piece.begin(), piece.end());
      return to->Next();
    }
    absl::Status Finish() override {
      if (absl::Status status = to->Next(); !status.ok()) return status;
      const MutexLock lock(to->mutex);
      if (std::exchange(to->lose_last_piece, false)) pieces.pop_back();
      std::string all;
      for (const std::string& piece : pieces) all += piece;
      to->objects[key] = {.content = std::move(all), .modified = std::floor(to->now)};
      finished = true;
      return absl::OkStatus();
    }
    std::shared_ptr<MemoryObjects> to;
    std::string key;
    std::vector<std::string> pieces;
    bool finished = false;
  };

  absl::StatusOr<std::shared_ptr<Upload>> StartUpload(const std::string& key) override {
    if (absl::Status status = Next(); !status.ok()) return status;
    return std::make_shared<MemoryUpload>(shared_from_this(), key);
  }
  absl::StatusOr<std::vector<uint8_t>> Read(const std::string& key, int64_t, int64_t offset, int64_t bytes) override {
    if (absl::Status status = Next(); !status.ok()) return status;
    const MutexLock lock(mutex);
    if (!objects.contains(key)) return absl::NotFoundError(key);
    const std::string part = objects[key].content.substr(static_cast<size_t>(offset), static_cast<size_t>(bytes));
    return std::vector<uint8_t>(part.begin(), part.end() - (std::exchange(short_reads, false) ? 1 : 0));
  }
  absl::StatusOr<ObjectInfo> Head(const std::string& key) override {
    if (absl::Status status = Next(); !status.ok()) return status;
    const MutexLock lock(mutex);
    if (!objects.contains(key)) return absl::NotFoundError(key);
    return Info(key, objects[key]);
  }
  absl::StatusOr<std::vector<ObjectInfo>> List(const std::string& prefix) override {
    if (absl::Status status = Next(); !status.ok()) return status;
    const MutexLock lock(mutex);
    std::map<std::string, ObjectInfo> found;
    const std::string start = prefix.empty() ? "" : prefix + "/";
    for (const auto& [key, object] : objects) {
      if (key.rfind(start, 0) != 0) continue;
      const std::string name = key.substr(start.size(), key.find('/', start.size()) - start.size());
      const bool below = start.size() + name.size() < key.size();
      found[name] = below ? ObjectInfo{.name = name, .is_prefix = true} : Info(name, object);
    }
    std::vector<ObjectInfo> all;
    for (const auto& [name, info] : found) all.insert(all.begin(), info);
    return all;
  }
  absl::Status Delete(const std::string& key) override {
    if (absl::Status status = Next(); !status.ok()) return status;
    const MutexLock lock(mutex);
    objects.erase(key);
    return absl::OkStatus();
  }

 private:
  static ObjectInfo Info(const std::string& name, const Object& object) {
    return {.name = name, .size = static_cast<int64_t>(object.content.size()), .modified = object.modified};
  }
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TESTING_OBJECT_TESTING_H_
