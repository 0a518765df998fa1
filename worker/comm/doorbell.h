// How ranks that share memory wake each other: one futex word a rank, in its segment.
//
// The sleeper announces itself, looks once more, and sleeps; whoever has changed something it may wait for rings.
// Sequentially consistent order of (announce, look) against (change, ring) makes a lost wake-up impossible.
#ifndef REKINDLE_WORKER_COMM_DOORBELL_H_
#define REKINDLE_WORKER_COMM_DOORBELL_H_

#include <atomic>
#include <cstdint>

namespace rekindle::comm {

// Lives in shared memory: zero bytes are a valid state. Thread-safe, across processes.
class Doorbell {
 public:
  enum Sleep : uint32_t {
    kAwake = 0,
    kOnFutex = 1,
    kOnPoll = 2,  // The sleeper also waits for sockets: it must be woken through one (see Ring()).
  };

  // Sleeper: announces how it is about to sleep; returns the ticket for Wait(). Look again before sleeping.
  uint32_t Announce(Sleep how);
  // Sleeps until the bell was rung since Announce(). May return early.
  void Wait(uint32_t ticket);
  void Awake();

  // After a change that the owner may wait for; cheap when it is awake. True: the owner sleeps in poll(), the caller
  // must wake it by a message.
  bool Ring();
  // Wakes a sleeper on the futex whatever it has announced.
  void RingAlways();

 private:
  std::atomic<uint32_t> count_;
  std::atomic<uint32_t> sleep_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_DOORBELL_H_
