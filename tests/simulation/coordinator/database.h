// Models the coordinator's database as coordinator/server/loop treats it. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_COORDINATOR_DATABASE_H_
#define REKINDLE_TESTS_SIMULATION_COORDINATOR_DATABASE_H_

#include <map>
#include <string>

#include "coordinator/core/state/events.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Holds what a coordinator has saved. Every job has an entry in `jobs`, with its uid as key. The entry is empty as long
// as no coordinator has saved the job.
struct Records {
  bool HasJob(const std::string& uid) const { return !jobs.at(uid).job().uid().empty(); }

  std::map<std::string, v1::JobRecord> jobs;
  std::map<std::string, v1::NodeRecord> nodes;
  std::map<std::string, v1::PoolRecord> pools;
};

// A Database owns the records, which outlive the coordinator's processes, and says whether they can be written. While
// they cannot, nothing is decided and time stands still for the core. While the database is slow, every answer waits.
class Database {
 public:
  explicit Database(const World& world);

  Records& records() { return records_; }
  const Records& records() const { return records_; }
  // Returns what a coordinator that starts reads.
  Restored Read() const;

  bool CanCommit() const { return world_.now() >= fails_until_; }
  bool IsSlow() const { return world_.now() < slow_until_; }
  void FailUntil(double time) { fails_until_ = time; }
  void BeSlowUntil(double time) { slow_until_ = time; }
  void Mend() { fails_until_ = slow_until_ = 0; }

  // Replaces the records of jobs and nodes by others, so that the coordinator's next process begins a new epoch. That
  // process listens before it decides.
  void BringBack(std::map<std::string, v1::JobRecord> jobs, std::map<std::string, v1::NodeRecord> nodes);
  int epoch() const { return epoch_; }
  double brought_back_at() const { return brought_back_at_; }
  bool listens_first() const { return listens_first_; }
  // Notes that the coordinator has listened.
  void Listened() { listens_first_ = false; }

 private:
  const World& world_;
  Records records_;
  double fails_until_ = 0;
  double slow_until_ = 0;
  int epoch_ = 1;
  double brought_back_at_ = 0;
  bool listens_first_ = false;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_COORDINATOR_DATABASE_H_
