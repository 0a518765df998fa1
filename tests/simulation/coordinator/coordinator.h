// Models the coordinator's process around the real core. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_COORDINATOR_COORDINATOR_H_
#define REKINDLE_TESTS_SIMULATION_COORDINATOR_COORDINATOR_H_

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "coordinator/core/cluster.h"
#include "tests/simulation/coordinator/database.h"
#include "tests/simulation/coordinator/sim_clock.h"
#include "tests/simulation/coordinator/sim_lease_book.h"
#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

inline constexpr double kPauseSeconds = 6;
inline constexpr double kPoolStartSeconds = 6;

// A Coordinator owns the real core while the process is up, and what outlives the process: the database and the clocks.
// It collects what arrives into turns, saves each turn as the database allows, and tells nobody of a turn before.
class Coordinator {
 public:
  // `order` takes an order to its pool.
  Coordinator(World& world, std::function<void(const PoolOrder&)> order);

  // The observer must outlive the schedule.
  void Add(TurnObserver* observer) { observers_.push_back(observer); }

  void Start();
  // Kills the process, which is started again after `away` seconds.
  void Crash(double away);
  // Gives the event to the coordinator, whose next turn handles all events that have arrived. Calls `then` after that
  // turn is saved, unless the coordinator dies before.
  void Feed(const Event& event, std::function<void()> then = {});
  // Runs `run` at the time `time`, unless the process that is up now is killed before.
  void At(double time, std::function<void()> run);

  bool is_up() const { return core_ != nullptr; }
  // Returns whether the process is up and tells others what it has decided.
  bool Answers() const { return is_up() && !core_->IsListening(); }
  // Returns whether nothing is due now: no turn, and nothing that the core waits for.
  bool IsSettled() const { return !commits_ && arrived_.empty() && clock_.CoreNow() < wake_at_; }
  // The process must be up.
  const Cluster& core() const { return *core_; }
  // Returns how many processes of the coordinator were started so far.
  int life() const { return life_; }
  double up_since() const { return up_since_; }
  int turns() const { return turns_; }

  Clock& clock() { return clock_; }
  const Clock& clock() const { return clock_; }
  Database& database() { return database_; }
  const Database& database() const { return database_; }
  Records& records() { return database_.records(); }
  const Records& records() const { return database_.records(); }
  LeaseBook& leases() { return leases_; }

 private:
  void RunTurn();
  // Saves a turn's decisions as soon as the database allows it.
  void AwaitDatabase(Turn turn, double since);
  void Save(const Effects& effects);
  void SaveJob(const v1::JobRecord& record);
  void NoteEvent(const v1::Event& event);
  void Publish(const Turn& turn);
  void PlanWake();
  void Listen();

  World& world_;
  const std::function<void(const PoolOrder&)> order_;
  Clock clock_;
  Database database_;
  LeaseBook leases_;
  std::vector<TurnObserver*> observers_;
  std::unique_ptr<Cluster> core_;
  int life_ = 0;
  double up_since_ = 0;
  int turns_ = 0;
  std::vector<Arrived> arrived_;
  // `commits_` says that a turn is being saved. The next turn waits until it is saved.
  bool commits_ = false;
  // `wake_at_` is the core's time at which the core wants to decide again.
  double wake_at_ = std::numeric_limits<double>::infinity();
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_COORDINATOR_COORDINATOR_H_
