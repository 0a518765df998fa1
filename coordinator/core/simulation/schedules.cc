#include "coordinator/core/simulation/schedules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/simulation/queue.h"

namespace rekindle::core::simulation {
namespace {

Options OneJob(uint64_t seed) {
  Options options;
  options.nodes = seed % 8 == 0 ? 1 : 2 + static_cast<int>(seed % 3);
  options.faults = 3 + static_cast<int>(seed / 4 % 8);
  JobOptions& job = options.jobs[0];
  job.micro_batches = 5 + static_cast<int>(seed / 32 % 6);
  job.sharded = seed % 3 == 0;
  return options;
}

// Long enough for nodes that are not heard of to be given up.
void AddUnheard(uint64_t seed, Options* options) {
  options->unheard = 1 + static_cast<int>(seed / 5 % 2);
  options->jobs[0].steps = 400;
  options->chaos_seconds = 60;
}

// Something is wrong with the store, and some of the trainers die.
void AddStore(uint64_t seed, Options* options) {
  options->store = 1 + static_cast<int>(seed / 5 % 4);
  options->jobs[0].steps = 80;
  options->chaos_seconds = 25;
}

// The records are brought back from a copy when others have joined and left.
void AddCopies(uint64_t seed, Options* options) {
  options->copies = 1 + static_cast<int>(seed / 10 % 2);
  options->from_stores = seed / 20 % 2 == 1;
  options->jobs[0].steps = 400;
  options->chaos_seconds = 60;
}

// They share machines that are there, or machines of pools that take orders, or both; each fits by itself.
Options ManyJobs(uint64_t seed) {
  Chance chance(~seed);
  Options options;
  options.jobs.clear();
  options.chaos_seconds = 45;
  options.faults = 2 + chance.Pick(7);
  const int pools = chance.Pick(3);
  options.nodes = pools == 0 ? 2 + chance.Pick(3) : chance.Pick(2);
  for (int i = 0; i < pools; ++i) {
    options.pools.push_back({.name = i == 0 ? "near" : "far", .max = 2 + chance.Pick(2), .price = 1.0 + i});
  }
  const int largest = pools > 0 ? 2 : std::min(3, options.nodes);  // A gang comes together in one pool.
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
  return options;
}

}  // namespace

Options OptionsOf(uint64_t seed) {
  if (seed % 10 == 8) return ManyJobs(seed);
  Options options = OneJob(seed);
  if (seed % 5 == 2) AddUnheard(seed, &options);
  if (seed % 10 == 3) AddCopies(seed, &options);
  if (seed % 5 == 4) AddStore(seed, &options);
  return options;
}

}  // namespace rekindle::core::simulation
