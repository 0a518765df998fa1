// The inside of Listener: accepts and authenticates connections, and hands them to the generation they are for.
#ifndef REKINDLE_WORKER_COMM_LISTENER_H_
#define REKINDLE_WORKER_COMM_LISTENER_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "worker/comm/handshake.h"
#include "worker/comm/host_communicator.h"

namespace rekindle::comm {

// A connection whose other side holds the job's secret.
struct Authenticated {
  UniqueFd fd;
  Hello hello;
  double expires = 0;
};

class ListenerImpl : public Listener {
 public:
  ListenerImpl(UniqueFd fd, int port, std::string secret);
  ~ListenerImpl() override;

  int port() const override { return port_; }
  ListenerStats stats() const override;
  const std::string& secret() const { return secret_; }

  // From now on connections of lower generations are refused; those of `generation` may be taken until Unregister().
  void Register(int generation);
  void Unregister(int generation);
  // The control connection that `from` has made last for `generation`. Waits until `limit`. One of another membership
  // with that number is left to expire.
  absl::StatusOr<Authenticated> TakeControl(int generation, uint64_t membership, int from, const WaitLimit& limit);
  // The data connection that belongs to `control`.
  absl::StatusOr<Authenticated> TakeData(const Hello& control, const WaitLimit& limit);
  // Takes look at their limits again.
  void WakeTakers();

 private:
  // A connection that has not proved anything yet.
  struct HalfOpen {
    UniqueFd fd;
    double deadline = 0;
    bool greeted = false;  // Hello is read, the challenge sent.
    Hello hello;
    Challenge challenge;
    Mac proof = {};
    size_t have = 0;  // Bytes of what is being read.
  };
  enum class Advance { kWait, kDrop, kDone };

  template <typename Match>
  absl::StatusOr<Authenticated> Take(const Match& match, const WaitLimit& limit);
  void Run();
  void Accept();
  Advance AdvanceOne(HalfOpen& connection);
  Advance Greet(HalfOpen& connection);
  void Park(HalfOpen connection);
  void Expire(double now);
  int SleepMilliseconds() const;

  const UniqueFd fd_;
  const int port_;
  const std::string secret_;
  WakeFd wake_;
  std::atomic<bool> stop_ = false;
  std::list<HalfOpen> half_open_;  // The thread's own; oldest first.

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Authenticated> waiting_;
  std::map<int, int> registered_;  // Generation -> how often.
  int oldest_generation_ = 0;
  ListenerStats stats_;

  std::thread thread_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_LISTENER_H_
