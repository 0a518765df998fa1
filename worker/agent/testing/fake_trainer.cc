// Acts as a trainer for the agent's tests, with the same command line but without training. It attaches to the agent
// again and again, prints what it hears, and behaves as the job's name says. "steady" runs on, "stubborn" ignores
// SIGTERM, "finishes" ends with exit code 0, and "crashes" with exit code 3. "gpu-lost" and "context-lost" leave last
// words and the exit code of their name. "out-of-memory", "aborts" and "exits-later" (code 9) end when they are sent
// SIGUSR1. All hold their life lock, except "old". "cuts-off" also empties the file of its lock. "strays" leaves a
// process of another user behind, says when that is gone, and runs on.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "common/agreed/exit_codes.h"
#include "common/process/last_words.h"
#include "common/process/life_lock.h"
#include "common/process/process.h"
#include "common/rpc/rpc.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/node_local.grpc.pb.h"

namespace rekindle {
namespace {

constexpr auto kAttachPeriod = std::chrono::milliseconds(50);
// Tests use an id that no node uses.
constexpr uid_t kStrayUid = 4'199'996'000;

// Leaves a process of another user behind, and waits until whoever takes it in has taken note of its end.
bool LeaveStray() {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t between = fork();
  if (between == 0) {
    const pid_t stray = fork();
    if (stray == 0) _exit(setresuid(kStrayUid, kStrayUid, kStrayUid) == 0 ? 0 : 1);
    _exit(write(ends[1], &stray, sizeof stray) == sizeof stray ? 0 : 1);
  }
  pid_t stray = 0;
  const bool is_told = between > 0 && waitpid(between, nullptr, 0) == between &&
                       read(ends[0], &stray, sizeof stray) == sizeof stray && stray > 0;
  while (is_told && (kill(stray, 0) == 0 || errno != ESRCH)) std::this_thread::sleep_for(kAttachPeriod);
  return is_told;
}

int Run(const std::map<std::string, std::string>& flags) {
  std::ifstream file(flags.at("--job-file"));
  std::ostringstream content;
  content << file.rdbuf();
  v1::DesiredTrainer desired;
  if (!desired.ParseFromString(content.str())) return 4;
  std::printf("job %s slot %d\n", desired.job_name().c_str(), desired.slot());
  std::fflush(stdout);
  if (desired.job_name() == "finishes") return 0;
  if (desired.job_name() == "crashes") return 3;
  if (desired.job_name() == "out-of-memory") return common::kExitOutOfMemory;
  if (desired.job_name() == "gpu-lost" || desired.job_name() == "context-lost") {
    const std::string path = common::LastWordsPath(flags.at("--dir"), flags.at("--trainer"));
    if (!common::WriteLastWords(path, "an error of the driver").ok()) return 8;
    return desired.job_name() == "gpu-lost" ? common::kExitDeviceGone : common::kExitContextLost;
  }
  if (desired.job_name() != "old") {
    const std::string lock = common::LifeLockPath(flags.at("--dir"), flags.at("--trainer"));
    if (!common::HoldLifeLock(lock).ok()) return 6;
    if (desired.job_name() == "cuts-off" && truncate(lock.c_str(), 0) != 0) return 7;
  }
  if (desired.job_name() == "aborts") std::signal(SIGUSR1, [](int) { std::abort(); });
  if (desired.job_name() == "exits-later") std::signal(SIGUSR1, [](int) { _exit(9); });
  if (desired.job_name() == "strays") {
    if (!LeaveStray()) return 10;
    std::printf("the stray is gone\n");
    std::fflush(stdout);
  }
  std::signal(SIGTERM, desired.job_name() == "stubborn" ? SIG_IGN : SIG_DFL);

  const auto channel = common::Connect("unix:" + flags.at("--dir") + "/agent.sock", {.security = {}});
  if (!channel.ok()) return 5;
  const auto stub = v1::NodeLocal::NewStub(*channel);
  const common::ProcessIdentity self = *common::Identify(getpid());
  v1::AttachRequest request;
  request.set_trainer(flags.at("--trainer"));
  request.set_job_uid(desired.job_uid());
  request.set_job_secret(desired.job_secret());
  request.set_pid(self.pid);
  request.set_start_time_ticks(static_cast<double>(self.start_time_ticks));
  bool attached = false;
  for (double steps = 1;; ++steps) {
    request.mutable_metrics()->set_rank(desired.slot());
    request.mutable_metrics()->set_steps(steps);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    v1::AttachReply reply;
    const bool ok = stub->Attach(&context, request, &reply).ok();
    if (ok != attached) {
      std::printf("%s\n", ok ? "attached" : "agent away");
      std::fflush(stdout);
    }
    attached = ok;
    if (ok && reply.stop() && desired.job_name() != "stubborn") return 0;
    std::this_thread::sleep_for(kAttachPeriod);
  }
}

}  // namespace
}  // namespace rekindle

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = argv[i + 1];
  return rekindle::Run(flags);
}
