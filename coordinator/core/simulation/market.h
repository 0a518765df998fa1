// Plays many jobs in virtual time on pools that take orders, whose markets may have fewer machines than are ordered.
// The coordinator is the real core. Providers, agents and trainers are models that do as they are told, each in its own
// time. Everything that happens is a function of the seed. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_SIMULATION_MARKET_H_
#define REKINDLE_COORDINATOR_CORE_SIMULATION_MARKET_H_

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/simulation/virtual_time.h"

namespace rekindle::core::simulation {

class Market {
 public:
  explicit Market(uint64_t seed);

  // Plays the whole schedule of the world. Returns what went wrong, or an empty string.
  std::string Play();
  // Returns the last things that happened, oldest first.
  const std::deque<std::string>& journal() const { return journal_; }
  int preemptions() const { return preemptions_; }

 private:
  struct Machine {
    std::string pool;
    // The machine boots until `ready_at`.
    double ready_at = 0;
    // `jobs` maps the machine's slots to the jobs that they have to serve.
    std::map<int, std::string> jobs;
    v1::NodeReport report;
  };
  struct Pool {
    int max = 0;
    // `market` is how many machines the provider has for this pool.
    int market = 0;
    int ordered = 0;
    std::vector<std::string> doubted;
    int made = 0;
    bool refuses = false;
  };
  struct Process {
    v1::TrainerReport report;
    double ready_at = 0;
    // `checkpoint` says that the process saves when it stops.
    bool checkpoint = false;
  };
  struct Wish {
    int priority = 0;
    int min = 1;
    int max = 1;
    int steps = 0;
    double starved_since = 0;
    bool starved = false;
    // `saved` is the job's newest checkpoint.
    std::string saved;
    std::deque<double> stops;
  };

  // The functions that play the coordinator, users and providers are in market.cc.
  void Start();
  void Feed(const Event& event);
  void Note(const std::string& line);
  void Submit();
  void Disturb();
  void Provide();
  void Tick();

  // The functions that play agents and trainers are in market_work.cc.
  void Agents();
  void Obey(const std::string& node, Machine& machine);
  void Trainers();
  void Work(const std::string& uid, const std::vector<std::string>& members);
  void End(const std::string& trainer, int code);
  void Report(Process& process);

  // The functions that check what the coordinator decides are in market_checks.cc.
  void CheckEvent(const v1::Event& event);
  void Check();
  bool CouldRun(const std::string& uid) const;
  bool Wants(const std::string& uid) const;
  int SlotsOf(const std::string& uid) const;
  bool WaitsBehind(const std::string& uid) const;
  void CountAnew();
  void Violate(const std::string& what);

  Chance chance_;
  double now_ = 100;
  double wake_at_ = 0;
  // `changed_at_` is the last time at which something happened that the coordinator did not decide.
  double changed_at_ = 0;
  // `retried_at_` is the last time at which an avoided pool could be tried again.
  double retried_at_ = 0;
  std::unique_ptr<Cluster> cluster_;
  PriceBook prices_;
  std::map<std::string, v1::JobRecord> records_;
  std::map<std::string, v1::NodeRecord> node_records_;
  std::map<std::string, v1::PoolRecord> pool_records_;
  std::map<std::string, Pool> pools_;
  std::map<std::string, Machine> machines_;
  // `processes_` maps the identity of a trainer to its process.
  std::map<std::string, Process> processes_;
  // `wishes_` maps the uid of a job to what its user wants, and to what has become of the job so far.
  std::map<std::string, Wish> wishes_;
  // `starts_` maps a slot, as "<node>/<slot>", to the number of trainers that were started there.
  std::map<std::string, int> starts_;
  std::deque<std::string> journal_;
  std::string violation_;
  int preemptions_ = 0;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_SIMULATION_MARKET_H_
