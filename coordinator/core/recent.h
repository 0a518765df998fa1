// A map that keeps the newest of what was set: one that is full forgets what was set longest ago.
#ifndef REKINDLE_COORDINATOR_CORE_RECENT_H_
#define REKINDLE_COORDINATOR_CORE_RECENT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace rekindle::core {

// A plain copyable value. Thread-compatible.
template <typename Value>
class Recent {
 public:
  // REQUIRES: most > 0.
  explicit Recent(size_t most) : most_(most) {}

  // In place of what the key had, and the newest now. True: the oldest entry had to go for it.
  bool Set(const std::string& key, Value value) {
    erase(key);
    const bool full = entries_.size() >= most_;
    if (full) erase(std::string(order_.begin()->second));
    order_[++last_] = key;
    entries_.emplace(key, Entry{std::move(value), last_});
    return full;
  }

  // Null: there is none. Valid until the next change.
  const Value* Find(const std::string& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second.value;
  }
  bool contains(const std::string& key) const { return entries_.count(key) > 0; }

  // False: there was none.
  bool erase(const std::string& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return false;
    order_.erase(found->second.set);
    entries_.erase(found);
    return true;
  }
  void clear() {
    entries_.clear();
    order_.clear();
  }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Value value;
    uint64_t set;
  };

  size_t most_;
  uint64_t last_ = 0;
  std::map<std::string, Entry> entries_;
  std::map<uint64_t, std::string> order_;  // When each was set, in order.
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECENT_H_
