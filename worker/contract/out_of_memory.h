// Tells exceptions that mean a lack of memory from others, without including torch. An exception of c10 (LibTorch)
// shows a lack of memory only in its text.
#ifndef REKINDLE_WORKER_CONTRACT_OUT_OF_MEMORY_H_
#define REKINDLE_WORKER_CONTRACT_OUT_OF_MEMORY_H_

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"

namespace rekindle::train {

// Returns true for std::bad_alloc and for what threads and LibTorch throw when an allocation fails. The function itself
// allocates no memory.
inline bool IsOutOfMemory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  // A thread that finds no memory for its stack throws std::system_error.
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr &&
      (system->code() == std::errc::resource_unavailable_try_again || system->code() == std::errc::not_enough_memory)) {
    return true;
  }
  const std::string_view text = error.what();
  return text.find("can't allocate memory") != text.npos || text.find("out of memory") != text.npos;
}

// Returns RESOURCE_EXHAUSTED if the exception means a lack of memory, else INTERNAL. The message is one line.
inline absl::Status FromException(const std::exception& error) {
  const std::string text = error.what();
  const std::string line = text.substr(0, text.find('\n'));
  return IsOutOfMemory(error) ? absl::ResourceExhaustedError("out of memory (" + line + ")")
                              : absl::InternalError(line);
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_CONTRACT_OUT_OF_MEMORY_H_
