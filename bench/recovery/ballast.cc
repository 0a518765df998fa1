// Adds memory in small pages to a program that loads this library with LD_PRELOAD. The program never touches that
// memory. If the end of such a large process takes time, that is the kernel's work of freeing the memory, whatever the
// program does.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace {

[[gnu::constructor]] void Hold() {
  constexpr long kPage = 4096;
  const char* text = std::getenv("REKINDLE_BALLAST_BYTES");
  const long bytes = text != nullptr ? std::atol(text) : 0;
  if (bytes <= 0) return;
  void* memory = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("no memory for REKINDLE_BALLAST_BYTES");
    std::exit(1);
  }
  madvise(memory, static_cast<size_t>(bytes), MADV_NOHUGEPAGE);
  for (long i = 0; i < bytes; i += kPage) static_cast<volatile char*>(memory)[i] = 1;
}

}  // namespace
