#include "common/digest/random_bytes.h"

#include <sys/random.h>

namespace rekindle::common {

std::string RandomBytes(size_t bytes) {
  std::string random(bytes, '\0');
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = getrandom(random.data() + done, bytes - done, 0);
    if (got > 0) done += static_cast<size_t>(got);
  }
  return random;
}

}  // namespace rekindle::common
