// Defines a mark on a record that nobody but the step in progress can set.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_MARK_H_
#define REKINDLE_COORDINATOR_CORE_STATE_MARK_H_

namespace rekindle::core {

// `Turn` sets and clears marks. Everybody else can only read them.
class DirtyMark {
 public:
  explicit operator bool() const { return is_set_; }

 private:
  friend struct Turn;

  bool is_set_ = false;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_MARK_H_
