// Measures the coordinator's core and its database after a year of machines that live for an hour. It measures memory
// and disk after a tenth of the run and at its end, and the time for an event in one of two windows, each of which
// lasts for half a tenth of the run.
//
//   rekindle-bench-long-life --window first|last --nodes N --days D --jobs-a-year J --keep-jobs K --seed S
//     --folder FOLDER
//
// The first window begins after a tenth of the run, which then ends, and the last window ends the run. In the window
// the program plays a turn for each line of its input, and answers with a line. So two programs can play both windows
// by turns, and whatever slows the machine down meets both.
//
// The bench runs in virtual time with a minute for each step. The folder gets a real state.db. The last line of the
// output is JSON.
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/coordinator/long_life_world.h"
#include "coordinator/store/sqlite_store.h"

namespace rekindle::core::long_life {
namespace {

constexpr char kFirst[] = "first", kLast[] = "last";
// A turn of so many minutes takes about 0.1 s.
constexpr int64_t kStepsATurn = 60;

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

// Says that the turn before is over, and waits for a line of the input. Returns false at the end of the input.
bool AwaitTurn() {
  std::puts("turn");
  std::fflush(stdout);
  std::string line;
  return static_cast<bool>(std::getline(std::cin, line));
}

absl::StatusOr<nlohmann::json> Play(const Options& options, const std::string& window) {
  auto store = coordinator::SqliteStore::Open(options.folder + "/state.db");
  if (!store.ok()) return store.status();
  World world(options, store->get());
  if (absl::Status started = world.Start(); !started.ok()) return started;
  const auto steps = static_cast<int64_t>(options.days * kDay / kMinute), tenth = steps / 10;
  const int64_t begin = window == kFirst ? tenth : steps - tenth / 2, end = begin + tenth / 2;
  nlohmann::json out = {{"days", options.days}};
  for (int64_t step = 1; step <= end; ++step) {
    if (step == begin + 1) world.BeginWindow();
    const bool is_turn = step > begin && (step - begin - 1) % kStepsATurn == 0;
    if (is_turn && !AwaitTurn()) return absl::CancelledError("nobody wants the next turn any more");
    if (absl::Status stepped = world.Step(); !stepped.ok()) return stepped;
    if (step == tenth) out["tenth"] = Measure(world, options.folder);
  }
  out["end"] = Measure(world, options.folder);
  out["counts"] = world.Counts();
  return out;
}

}  // namespace
}  // namespace rekindle::core::long_life

int main(int argc, char** argv) {
  rekindle::core::long_life::Options options;
  std::string window = rekindle::core::long_life::kLast;
  CLI::App app("What a coordinator comes to after a long life.");
  app.add_option("--window", window)
      ->check(CLI::IsMember({rekindle::core::long_life::kFirst, rekindle::core::long_life::kLast}));
  app.add_option("--nodes", options.nodes)->check(CLI::PositiveNumber);
  app.add_option("--days", options.days)->check(CLI::PositiveNumber);
  app.add_option("--jobs-a-year", options.jobs_a_year)->check(CLI::PositiveNumber);
  app.add_option("--keep-jobs", options.keep_jobs)->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed);
  app.add_option("--folder", options.folder)->required();
  CLI11_PARSE(app, argc, argv);
  const auto out = rekindle::core::long_life::Play(options, window);
  if (!out.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(out.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", out->dump().c_str());
  return 0;
}
