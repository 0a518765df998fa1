// Makes bytes that nobody can guess.
#ifndef REKINDLE_COMMON_DIGEST_RANDOM_BYTES_H_
#define REKINDLE_COMMON_DIGEST_RANDOM_BYTES_H_

#include <cstddef>
#include <string>

namespace rekindle::common {

// Returns bytes from the kernel. It waits for the kernel if the machine has just booted. It is thread-safe.
std::string RandomBytes(size_t bytes);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_DIGEST_RANDOM_BYTES_H_
