#include "worker/train/program/memory_exit.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>

#include "common/agreed/exit_codes.h"
#include "worker/contract/out_of_memory.h"

namespace rekindle::train {
namespace {

void End() {
  try {
    if (const std::exception_ptr uncaught = std::current_exception()) std::rethrow_exception(uncaught);
  } catch (const std::exception& error) {
    if (IsOutOfMemory(error)) {
      constexpr char kText[] = "rekindle-trainer: out of memory on a thread that cannot go on with less\n";
      (void)!::write(STDERR_FILENO, kText, sizeof(kText) - 1);
      ::_exit(common::kExitOutOfMemory);
    }
  } catch (...) {
    std::abort();
  }
  std::abort();
}

}  // namespace

void ExitWhereMemoryRunsOut() { std::set_terminate(End); }

}  // namespace rekindle::train
