// Provides a map that keeps the entries that were set last. A full map forgets the one that was set longest ago.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_RECENT_H_
#define REKINDLE_COORDINATOR_CORE_STATE_RECENT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace rekindle::core {

// A `Recent` is a plain copyable value, and is thread-compatible. An empty one takes only two machine words, because
// thousands of jobs and nodes have some.
template <typename Value>
class Recent {
 public:
  // Makes an empty map that keeps at most `most` entries. REQUIRES: most > 0.
  explicit Recent(size_t most) : most_(most) {}
  Recent(const Recent& other) : most_(other.most_), kept_(Copy(other)) {}
  Recent(Recent&&) noexcept = default;
  Recent& operator=(const Recent& other) {
    most_ = other.most_;
    kept_ = Copy(other);
    return *this;
  }
  Recent& operator=(Recent&&) noexcept = default;

  // Sets the value of the key in place of an old value, and makes it the newest entry. Returns whether the oldest entry
  // was forgotten to make room for it.
  bool Set(const std::string& key, Value value) {
    erase(key);
    const bool full = size() >= most_;
    if (full) erase(std::string(kept_->order.begin()->second));
    if (kept_ == nullptr) kept_ = std::make_unique<Kept>();
    kept_->order[++kept_->last] = key;
    kept_->entries.emplace(key, Entry{std::move(value), kept_->last});
    return full;
  }

  // Returns the value of the key, or null where the key has none. The pointer is valid until the map is changed.
  const Value* Find(const std::string& key) const {
    if (kept_ == nullptr) return nullptr;
    const auto found = kept_->entries.find(key);
    return found == kept_->entries.end() ? nullptr : &found->second.value;
  }
  bool contains(const std::string& key) const { return Find(key) != nullptr; }

  // Removes the key. Returns false where it had no value.
  bool erase(const std::string& key) {
    if (kept_ == nullptr) return false;
    const auto found = kept_->entries.find(key);
    if (found == kept_->entries.end()) return false;
    kept_->order.erase(found->second.set);
    kept_->entries.erase(found);
    return true;
  }
  void clear() { kept_.reset(); }
  size_t size() const { return kept_ == nullptr ? 0 : kept_->entries.size(); }
  bool empty() const { return size() == 0; }

 private:
  struct Entry {
    Value value;
    uint64_t set;
  };
  struct Kept {
    uint64_t last = 0;
    std::map<std::string, Entry> entries;
    // Each name that is set gets the next higher key in `order`, so `order` holds the names in the order in which they
    // were set.
    std::map<uint64_t, std::string> order;
  };

  static std::unique_ptr<Kept> Copy(const Recent& other) {
    return other.kept_ == nullptr ? nullptr : std::make_unique<Kept>(*other.kept_);
  }

  size_t most_;
  // `kept_` holds the entries of the map. It is null where none was set since the map was made or cleared.
  std::unique_ptr<Kept> kept_;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_RECENT_H_
