// Plays a job with a budget on ordered machines that are cut off, killed, or never register, under a coordinator that
// is away at times. Each machine keeps, by a clock of its own, to the times for which it was told that it may run. In
// the end the job's bill is compared with what ran for it, and with its budget. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_SIMULATION_SPENDING_WORLD_H_
#define REKINDLE_COORDINATOR_CORE_SIMULATION_SPENDING_WORLD_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/simulation/virtual_time.h"

namespace rekindle::core::simulation {

class SpendingWorld {
 public:
  explicit SpendingWorld(uint64_t seed);

  // Plays the whole schedule of the world. Returns what is wrong in the end, or an empty string.
  std::string Play();
  const std::deque<std::string>& journal() const { return journal_; }
  int ended_alone() const { return ended_alone_; }
  int stopped_for_budget() const { return stopped_for_budget_; }

 private:
  struct Machine {
    double ready_at = 0;
    bool registers = true;
    double cut_until = 0;
    // `pace` is how fast the machine's clock runs. The true pace is 1.
    double pace = 1;
    // The machine may run until `alone_until` without being heard, and spend money until `spend_until`. Both are times
    // on the world's clock, and infinite where there is no limit.
    double alone_until = 0;
    double spend_until = 0;
    // `over_at` is when the machine saw that its time is over, or 0 as long as it is not.
    double over_at = 0;
    double saves_for = 0;
    // `serves` is the job that the machine was last told to serve.
    std::string serves;
    v1::NodeReport report;
    bool has_trainer = false;
    v1::TrainerReport trainer;
  };

  void Note(const std::string& line);
  void Feed(const Event& event);
  void Start();
  void Disturb();
  void Provide();
  void Live(const std::string& name, Machine& machine);
  void Obey(const std::string& name, Machine& machine);
  void TakeHorizons(const std::string& name, Machine& machine);
  void Work();
  void EndThoseAlone();
  void Remove(const std::string& name, const std::string& why);
  bool IsHeard(const Machine& machine) const { return cluster_ != nullptr && now_ >= machine.cut_until; }
  std::string Judge() const;

  Chance chance_;
  double now_ = 1000;
  double wake_at_ = 0;
  // `back_at_` is when a coordinator that is away comes back.
  double back_at_ = 0;
  // `price_` is what a node costs in a second.
  double price_ = 0;
  double budget_ = 0;
  int most_ = 0;
  PriceBook prices_;
  Tunables tunables_;
  std::unique_ptr<Cluster> cluster_;
  std::map<std::string, v1::JobRecord> records_;
  std::map<std::string, v1::NodeRecord> node_records_;
  std::map<std::string, v1::PoolRecord> pool_records_;
  std::map<std::string, Machine> machines_;
  std::vector<std::string> doubted_;
  int ordered_ = 0;
  int made_ = 0;
  int starts_ = 0;
  // `ran_` is the total number of seconds for which machines have served the job.
  double ran_ = 0;
  // `changes_` is how often a machine began or ended to serve the job.
  int changes_ = 0;
  int ended_alone_ = 0;
  int stopped_for_budget_ = 0;
  std::string saved_;
  std::deque<std::string> journal_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_SIMULATION_SPENDING_WORLD_H_
