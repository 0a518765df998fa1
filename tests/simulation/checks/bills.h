// Compares what jobs cost with what the coordinator says and with what they may cost. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_BILLS_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_BILLS_H_

#include <map>
#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/world/observer.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Counts what jobs cost, compares that with the coordinator's count, and compares the coordinator's count with the
// budgets. Only machines of pools cost anything.
class BillCheck final : public TurnObserver, public Observer {
 public:
  BillCheck(const World& world, Journal& journal, const Coordinator& coordinator)
      : world_(world), journal_(journal), coordinator_(coordinator) {}

  void CoordinatorStarts() override;
  void JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) override;
  void TurnSaved(const Effects& effects) override;
  void ProcessStarted(const Process& process) override;
  void ProcessEnds(const Process& process) override { CountRan(process); }
  void PriceChanges() override { CountAllRan(); }

 private:
  // Holds what a job costs by the simulation's own count, and which part of the cost its budget does not limit.
  struct Bill {
    // The job's processes on priced machines have cost at least `ran`.
    double ran = 0;
    // `processes` is the number of processes that have run on priced machines so far.
    int processes = 0;
    // The amount `forgiven` was spent beyond the budget in order to save a result.
    double forgiven = 0;
    // For `unsure` seconds the coordinator could not tell passing time from a clock that was set while it was away.
    double unsure = 0;
    // `over` says that the job is over and nothing is charged any more.
    bool over = false;
    // `rest_comes` says that one charge is still to come, for the time in which nobody could be told that the job is
    // over.
    bool rest_comes = false;
  };
  // Holds what is known of a process on a machine with a price.
  struct Charge {
    // What the process costs is on the job's bill up to the time `counted_until`.
    double counted_until = 0;
    // `is_paid_by_others` says that another job pays for the slot of the process.
    bool is_paid_by_others = false;
  };
  // Holds the limits of what any machine may cost for the job.
  struct Limits {
    double highest_price = 0;
    double lowest_price = 1e9;
    // `machines` is the largest number of machines that can serve the job at a time.
    int machines = 1;
  };

  void NoteBill(const v1::JobRecord& record);
  // Returns the pool that the machine of the process belongs to, or null if the machine has no price.
  const SimPool* PoolOf(const Process& process) const;
  // Adds what the process has cost up to now to its job's bill.
  void CountRan(const Process& process);
  void CountAllRan();
  // Returns whether other jobs pay for so much of the machine that they must be paying for the slot of `process`.
  bool IsPaidByOthers(const Process& process) const;
  // Marks the processes whose slots another job pays for. A slot may go to another job before anybody could know that a
  // process of the first job was started there. Then the other job pays for the slot until that process is gone.
  void NotePayers(const v1::JobRecord& record);
  Limits LimitsOf(const SimJob& job) const;
  // Checks that the coordinator has charged for what ran.
  void CheckFinal(const SimJob& job, const Bill& bill, const v1::JobRecord& record);
  // Checks that the coordinator has kept to the budget.
  void CheckBudget(const SimJob& job, Bill& bill, const v1::JobRecord& record);

  const World& world_;
  Journal& journal_;
  const Coordinator& coordinator_;
  // The uids of jobs are the keys of `bills_`, and the identities of trainers those of `charges_`.
  std::map<std::string, Bill> bills_;
  std::map<std::string, Charge> charges_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_BILLS_H_
