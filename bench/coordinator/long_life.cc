// Measures the coordinator's core and its database after a year of machines that live for an hour. It measures memory,
// disk, and the time for an event, once after a tenth of the run and once at its end.
//
//   rekindle-bench-long-life --nodes N --days D --jobs-a-year J --keep-jobs K --seed S --folder FOLDER
//
// The bench runs in virtual time with a minute for each step. The folder gets a real state.db. The output is one line
// of JSON.
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/coordinator/long_life_world.h"
#include "coordinator/store/sqlite_store.h"

namespace rekindle::core::long_life {
namespace {

double RssBytes() {
  // malloc_trim gives memory that the program has freed back to the system, so that it does not count as resident.
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

nlohmann::json Measure(const World& world, const std::string& folder) {
  double bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) bytes += static_cast<double>(file.file_size());
  return {{"rss_bytes", RssBytes()},
          {"database_bytes", bytes},
          {"events", world.events()},
          {"event_us", world.event_microseconds()},
          {"nodes_known", world.nodes_known()},
          {"jobs_known", world.jobs_known()}};
}

absl::StatusOr<nlohmann::json> Play(const Options& options) {
  auto store = coordinator::SqliteStore::Open(options.folder + "/state.db");
  if (!store.ok()) return store.status();
  World world(options, store->get());
  if (absl::Status started = world.Start(); !started.ok()) return started;
  const auto steps = static_cast<int64_t>(options.days * kDay / kMinute), tenth = steps / 10;
  nlohmann::json out = {{"days", options.days}};
  for (int64_t step = 1; step <= steps; ++step) {
    if (step == tenth / 2 || step == steps - tenth / 2) world.BeginWindow();
    if (absl::Status stepped = world.Step(); !stepped.ok()) return stepped;
    if (step == tenth) out["first"] = Measure(world, options.folder);
  }
  out["last"] = Measure(world, options.folder);
  out["counts"] = world.Counts();
  return out;
}

}  // namespace
}  // namespace rekindle::core::long_life

int main(int argc, char** argv) {
  rekindle::core::long_life::Options options;
  CLI::App app("What a coordinator comes to after a long life.");
  app.add_option("--nodes", options.nodes)->check(CLI::PositiveNumber);
  app.add_option("--days", options.days)->check(CLI::PositiveNumber);
  app.add_option("--jobs-a-year", options.jobs_a_year)->check(CLI::PositiveNumber);
  app.add_option("--keep-jobs", options.keep_jobs)->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed);
  app.add_option("--folder", options.folder)->required();
  CLI11_PARSE(app, argc, argv);
  const auto out = rekindle::core::long_life::Play(options);
  if (!out.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(out.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", out->dump().c_str());
  return 0;
}
