// What should run on this node against what runs: a pure function, so that every case can be tested. No clock, file or
// process here. Times are seconds of one steady clock.
//
// A slot holds at most one trainer. A trainer of another job than the wanted one is stopped (SIGTERM, after a grace
// SIGKILL), and the wanted one starts when the slot is empty. One that died is started again: at once the first time,
// later after growing delays, until one has lived long enough.
#ifndef REKINDLE_WORKER_AGENT_RECONCILE_H_
#define REKINDLE_WORKER_AGENT_RECONCILE_H_

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rekindle::agent {

struct Policy {
  double stop_grace_seconds = 10;   // From SIGTERM to SIGKILL.
  double quick_death_seconds = 30;  // A trainer that lived longer starts a new row of deaths.
  // Before the start that follows the n-th quick death in a row; the last one repeats.
  std::vector<double> delays = {0, 0.2, 0.5, 1, 2, 5};
};

struct RunningTrainer {
  std::string job_uid;
  double started_at = 0;
  std::optional<double> terminated_at;  // SIGTERM was sent.
  bool killed = false;                  // SIGKILL was sent.
  bool ending = false;                  // It runs no more, but its memory is still there: the slot is not free yet.
};

// Of the job that ran last in a slot.
struct DeathRow {
  std::string job_uid;
  int quick_deaths = 0;
  double not_before = 0;
  // It ended by itself with exit code 0: finished, as far as it knows. It runs again only if the coordinator, having
  // heard of it, still wants it.
  bool awaits_acknowledgement = false;
};

struct Slot {
  std::optional<std::string> wanted;  // Job uid.
  std::optional<RunningTrainer> running;
  DeathRow deaths;
};

struct Node {
  std::map<int, Slot> slots;
  bool desired_known = false;  // False until the first directive: nothing starts or stops.
  bool draining = false;       // Nothing new starts.
  bool stop_all = false;       // Out of time: whatever is wanted, all stop.
  // Uids of jobs that the coordinator does not know: what runs of them goes on, and is not started again.
  std::set<std::string> left_alone;
};

struct Action {
  enum Kind { kStart, kTerminate, kKill };
  Kind kind = kStart;
  int slot = 0;
  std::string reason;
  bool operator==(const Action&) const = default;
};

struct Plan {
  std::vector<Action> actions;
  double wake_at = std::numeric_limits<double>::infinity();  // Ask again then, or when anything changes.
};

// Carrying out the actions (and noting them in `node`) makes a second call return none.
Plan Reconcile(const Node& node, const Policy& policy, double now);

// The row of deaths of a slot after its trainer ended. An end that we had asked for counts as no death.
DeathRow AfterExit(const DeathRow& before, const RunningTrainer& ended, int exit_code, const Policy& policy,
                   double now);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_RECONCILE_H_
