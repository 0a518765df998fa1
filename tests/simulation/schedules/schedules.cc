#include "tests/simulation/schedules/schedules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/simulation/virtual_time.h"

namespace rekindle::core::simulation {
namespace {

// In one of `kCompareEvery` schedules the coordinator's decisions are compared after each turn with those of a
// coordinator that looks at everything, which takes minutes for 200 nodes.
constexpr int kCompareEvery = 50;
constexpr int kMostMoreToCompare = 10;

Options OneJob(uint64_t seed) {
  Options options;
  options.nodes = seed % 8 == 0    ? 1
                  : seed % 16 == 1 ? 5 + static_cast<int>(seed / 16 % 4)
                                   : 2 + static_cast<int>(seed % 3);
  options.faults = 3 + static_cast<int>(seed / 4 % 8);
  JobOptions& job = options.jobs[0];
  job.micro_batches = 5 + static_cast<int>(seed / 32 % 6);
  job.sharded = seed % 3 == 0;
  if (seed / 64 % 5 == 1) options.most_slots = 3;
  return options;
}

// Makes the schedule so long that nodes that the coordinator cannot hear are given up.
void AddUnheard(uint64_t seed, Options* options) {
  options->unheard = 1 + static_cast<int>(seed / 5 % 2);
  options->jobs[0].steps = 400;
  options->chaos_seconds = 60;
}

// Adds faults of the store, after which some of the trainers die.
void AddStore(uint64_t seed, Options* options) {
  options->store = 1 + static_cast<int>(seed / 5 % 4);
  options->jobs[0].steps = 80;
  options->chaos_seconds = 25;
}

// Adds a second job, which is submitted before or after the copy of the coordinator's records is made.
void AddLaterJob(Chance& chance, Options* options) {
  options->nodes = std::max(options->nodes, 3);
  options->jobs[0].max = options->nodes - 1;
  JobOptions later = options->jobs[0];
  later.name = "later";
  later.min = chance.Happens(0.4) ? 2 : 1;  // A job that needs 2 workers may have to wait.
  later.max = 2;
  later.steps = 300;
  later.submit_at = chance.Uniform(10, 40);
  options->jobs.push_back(later);
}

// Brings the records back from a copy after other nodes have joined and left.
void AddCopies(uint64_t seed, Options* options) {
  options->copies = 1 + static_cast<int>(seed / 10 % 2);
  options->from_stores = seed / 20 % 2 == 1;
  options->jobs[0].steps = 400;
  options->chaos_seconds = 60;
  Chance chance(~seed);
  if (chance.Happens(0.9)) AddLaterJob(chance, options);
}

// Lets the prices of machines change, gives budgets to jobs, and lets machines be cut off and end themselves.
void AddMoney(Chance& chance, Options* options) {
  if (options->pools.empty()) return;
  if (chance.Happens(0.5)) options->alone_seconds = chance.Uniform(10, 40);
  if (chance.Happens(0.4)) options->prices = 1 + chance.Pick(3);
  if (chance.Happens(0.5)) options->unheard = 1 + chance.Pick(2);
  options->absences = chance.Pick(3);
  double cheapest = 1e9;
  for (PoolOptions& pool : options->pools) {
    pool.asked = chance.Happens(0.5);
    pool.slots = chance.Happens(0.3) ? 2 : 1;
    cheapest = std::min(cheapest, pool.price / pool.slots);
  }
  // The budget pays for more than a minute of the job's minimum even if that costs 2.5 times as much. A job with less
  // would not be accepted.
  const double least = options->prices > 0 ? 2.6 : 1.1;
  for (JobOptions& job : options->jobs) {
    if (chance.Happens(0.3)) continue;
    job.budget = job.min * cheapest / 60 * chance.Uniform(least, 5);
    job.lease = chance.Happens(0.3);
  }
}

// Makes jobs that share machines that are there from the start, machines of pools that take orders, or both. Each job
// fits on the machines if it is alone.
Options ManyJobs(uint64_t seed, int fewest_pools) {
  Chance chance(~seed);
  Options options;
  options.jobs.clear();
  options.chaos_seconds = 45;
  options.faults = 2 + chance.Pick(7);
  const int pools = fewest_pools + chance.Pick(3 - fewest_pools);
  options.nodes = pools == 0 ? 2 + chance.Pick(3) : chance.Pick(2);
  for (int i = 0; i < pools; ++i) {
    options.pools.push_back({.name = i == 0 ? "near" : "far", .max = 2 + chance.Pick(2), .price = 1.0 + i});
  }
  const int largest = pools > 0 ? 2 : std::min(3, options.nodes);  // All workers of a gang run in one pool.
  const int jobs = 2 + chance.Pick(2);
  for (int i = 0; i < jobs; ++i) {
    JobOptions job;
    job.name = absl::StrCat("job", i + 1);
    job.priority = chance.Happens(0.2) ? 0 : 10 * chance.Pick(4);
    job.micro_batches = 5 + chance.Pick(4);
    job.steps = 100 + 50 * chance.Pick(6);
    job.sharded = chance.Happens(0.2);
    job.min = 1 + chance.Pick(largest);
    job.max = chance.Happens(0.3) ? job.min : chance.Happens(0.5) ? job.min + chance.Pick(3) : 0;
    if (i > 0) job.submit_at = chance.Uniform(0.5, 20);
    options.jobs.push_back(job);
  }
  AddMoney(chance, &options);
  return options;
}

// Makes schedules of a small cluster. Each has at most one kind of trouble beside the usual faults.
Options Few(uint64_t seed) {
  if (seed % 10 == 8) return ManyJobs(seed, 0);
  if (seed % 20 == 6) return ManyJobs(seed, 1);
  Options options = OneJob(seed);
  if (seed % 5 == 2) AddUnheard(seed, &options);
  if (seed % 10 == 3) AddCopies(seed, &options);
  if (seed % 5 == 4) AddStore(seed, &options);
  return options;
}

// Adds machines that can be ordered beside those that are there from the start.
void AddPools(Chance& chance, Options* options) {
  const int pools = 1 + chance.Pick(2);
  for (int i = 0; i < pools; ++i) {
    const int most = 2 + chance.Pick(std::max(1, options->nodes / 4));
    options->pools.push_back({.name = i == 0 ? "near" : "far", .max = most, .price = 1.0 + i});
  }
  AddMoney(chance, options);
}

// Makes schedules in which jobs share many machines. Several kinds of trouble may come at once.
Options Many(uint64_t seed, int nodes) {
  Chance chance(~seed);
  Options options;
  options.jobs.clear();
  if (chance.Happens(0.25)) {
    options.most_slots = 2 + chance.Pick(2);
    nodes = std::max(nodes > 40 ? 41 : 9, nodes * 2 / (1 + options.most_slots));
  }
  options.nodes = nodes;
  options.chaos_seconds = 30;
  options.faults = nodes / 4 + chance.Pick(nodes / 2);
  const int jobs = 1 + chance.Pick(std::max(1, nodes / 12));
  for (int i = 0; i < jobs; ++i) {
    JobOptions job;
    job.name = absl::StrCat("job", i + 1);
    job.priority = 10 * chance.Pick(4);
    job.micro_batches = 8 + chance.Pick(std::min(64, nodes));
    job.steps = 60 + 20 * chance.Pick(6);
    job.sharded = chance.Happens(0.2);
    job.min = 1 + chance.Pick(std::max(1, nodes / (2 * jobs)));
    job.min = std::min(job.min, job.micro_batches);
    job.max = chance.Happens(0.5) ? std::min(job.micro_batches, job.min + chance.Pick(16)) : 0;
    if (i > 0) job.submit_at = chance.Uniform(0.5, 15);
    options.jobs.push_back(job);
  }
  if (chance.Happens(0.3)) options.unheard = 1;
  if (chance.Happens(0.3)) options.store = 1 + chance.Pick(2);
  if (chance.Happens(0.25)) {
    AddPools(chance, &options);
  } else if (chance.Happens(0.1)) {
    options.copies = 1;
    options.from_stores = chance.Happens(0.5);
    options.chaos_seconds = 60;
  }
  return options;
}

// Adds kinds of trouble that any schedule may have.
void AddTroubles(uint64_t seed, Options* options) {
  Chance chance(seed ^ 0x9e3779b97f4a7c15);
  if (chance.Happens(0.25)) options->database = 1 + chance.Pick(3);
  if (chance.Happens(0.25)) options->clocks = 1 + chance.Pick(3);
  if (chance.Happens(0.2)) options->strangers = 1 + chance.Pick(2);
  // The price book gives each price a start time by the wall clock, so that clock must not be set.
  if (options->prices > 0) options->clocks = 0;
  options->renames = chance.Happens(0.3);
  if (chance.Happens(0.1)) {
    options->longest_away = 150;
    options->chaos_seconds = std::max(options->chaos_seconds, 60.0);
  }
  options->gpus = chance.Happens(0.3);
  if (options->gpus) options->nccl = chance.Pick(3);
  if (chance.Happens(0.1)) {
    options->vanishings = 1 + chance.Pick(3);
    options->chaos_seconds = std::max(options->chaos_seconds, 60.0);
  }
  for (JobOptions& job : options->jobs) job.accuses = !chance.Happens(options->vanishings > 0 ? 0.5 : 0.02);
}

}  // namespace

const char* NameOf(Size size) {
  switch (size) {
    case Size::kSmall:
      return "up to 8 nodes";
    case Size::kMiddle:
      return "9 to 40 nodes";
    case Size::kLarge:
      return "41 to 200 nodes";
  }
  return "";
}

Size SizeOf(uint64_t seed) { return kSizes[seed % 3]; }

Options OptionsOf(uint64_t seed) {
  const uint64_t of_size = seed / 3;
  // The number is hashed, because other options depend on its last digits.
  const bool compare = Chance(of_size ^ 0x5851f42d4c957f2d).Pick(kCompareEvery) == 0;
  Chance chance(seed);
  Options options;
  switch (SizeOf(seed)) {
    case Size::kSmall:
      options = Few(of_size);
      break;
    case Size::kMiddle:
      options = Many(of_size, 9 + chance.Pick(32));
      break;
    case Size::kLarge:
      options = Many(of_size, 41 + chance.Pick(compare ? kMostMoreToCompare : 160));
  }
  AddTroubles(of_size, &options);
  if (compare && SizeOf(seed) == Size::kLarge) options.chaos_seconds = 10;
  options.compare = compare;
  return options;
}

}  // namespace rekindle::core::simulation
