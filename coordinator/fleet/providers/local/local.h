// This file provides machines that are folders and processes on this computer, with a spot market of their own. They
// are the default where no cloud is used, and tests and replays run on them. Like real machines they outlive the
// coordinator, and the next coordinator finds them.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/process/process.h"
#include "common/sync/mutex.h"
#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/fleet/providers/local/local_machine.h"
#include "coordinator/fleet/providers/local/local_market.h"
#include "coordinator/fleet/providers/local/local_state.h"

namespace rekindle::fleet {

struct LocalPoolOptions {
  std::string pool;
  double boot_seconds = 0;
  // `nodes` is how many machines the spot market lets run until SetMarket changes that.
  int nodes = 0;
  double notice_seconds = 0;
  // If `trace` has steps, the trace says how many machines the market lets run, and `nodes` is ignored.
  MarketTrace trace;
};

struct LocalOptions {
  // `folder` is the coordinator's data folder. The provider owns nodes/, logs/ and pools/ in it.
  std::string folder;
  // `endpoint_file` holds the host:port of the coordinator.
  std::string endpoint_file;
  // `memory` is the number of bytes for the trainers of one machine.
  double memory = 0;
  // `programs` is the folder of Rekindle's programs. An empty one means the folder of the running program.
  std::string programs;
  std::vector<LocalPoolOptions> pools;
};

// A LocalProvider fulfils the contract of Provider, and is thread-safe.
class LocalProvider final : public Provider {
 public:
  // Finds the local machines that already run, and watches them from now on. INVALID_ARGUMENT says that nodes of two
  // pools would have the same name.
  static absl::StatusOr<std::unique_ptr<LocalProvider>> Open(const LocalOptions& options);
  // The machines outlive the provider.
  ~LocalProvider() override;

  // Starts the machines that the spot market allows now, and the others when the market allows them. Returns
  // RESOURCE_EXHAUSTED where the market lets fewer machines run than `nodes`.
  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                          double seconds) override;
  absl::StatusOr<Listing> List(const std::string& pool, double seconds) override;
  // Returns all of `nodes`, because a local machine that is not listed any more was killed, and its name is never used
  // again.
  absl::StatusOr<std::vector<std::string>> Ended(const std::string&, const std::vector<std::string>& nodes,
                                                 double) override {
    return nodes;
  }
  // Lets the pool's spot market have `nodes` machines from now on, whatever the fleet file says. NOT_FOUND says that
  // there is no such pool, and INVALID_ARGUMENT that a number is out of range.
  absl::Status SetMarket(const std::string& pool, int nodes, std::optional<double> notice_seconds);
  // Asks all machines to stop, kills what is left after `seconds`, and starts no more machines.
  void EndAll(double seconds);

 private:
  struct Pool {
    LocalPoolOptions options;
    LocalMarket market;
    LocalState state;
    // `machines` holds the running machines by the names of their nodes.
    std::map<std::string, MachineProcesses> machines;
  };

  explicit LocalProvider(const LocalOptions& options);
  absl::Status Load(Pool& pool) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Save(Pool& pool) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string StateFile(const Pool& pool) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Adopt(Pool& pool) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Watch();
  double Turn(double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Act(Pool& pool, const std::vector<LocalAction>& actions, double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Start(Pool& pool, const std::string& node, double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  LocalNode NodeOf(const Pool& pool, const std::string& node) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string LogOf(const std::string& node) const { return options_.folder + "/logs/" + node; }
  void Wake();

  const LocalOptions options_;
  common::UniqueFd wake_;
  common::Mutex mutex_;
  std::map<std::string, Pool> pools_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  // `ended_` is notified when a machine has gone.
  common::CondVar ended_;
  std::thread thread_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_H_
