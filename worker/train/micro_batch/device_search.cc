#include "worker/train/micro_batch/device_search.h"
#include "common/agreed/agreed_limits.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/agreed/exit_codes.h"
#include "common/files/file.h"
#include "common/log/log.h"
#include "common/memory/memory_limit.h"
#include "common/process/process.h"
#include "common/time/clock.h"
#include "worker/train/micro_batch/trial.h"

namespace rekindle::train {
namespace {

// `kPollMs` is the time between two checks whether the search is cancelled.
constexpr int kPollMs = 100;
constexpr size_t kMaxResultBytes = 64 << 10;

absl::StatusOr<double> UsableBytes(const DeviceSearchOptions& options) {
  if (options.device_bytes > 0) return options.device_bytes * (1 - common::kSearchHeadRoom);
  const double share = options.memory_bytes;
  const absl::StatusOr<common::Memory> memory = common::ReadMemory();
  if (!memory.ok()) return memory.status();
  return (share > 0 ? std::min(share, memory->available) : memory->available) * (1 - common::kSearchHeadRoom);
}

absl::StatusOr<common::Process> Start(const DeviceSearchOptions& options, int size, double bytes) {
  common::SpawnOptions spawn;
  spawn.argv = options.command;
  for (const std::string& word : {std::string("--try-micro-batch"), std::to_string(size), std::string("--memory"),
                                  absl::StrCat(static_cast<int64_t>(bytes)), std::string("--result")}) {
    spawn.argv.push_back(word);
  }
  spawn.argv.push_back(options.result_file);
  for (char** entry = environ; *entry != nullptr; ++entry) spawn.environment.push_back(*entry);
  spawn.parent_death_signal = SIGKILL;
  absl::StatusOr<common::PendingChild> child = common::PendingChild::Start(spawn);
  if (!child.ok()) return child.status();
  absl::StatusOr<common::Process> process = common::Process::Open(child->identity());
  if (process.ok()) child->Release();
  return process;
}

// Waits for the end of a trial. Returns why its process ended early, or an empty text if it ended by itself.
absl::StatusOr<std::string> Await(const DeviceSearchOptions& options, const common::Process& process) {
  const double until = common::SteadySeconds() + options.longest_seconds;
  const auto kill = [&] {
    (void)process.Signal(SIGKILL);
    pollfd ended = {.fd = process.fd(), .events = POLLIN};
    poll(&ended, 1, -1);
    (void)process.Reap();
  };
  while (!process.Exited()) {
    if (options.cancelled && options.cancelled()) {
      kill();
      return absl::CancelledError("the search for a micro-batch was cancelled");
    }
    if (common::SteadySeconds() > until) {
      kill();
      return absl::StrCat("took over ", options.longest_seconds, " s");
    }
    pollfd ended = {.fd = process.fd(), .events = POLLIN};
    poll(&ended, 1, kPollMs);
  }
  const absl::StatusOr<common::ExitStatus> exit = process.Reap();
  if (!exit.ok()) return exit.status();
  const bool device_failed = exit->code == common::kExitDeviceGone || exit->code == common::kExitContextLost;
  if (device_failed && options.device_failed) options.device_failed(exit->code);
  if (exit->code == common::kExitOutOfMemory) return std::string("ended for want of memory");
  return exit->code < 0 ? exit->ToString() : "";
}

absl::StatusOr<MicroBatchTrial> Try(const DeviceSearchOptions& options, int size, double bytes) {
  std::error_code ignored;
  std::filesystem::remove(options.result_file, ignored);
  const absl::StatusOr<common::Process> process = Start(options, size, bytes);
  if (!process.ok()) return process.status();
  absl::StatusOr<std::string> killed = Await(options, *process);
  if (!killed.ok()) return killed.status();
  // A process that is killed while it tries a micro-batch size has most likely used too much memory.
  if (!killed->empty()) return MicroBatchTrial{.refused = *std::move(killed)};
  const auto result = common::ReadFile(*common::PosixFileSystem(), options.result_file, kMaxResultBytes);
  return TrialFromJson(result.ok() ? *result : "");
}

}  // namespace

absl::StatusOr<MicroBatchChoice> SearchMicroBatchOnDevice(const DeviceSearchOptions& options) {
  const absl::StatusOr<double> bytes = UsableBytes(options);
  if (!bytes.ok()) return bytes.status();
  const int at_most = options.at_most > 0 ? options.at_most : options.global_batch;
  log::Info("looks for the micro-batch size", {{"at_most", at_most}, {"memory", common::BytesText(*bytes)}});
  auto choice = SearchMicroBatch({options.global_batch, at_most, *bytes}, [&](int size) {
    auto trial = Try(options, size, *bytes);
    if (trial.ok()) {
      log::Info("tried a micro-batch size", {{"micro_batch", size},
                                             {"memory", common::BytesText(trial->bytes)},
                                             {"seconds", trial->seconds},
                                             {"refused", trial->refused}});
    }
    return trial;
  });
  std::error_code ignored;
  std::filesystem::remove(options.result_file, ignored);
  return choice;
}

}  // namespace rekindle::train
