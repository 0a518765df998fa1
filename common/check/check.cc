#include "common/check/check.h"

#include <cstdio>
#include <cstdlib>

namespace rekindle::common {

void FailCheck(const char* sentence, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: this must hold and does not: %s; please report this line\n", file, line, sentence);
  std::abort();
}

}  // namespace rekindle::common
