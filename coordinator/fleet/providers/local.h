// Machines that are folders and processes on this one, with a spot market of their own: the embedded default, and what
// tests and replays run against. They outlive the coordinator, as machines do; the next one finds them.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/process.h"
#include "coordinator/fleet/providers/local_machine.h"
#include "coordinator/fleet/providers/local_market.h"
#include "coordinator/fleet/providers/local_state.h"
#include "coordinator/fleet/providers/provider.h"

namespace rekindle::fleet {

struct LocalPoolOptions {
  std::string pool;
  double boot_seconds = 0;
  int nodes = 0;  // What the market lets run, until told otherwise.
  double notice_seconds = 0;
  MarketTrace trace;  // Instead of nodes, where it has any.
};

struct LocalOptions {
  std::string folder;         // The coordinator's own: nodes/, logs/ and pools/ below it are ours.
  std::string endpoint_file;  // Holds the coordinator's host:port.
  double memory = 0;          // Bytes for the trainers of one machine.
  std::string programs;       // Folder of the programs; empty: beside this one.
  std::vector<LocalPoolOptions> pools;
};

// Beside the contract of Provider, thread-safe.
class LocalProvider final : public Provider {
 public:
  // Finds the machines that run, and watches them from now on. INVALID_ARGUMENT: two pools' nodes would have one name.
  static absl::StatusOr<std::unique_ptr<LocalProvider>> Open(const LocalOptions& options);
  ~LocalProvider() override;  // Machines stay.

  // RESOURCE_EXHAUSTED where the market lets fewer run; those it does are started, others when it does.
  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                          double seconds) override;
  absl::StatusOr<Listing> List(const std::string& pool, double seconds) override;
  // A machine that is not listed was killed, and its name is never used again.
  absl::StatusOr<std::vector<std::string>> Ended(const std::string&, const std::vector<std::string>& nodes,
                                                 double) override {
    return nodes;
  }
  // The market lets `nodes` run from now on, whatever the fleet file says. NOT_FOUND: no such pool. INVALID_ARGUMENT: a
  // number that cannot be.
  absl::Status SetMarket(const std::string& pool, int nodes, std::optional<double> notice_seconds);
  // Asks all machines to stop, kills what is left after `seconds`, and starts none any more.
  void EndAll(double seconds);

 private:
  struct Pool {
    LocalPoolOptions options;
    LocalMarket market;
    LocalState state;
    std::map<std::string, MachineProcesses> machines;  // By node: those that run.
  };

  explicit LocalProvider(const LocalOptions& options);
  absl::Status Load(Pool& pool);
  void Save(Pool& pool) const;
  std::string StateFile(const Pool& pool) const;
  void Adopt(Pool& pool);
  void Watch();
  double Turn(double now);
  void Act(Pool& pool, const std::vector<LocalAction>& actions, double now);
  void Start(Pool& pool, const std::string& node, double now);
  LocalNode NodeOf(const Pool& pool, const std::string& node) const;
  std::string LogOf(const std::string& node) const { return options_.folder + "/logs/" + node; }
  void Wake();

  const LocalOptions options_;
  common::UniqueFd wake_;
  std::mutex mutex_;
  std::map<std::string, Pool> pools_;  // Under mutex_, as is the next.
  bool stop_ = false;
  std::condition_variable ended_;  // A machine has gone.
  std::thread thread_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_H_
