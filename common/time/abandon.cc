#include "common/time/abandon.h"

#include <atomic>

namespace rekindle::common {
namespace {

std::atomic<int> abandoned{0};

}  // namespace

int AbandonedCalls() { return abandoned; }

namespace internal {
void CountAbandoned(int change) { abandoned += change; }
}  // namespace internal

}  // namespace rekindle::common
