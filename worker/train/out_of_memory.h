// Tells a lack of memory from other exceptions, without torch: c10 says it in words.
#ifndef REKINDLE_WORKER_TRAIN_OUT_OF_MEMORY_H_
#define REKINDLE_WORKER_TRAIN_OUT_OF_MEMORY_H_

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"

namespace rekindle::train {

// std::bad_alloc, and what threads and LibTorch throw when an allocation fails. Asks for no memory itself.
inline bool IsOutOfMemory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const auto* system = dynamic_cast<const std::system_error*>(&error);  // A thread finds no memory for its stack.
  if (system != nullptr &&
      (system->code() == std::errc::resource_unavailable_try_again || system->code() == std::errc::not_enough_memory)) {
    return true;
  }
  const std::string_view text = error.what();
  return text.find("can't allocate memory") != text.npos || text.find("out of memory") != text.npos;
}

// RESOURCE_EXHAUSTED for those, else INTERNAL. One line.
inline absl::Status FromException(const std::exception& error) {
  const std::string text = error.what();
  const std::string line = text.substr(0, text.find('\n'));
  return IsOutOfMemory(error) ? absl::ResourceExhaustedError("out of memory (" + line + ")")
                              : absl::InternalError(line);
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_OUT_OF_MEMORY_H_
