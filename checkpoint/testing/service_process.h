// Runs a real rekindle-checkpoint process with folders of its own for tests. Helps tests to save through it as a
// trainer.
#ifndef REKINDLE_CHECKPOINT_TESTING_SERVICE_PROCESS_H_
#define REKINDLE_CHECKPOINT_TESTING_SERVICE_PROCESS_H_

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "checkpoint/client/client.h"
#include "checkpoint/testing/testing.h"
#include "common/process/process.h"
#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"

namespace rekindle::checkpoint {

class ServiceProcess {
 public:
  explicit ServiceProcess(std::string memory_limit = "64MiB", std::vector<std::string> flags = {})
      : memory_limit_(std::move(memory_limit)), flags_(std::move(flags)) {}
  ~ServiceProcess() { Kill(SIGKILL); }

  // Starts the service. It need not answer yet on return, because each client waits for it up to a time limit of its
  // own.
  void Start() {
    std::vector<std::string> argv = {REKINDLE_CHECKPOINT_BINARY, "--dir",      dir_ + "/node", "--shm-dir", shm_,
                                     "--memory-limit",           memory_limit_};
    argv.insert(argv.end(), flags_.begin(), flags_.end());
    auto child = common::PendingChild::Start(
        {.argv = argv,
         .environment = {"REKINDLE_LOG_LEVEL=error", "HOME=" + dir_ + "/home", "XDG_RUNTIME_DIR=" + dir_ + "/run"},
         .parent_death_signal = SIGKILL});
    pid_ = child->identity().pid;
    child->Release();
  }
  void Signal(int signal) const { ::kill(pid_, signal); }
  // Sends `signal` to the service, and returns its exit code, or the signal that killed it as a negative number.
  int Kill(int signal) {
    if (pid_ == 0) return 0;
    ::kill(pid_, signal);
    return Wait();
  }
  int Wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::unique_ptr<CheckpointClient> Client(const std::string& trainer = "node-a/0", const std::string& store = "",
                                           double patience = 10) const {
    return CheckpointClient::Create({.socket = socket(),
                                     .store = store.empty() ? this->store() : store,
                                     .job_uid = "job-1",
                                     .trainer = trainer,
                                     .patience_seconds = patience,
                                     .allow_nonfinite = true})
        .value();
  }
  std::vector<std::string> Segments() const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(shm_)) paths.push_back(entry.path());
    return paths;
  }
  std::string dir() const { return dir_; }
  std::string shm() const { return shm_; }
  std::string socket() const { return dir_ + "/node/checkpoint.sock"; }
  // Opens the service's store directly, without the service.
  Store OpenStore() const { return Store(*common::PosixFileSystem(), dir_ + "/store"); }
  std::string store() const { return "file://" + dir_ + "/store"; }

 private:
  common::TemporaryFolder folder_;
  common::TemporaryFolder memory_{"/dev/shm"};
  const std::string dir_ = folder_.path();
  const std::string shm_ = memory_.path();
  const std::string memory_limit_;
  const std::vector<std::string> flags_;
  pid_t pid_ = 0;
};

// Polls until `done` returns true, because the checkpoint service has no event on which a test could wait. Returns
// false after 30 s.
template <typename Done>
bool Eventually(Done done) {
  const double until = common::SteadySeconds() + 30;
  while (!done()) {
    if (common::SteadySeconds() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

// A state of `kServiceTotal` elements has at least two shards for each of two ranks.
inline constexpr int64_t kServiceTotal = 5 * kBlockElements + 77;

inline Manifest ManifestOf(int generation, int step, std::vector<ShardRef> refs) {
  std::sort(refs.begin(), refs.end(),
            [](const auto& a, const auto& b) { return std::pair(a.index, a.plane) < std::pair(b.index, b.plane); });
  return {.generation = generation, .step = step, .shards = std::move(refs), .scalars = R"({"cursor":128})"};
}

// Saves a checkpoint as one trainer that writes all shards.
inline absl::StatusOr<std::string> SaveAll(CheckpointClient& client, int generation, int step, const TestState& state,
                                           int keep_last = 0, const JobFile& job_file = {}) {
  auto staged = client.Stage({generation, step, kServiceTotal}, CutShards(kServiceTotal, 1));
  if (!staged.ok()) return staged.status();
  absl::Status status = (*staged)->Copy(state.view());
  if (status.ok()) status = (*staged)->Commit();
  if (!status.ok()) return status;
  return client.WriteManifest(ManifestOf(generation, step, (*staged)->refs()), job_file, {.keep_last = keep_last}, 0);
}

// A `ServiceTest` runs with a service process of its own.
class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override { service_.Start(); }

  ServiceProcess service_;
  const TestState state_ = TestState::Random(kServiceTotal, 1);
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_SERVICE_PROCESS_H_
