#include "worker/agent/user_code/code_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/files/unique_fd.h"
#include "common/log/log.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/folder/trainer_record.h"
#include "worker/agent/user_code/warm_record.h"
#include "worker/user_code/confinement.h"

namespace rekindle::agent {
namespace {

constexpr int kAgent = 3;
constexpr int kLookMilliseconds = 250;
constexpr int kWrongUse = 2;

// Returns the uids of the jobs of which a trainer runs on the node.
std::set<std::string> JobsWithTrainers(const std::string& dir) {
  std::set<std::string> jobs;
  for (const std::string& name : ListFolder(dir + "/trainers")) {
    const absl::StatusOr<TrainerRecord> record = ReadTrainerRecord(absl::StrCat(dir, "/trainers/", name));
    if (record.ok() && record->boot_id == common::BootId() && record->process.Alive()) jobs.insert(record->job_uid);
  }
  return jobs;
}

}  // namespace

absl::StatusOr<common::Process> StartCodeWatch(const std::string& program, const std::string& dir) {
  const common::UniqueFd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!self.valid()) return common::ErrnoError("pidfd_open");
  // It may outlive whoever reads the agent's output.
  const common::UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing.valid()) return common::ErrnoError("open /dev/null");
  common::SpawnOptions spawn;
  spawn.argv = {program, kWatchCodeCommand, "--dir", dir};
  spawn.input_fd = nothing.get();
  spawn.output_fd = nothing.get();
  spawn.new_session = true;
  spawn.kept_fds = {self.get()};
  absl::StatusOr<common::PendingChild> child = common::PendingChild::Start(spawn);
  if (!child.ok()) return child.status();
  absl::StatusOr<common::Process> process = common::Process::Open(child->identity());
  if (process.ok()) child->Release();
  return process;
}

int RunCodeWatch(const std::vector<std::string>& arguments) {
  if (arguments.size() != 2 || arguments[0] != "--dir") {
    std::fputs("rekindle-worker watch-code --dir DIR: an agent starts it\n", stderr);
    return kWrongUse;
  }
  pollfd agent = {.fd = kAgent, .events = POLLIN};
  while (poll(&agent, 1, -1) < 0) continue;
  while (EndCodeWithoutTrainers(arguments[1])) poll(nullptr, 0, kLookMilliseconds);
  return 0;
}

bool EndCodeWithoutTrainers(const std::string& dir) {
  // While this process has the lock, no agent can start a trainer. An agent waits for the lock for longer than this
  // function takes.
  const common::UniqueFd lock(open(absl::StrCat(dir, "/agent.lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!lock.valid() || flock(lock.get(), LOCK_SH | LOCK_NB) != 0) return false;
  const std::set<std::string> running = JobsWithTrainers(dir);
  bool is_left = false;
  for (const std::string& name : ListFolder(dir + "/warm")) {
    if (!absl::EndsWith(name, ".json")) continue;
    const absl::StatusOr<WarmRecord> record = ReadWarmRecord(absl::StrCat(dir, "/warm/", name));
    const bool has_uid = record.ok() && record->boot_id == common::BootId() && record->uid != 0 &&
                         record->isolation != user_code::Isolation::kNone;
    if (!has_uid) continue;
    const bool is_wanted = running.contains(record->job_uid);
    const absl::Status ended = is_wanted ? absl::OkStatus() : user_code::KillAll(record->uid);
    if (!ended.ok()) log::Error("cannot end the code of a job", {{"why", std::string(ended.message())}});
    is_left = is_left || is_wanted || !ended.ok();
  }
  return is_left;
}

}  // namespace rekindle::agent
