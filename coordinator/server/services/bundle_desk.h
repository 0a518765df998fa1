// Serves Coordinator.PutBundle and Nodes.GetBundle: bundles of code in pieces, a few at a time and not faster than a
// given rate, so that heartbeats do not wait behind them.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_BUNDLE_DESK_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_BUNDLE_DESK_H_

#include <grpcpp/grpcpp.h>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "coordinator/bundles/bundle_shelf.h"
#include "coordinator/server/loop/loop.h"
#include "coordinator/server/services/voice.h"
#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// Calls wait in a queue, first come first served. One thread reads and writes the files. The class is thread-safe.
class BundleDesk {
 public:
  struct Options {
    // If `takes` is not set, the coordinator takes no code of jobs, and so no bundle.
    bool takes = true;
    // At most `at_once` pieces are on their way at the same time.
    size_t at_once = 4;
    double bytes_per_second = 64 << 20;
    // The call of a client that does not take its reply for `stalled_seconds` seconds is ended, so that it does not
    // keep its place.
    double stalled_seconds = 60;
    // At most `max_waiting` calls with at most `max_waiting_bytes` bytes wait.
    size_t max_waiting = 4096;
    size_t max_waiting_bytes = 32 << 20;
  };

  // The caller keeps the ownership of all pointers, which must outlive all calls.
  BundleDesk(Loop* loop, const Voice* voice, BundleShelf* shelf, Options options);
  ~BundleDesk() { Stop(); }
  BundleDesk(const BundleDesk&) = delete;

  grpc::ServerUnaryReactor* Put(grpc::CallbackServerContext* context, const v1::PutBundleRequest* request,
                                v1::PutBundleReply* reply);
  // REQUIRES: the node may be told anything (Voice::MayTell).
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context, const v1::GetBundleRequest* request,
                                v1::GetBundleReply* reply);
  // Ends all waiting calls with UNAVAILABLE. Stop is idempotent.
  void Stop();

 private:
  class Call;
  struct Task {
    Call* call = nullptr;
    // `run` does the work of the call, and returns how many bytes of the bundle were moved.
    std::function<absl::Status(size_t* moved)> run;
    size_t bytes = 0;
  };

  // Queues the task, or ends its call.
  void Post(Task task);
  // Runs `task` on the loop's thread, or ends the call.
  void OnLoop(Call* call, std::function<void()> task);
  void Run();
  // Waits for the next task whose turn it is. Returns false when the desk stops.
  bool Next(Task* task);
  // Returns the call that has been under way for longest, and how many seconds it still has.
  std::pair<Call*, double> Oldest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Notes that the call is over. It waits until nobody uses the call any more.
  void Done(Call* call);

  Loop* const loop_;
  const Voice* const voice_;
  BundleShelf* const shelf_;
  const Options options_;

  common::Mutex mutex_;
  common::CondVar changed_;
  std::deque<Task> queue_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // `under_way_` has the calls whose turn has come and that are not over, and since when, in seconds of the steady
  // clock. `ending_` is the one whose end the thread `ending_on_` asks for, because its client does not take the reply.
  std::map<Call*, double> under_way_ ABSL_GUARDED_BY(mutex_);
  Call* ending_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::thread::id ending_on_ ABSL_GUARDED_BY(mutex_);
  // No piece is moved before `next_at_`, in seconds of the steady clock.
  double next_at_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Returns OK if the node of the request holds a slot of its job, and the job has the bundle. It must be called on the
// loop's thread.
absl::Status CheckMayGetBundle(const Loop& loop, const v1::GetBundleRequest& request);
// Returns the bundles that jobs name. It must be called on the loop's thread.
std::set<std::string> NamedBundles(const Loop& loop);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_BUNDLE_DESK_H_
