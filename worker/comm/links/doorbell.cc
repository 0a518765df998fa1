#include "worker/comm/links/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace rekindle::comm {
namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4);

// FUTEX_PRIVATE is not used, because several processes may map the word of the futex.
void Futex(std::atomic<uint32_t>* word, int operation, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), operation, value, nullptr, nullptr, 0);
}

}  // namespace

uint32_t Doorbell::Announce(Sleep how) {
  const uint32_t ticket = count_.load(std::memory_order_seq_cst);
  sleep_.store(how, std::memory_order_seq_cst);
  return ticket;
}

void Doorbell::Wait(uint32_t ticket) { Futex(&count_, FUTEX_WAIT, ticket); }

void Doorbell::Awake() { sleep_.store(kAwake, std::memory_order_seq_cst); }

bool Doorbell::Ring() {
  const uint32_t how = sleep_.load(std::memory_order_seq_cst);
  if (how == kAwake) return false;
  if (how == kOnPoll) return true;
  RingAlways();
  return false;
}

void Doorbell::RingAlways() {
  count_.fetch_add(1, std::memory_order_seq_cst);
  Futex(&count_, FUTEX_WAKE, INT_MAX);
}

}  // namespace rekindle::comm
