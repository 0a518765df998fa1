#include "checkpoint/testing/fuzz_testing.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <new>

namespace {
std::atomic<size_t> allocated{0};
}  // namespace

void* operator new(size_t bytes) {
  allocated += bytes;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
// The operator new that does not throw counts its bytes as well, because std::stable_sort allocates its memory with it.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  allocated += bytes;
  return std::malloc(bytes);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace rekindle::checkpoint {

size_t AllocatedBytes() { return allocated; }

std::string Mutate(std::string text, std::mt19937_64& random) {
  static const char* const tokens[] = {"-1",
                                       "0",
                                       "1e999",
                                       "18446744073709551615",
                                       "9223372036854775808",
                                       "null",
                                       "\"\"",
                                       "[[[[[[[[[[[[",
                                       "{\"a\":{\"a\":{\"a\":",
                                       "true",
                                       "\\u0000",
                                       "\\ud800",
                                       "\xff",
                                       ",",
                                       "..",
                                       "/",
                                       "__metadata__",
                                       "\"F32\"",
                                       "\"shape\":[0]",
                                       "1.5",
                                       "]",
                                       "}",
                                       "\""};
  for (uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
    const size_t at = random() % (text.size() + 1);
    const size_t length = std::min<size_t>(1 + random() % 16, text.size() - at);
    switch (random() % 5) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.replace(at, length, tokens[random() % std::size(tokens)]);
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

}  // namespace rekindle::checkpoint
