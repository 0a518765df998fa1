// Makes random bytes that nobody can guess.
#ifndef REKINDLE_COMMON_DIGEST_RANDOM_BYTES_H_
#define REKINDLE_COMMON_DIGEST_RANDOM_BYTES_H_

#include <cstddef>
#include <string>

namespace rekindle::common {

// Returns random bytes from the kernel. If the machine has just booted, it waits until the kernel has gathered enough
// randomness. It is thread-safe.
std::string RandomBytes(size_t bytes);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_DIGEST_RANDOM_BYTES_H_
