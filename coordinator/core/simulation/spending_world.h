// Test-only: a job with a budget on ordered machines that are cut off, killed, or never register, under a coordinator
// that is away at times. Machines keep to what they were told of how long they may run, each by a clock of its own. In
// the end the job's bill is held against what ran for it, and against its budget.
#ifndef REKINDLE_COORDINATOR_CORE_SIMULATION_SPENDING_WORLD_H_
#define REKINDLE_COORDINATOR_CORE_SIMULATION_SPENDING_WORLD_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/simulation/queue.h"

namespace rekindle::core::simulation {

class SpendingWorld {
 public:
  explicit SpendingWorld(uint64_t seed);

  // What is wrong; empty: nothing.
  std::string Play();
  const std::deque<std::string>& journal() const { return journal_; }
  int ended_alone() const { return ended_alone_; }
  int stopped_for_budget() const { return stopped_for_budget_; }

 private:
  struct Machine {
    double ready_at = 0;
    bool registers = true;
    double cut_until = 0;
    double pace = 1;         // Of its clock.
    double alone_until = 0;  // By the world's clock, as is the next. Infinite: for ever.
    double spend_until = 0;
    double over_at = 0;  // When it saw that its time is over; 0: it is not.
    double saves_for = 0;
    std::string serves;  // As it was told last.
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
  double back_at_ = 0;  // Of a coordinator that is away.
  double price_ = 0;    // A second.
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
  double ran_ = 0;   // Seconds of machines that served the job.
  int changes_ = 0;  // How often that began or ended.
  int ended_alone_ = 0;
  int stopped_for_budget_ = 0;
  std::string saved_;
  std::deque<std::string> journal_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_SIMULATION_SPENDING_WORLD_H_
