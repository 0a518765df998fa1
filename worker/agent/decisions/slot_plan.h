// Compares what should run on this node with what runs. The comparison is a pure function without clock, file or
// process, so that every case can be tested. Times are seconds of one steady clock.
//
// A slot holds at most one trainer. A trainer of another job than the wanted one is stopped with SIGTERM, and with
// SIGKILL after a grace period. The wanted trainer starts when the slot is empty. A trainer that died is started again:
// at once the first time, later after growing delays, until a trainer has lived long enough.
#ifndef REKINDLE_WORKER_AGENT_DECISIONS_SLOT_PLAN_H_
#define REKINDLE_WORKER_AGENT_DECISIONS_SLOT_PLAN_H_

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rekindle::agent {

struct Policy {
  // `stop_grace_seconds` is the time between SIGTERM and SIGKILL.
  double stop_grace_seconds = 10;
  // After the death of a trainer that lived for `quick_death_seconds` or longer, the count of quick deaths starts again
  // at 1.
  double quick_death_seconds = 30;
  // `delays[n]` is the wait before the start that follows quick death n + 1 in a row. The last value repeats.
  std::vector<double> delays = {0, 0.2, 0.5, 1, 2, 5};
  // A trainer whose process is still there so long after SIGKILL is stuck in the kernel, such as in a driver that does
  // not answer. Freeing the largest memory takes a few seconds.
  double stuck_seconds = 30;
};

struct RunningTrainer {
  std::string job_uid;
  double started_at = 0;
  // `terminated_at` is when SIGTERM was sent to the trainer.
  std::optional<double> terminated_at;
  // `killed_at` is when SIGKILL was sent to the trainer, or when it was found to be ending.
  std::optional<double> killed_at;
  // `ending` says that the trainer no longer runs but that its memory is not freed yet, so its slot is not free either.
  bool ending = false;
};

// Counts the quick deaths in a row of the trainers of the job that ran last in a slot.
struct DeathRow {
  std::string job_uid;
  int quick_deaths = 0;
  double not_before = 0;
  // `awaits_acknowledgement` says that the trainer ended by itself with exit code 0, so it considers itself finished.
  // It runs again only if the coordinator still wants it after hearing of the end.
  bool awaits_acknowledgement = false;
};

struct Slot {
  // `wanted` is the uid of the job of which a trainer should run in this slot.
  std::optional<std::string> wanted;
  std::optional<RunningTrainer> running;
  DeathRow deaths;
  // If `out_of_use` is set, no trainer starts in this slot, because its GPU has failed (slot_health.h). A trainer that
  // runs there goes on.
  bool out_of_use = false;
};

struct Node {
  std::map<int, Slot> slots;
  // `desired_known` is false until the first directive arrives. No trainer is started or stopped before that.
  bool desired_known = false;
  // While the node drains, no new trainer starts.
  bool draining = false;
  // `stop_all` says that the node's time is over: all trainers stop, even those that are wanted.
  bool stop_all = false;
  // `left_alone` has the uids of jobs that the coordinator does not know. Their trainers go on, but are not started
  // again.
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
  // The caller must call Reconcile again at `wake_at`, or earlier when anything changes.
  double wake_at = std::numeric_limits<double>::infinity();
};

// Returns which trainers to start, stop or kill now. If the caller carries out the actions and notes them in `node`, a
// second call returns none.
Plan Reconcile(const Node& node, const Policy& policy, double now);

// Returns the slots that are held by a trainer which was killed long ago and has not ended. Nothing can start there
// before the kernel lets go of the process.
std::set<int> StuckSlots(const Node& node, const Policy& policy, double now);

// Returns the DeathRow of a slot after its trainer ended. An end that the agent asked for counts as no death.
DeathRow AfterExit(const DeathRow& before, const RunningTrainer& ended, int exit_code, const Policy& policy,
                   double now);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_DECISIONS_SLOT_PLAN_H_
