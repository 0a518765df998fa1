// Tells a lack of memory from other exceptions, without torch: c10 says it in words.
#ifndef REKINDLE_WORKER_TRAIN_OUT_OF_MEMORY_H_
#define REKINDLE_WORKER_TRAIN_OUT_OF_MEMORY_H_

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "absl/status/status.h"

namespace rekindle::train {

// RESOURCE_EXHAUSTED for std::bad_alloc and what LibTorch throws when an allocation fails, else INTERNAL. One line.
inline absl::Status FromException(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return absl::ResourceExhaustedError("out of memory (std::bad_alloc)");
  }
  const std::string text = error.what();
  const auto* system = dynamic_cast<const std::system_error*>(&error);  // A thread finds no memory for its stack.
  if (system != nullptr &&
      (system->code() == std::errc::resource_unavailable_try_again || system->code() == std::errc::not_enough_memory)) {
    return absl::ResourceExhaustedError("out of memory (" + text + ")");
  }
  const std::string line = text.substr(0, text.find('\n'));
  for (const char* words : {"can't allocate memory", "out of memory"}) {
    if (text.find(words) != std::string::npos) return absl::ResourceExhaustedError("out of memory (" + line + ")");
  }
  return absl::InternalError(line);
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_OUT_OF_MEMORY_H_
