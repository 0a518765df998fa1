// Ends the process where it has broken its own rules. Checks are on in every build. They are for rules that this
// process alone can break, so that a failed check is always a bug in the program. What is wrong with data from a disk,
// a peer or a user is reported as an absl::Status.
#ifndef REKINDLE_COMMON_CHECK_CHECK_H_
#define REKINDLE_COMMON_CHECK_CHECK_H_

namespace rekindle::common {

// Reports a failed check: writes its sentence and its source location to standard error, and aborts the process.
[[noreturn]] void FailCheck(const char* sentence, const char* file, int line);

// Aborts the process unless `holds` is true. `sentence` says what must be true, as in "each parameter arrives once in a
// micro-batch". The function is thread-safe.
inline void Check(bool holds, const char* sentence, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!holds) [[unlikely]]
    FailCheck(sentence, file, line);
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_CHECK_CHECK_H_
