// Holds ListenerImpl, the only kind of Listener, which Listener::Create() makes. It accepts and authenticates
// connections, and passes them to the generation that they are for.
#ifndef REKINDLE_WORKER_COMM_CONNECT_LISTENER_IMPL_H_
#define REKINDLE_WORKER_COMM_CONNECT_LISTENER_IMPL_H_

#include <atomic>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "common/sync/mutex.h"
#include "worker/comm/connect/listener.h"
#include "worker/comm/watch/handshake.h"

namespace rekindle::comm {

// Holds a connection whose other side has proved that it has the job's secret.
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

  // Refuses connections of generations below `generation` from now on. Those of `generation` may be taken until
  // Unregister().
  void Register(int generation);
  void Unregister(int generation);
  // Returns the control connection that `from` made last for `generation`. Waits until `limit`. A connection with that
  // generation's number but another membership is left to expire.
  absl::StatusOr<Authenticated> TakeControl(int generation, uint64_t membership, int from, const WaitLimit& limit);
  // Waits for the data connection that belongs to the control connection `control`, and returns it.
  absl::StatusOr<Authenticated> TakeData(const Hello& control, const WaitLimit& limit);
  // Lets TakeControl and TakeData calls that wait check their limits again.
  void WakeTakers();

 private:
  // Holds a connection that has not authenticated itself yet.
  struct HalfOpen {
    UniqueFd fd;
    double deadline = 0;
    // `greeted` says that the connector's Hello was read and the challenge was sent.
    bool greeted = false;
    Hello hello;
    Challenge challenge;
    Mac proof = {};
    // `have` counts the received bytes of the handshake message that is being read.
    size_t have = 0;
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
  // `half_open_` has the connections that have not authenticated themselves yet, the oldest first. Only the listener's
  // thread uses it.
  std::list<HalfOpen> half_open_;

  mutable common::Mutex mutex_;
  common::CondVar arrived_;
  std::deque<Authenticated> waiting_ ABSL_GUARDED_BY(mutex_);
  // `registered_` counts, for each generation, the attempts to connect that run now.
  std::map<int, int> registered_ ABSL_GUARDED_BY(mutex_);
  int oldest_generation_ ABSL_GUARDED_BY(mutex_) = 0;
  ListenerStats stats_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONNECT_LISTENER_IMPL_H_
