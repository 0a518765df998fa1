// Lets ranks that share memory wake each other through one futex word per rank, in the rank's segment.
//
// A rank that is about to sleep announces that it will sleep, looks once more for what it waits for, and sleeps. A rank
// that has changed something that the sleeper may wait for rings the bell. The order of (announce, look) against
// (change, ring) is sequentially consistent, so no wake-up can be lost.
#ifndef REKINDLE_WORKER_COMM_LINKS_DOORBELL_H_
#define REKINDLE_WORKER_COMM_LINKS_DOORBELL_H_

#include <atomic>
#include <cstdint>

namespace rekindle::comm {

// A doorbell lives in shared memory, where zero bytes are a valid state. It is thread-safe, also across processes.
class Doorbell {
 public:
  enum Sleep : uint32_t {
    kAwake = 0,
    kOnFutex = 1,
    // A sleeper that also waits for sockets (`kOnPoll`) must be woken through one of them (see Ring()).
    kOnPoll = 2,
  };

  // Announces how the calling rank is about to sleep, and returns the ticket for Wait(). The caller must look once more
  // for what it waits for before it sleeps.
  uint32_t Announce(Sleep how);
  // Sleeps until the bell was rung since Announce(). Wait() may return early.
  void Wait(uint32_t ticket);
  void Awake();

  // Rings the bell after a change that its owner may wait for. This is cheap if the owner is awake. Returns true if the
  // owner sleeps in poll(), and then the caller must wake it by a message.
  bool Ring();
  // Wakes a sleeper on the futex, whatever it has announced.
  void RingAlways();

 private:
  std::atomic<uint32_t> count_;
  std::atomic<uint32_t> sleep_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_LINKS_DOORBELL_H_
