// Bytes that nobody can guess.
#ifndef REKINDLE_COMMON_RANDOM_BYTES_H_
#define REKINDLE_COMMON_RANDOM_BYTES_H_

#include <cstddef>
#include <string>

namespace rekindle::common {

// From the kernel. Waits for it while the machine has just booted; thread-safe.
std::string RandomBytes(size_t bytes);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RANDOM_BYTES_H_
