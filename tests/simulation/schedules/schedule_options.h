// Says what a schedule of the simulation plays. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_SCHEDULES_SCHEDULE_OPTIONS_H_
#define REKINDLE_TESTS_SIMULATION_SCHEDULES_SCHEDULE_OPTIONS_H_

#include <string>
#include <vector>

namespace rekindle::core::simulation {

struct JobOptions {
  std::string name = "job";
  int micro_batches = 8;
  int steps = 40;
  // `sharded` says that the optimizer's state is sharded, with two holders for each shard.
  bool sharded = false;
  int priority = 0;
  // `min` and `max` are the lowest and the highest number of workers of the job. 0 leaves the choice to the
  // coordinator.
  int min = 0, max = 0;
  double submit_at = 0;
  // The budget is in the currency of the pools' prices. 0 means that there is none.
  double budget = 0;
  // If `accuses` is not set, the job's ranks say that their communicators have ended and hold no rank responsible.
  bool accuses = true;
  // If `lease` is set, the job stands still without word from the coordinator even where no budget requires it.
  bool lease = true;
};

// Describes a pool of spot machines that are ordered from a provider.
struct PoolOptions {
  std::string name;
  int max = 2;
  // `price` is the price of a machine per hour at the start.
  double price = 1;
  // `slots` is the number of slots of each machine.
  int slots = 1;
  // If `asked` is set, the provider is asked for the price. Otherwise the fleet file states it.
  bool asked = false;
};

struct Options {
  // `nodes` is the number of machines that nobody ordered. Each has at most `most_slots` slots.
  int nodes = 3;
  int most_slots = 1;
  std::vector<JobOptions> jobs = {{}};
  std::vector<PoolOptions> pools;
  double chaos_seconds = 12;
  int faults = 7;
  // `database` is how often the coordinator's database fails or is slow for a while.
  int database = 0;
  // `clocks` is how often the coordinator's wall clock is set.
  int clocks = 0;
  // `strangers` is how often a node gets other data or another processor.
  int strangers = 0;
  // If `gpus` is set, most nodes compute on GPUs. `nccl` is how often NCCL hangs for a while.
  bool gpus = false;
  int nccl = 0;
  // If `renames` is set, machines that die may come back under other names.
  bool renames = false;
  // `longest_away` is the longest time in seconds that the coordinator is away after a kill.
  double longest_away = 3;
  // `vanishings` is how often machines begin to vanish, each as a job begins a new generation.
  int vanishings = 0;
  // `absences` is how often the coordinator is away for longer than jobs may spend without it.
  int absences = 0;
  // If `compare` is set, the coordinator's decisions are compared with those of a coordinator that looks at everything,
  // after each turn and not only after the last one.
  bool compare = false;
  // `unheard` is how often the coordinator hears nothing from some nodes for a while.
  int unheard = 0;
  // `store` is how often something goes wrong with the store of a job.
  int store = 0;
  // `prices` is how often the price of a pool changes.
  int prices = 0;
  // An ordered machine ends itself after `alone_seconds` without a coordinator. With 0 it never does.
  double alone_seconds = 0;
  // `copies` is how often the coordinator's records are brought back from a copy.
  int copies = 0;
  // If `from_stores` is set, a copy that is brought back contains only what the jobs' stores keep.
  bool from_stores = false;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_SCHEDULES_SCHEDULE_OPTIONS_H_
