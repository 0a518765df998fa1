#include "worker/own_model/child/model_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/files/file.h"
#include "common/log/log.h"
#include "common/text/printable.h"
#include "common/time/clock.h"

namespace rekindle::own_model {
namespace {

constexpr double kLookSeconds = 0.1;
constexpr int kMilli = 1000;
constexpr size_t kMaxFaultBytes = 64 << 10;
constexpr size_t kLongestLine = 500;

std::string ConfigurationOf(const ModelProcessOptions& options) {
  return nlohmann::json{{"protocol", kProtocol},
                        {"task", options.task},
                        {"folder", options.folder},
                        {"seed", options.seed},
                        {"precision", options.precision},
                        {"device", "cpu"},
                        {"threads", options.threads},
                        {"exact", options.exact},
                        {"data_workers", options.data_workers},
                        {"prefetch", true}}
      .dump();
}

// Returns the fields of /proc/PID/stat that follow on the name, which may contain spaces.
std::vector<std::string> StatFields(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string stat;
  std::getline(file, stat);
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return {};
  return absl::StrSplit(stat.substr(end + 1), ' ', absl::SkipEmpty());
}

// Returns the newest line of a dump of faulthandler that is in a file below `folder`, such as
// `File "/job/train.py", line 12 in forward`, or an empty string.
std::string LineIn(const std::string& dump, const std::string& folder) {
  const std::string begin = absl::StrCat("File \"", folder);
  const size_t at = dump.find(begin);
  return at == std::string::npos ? "" : common::Printable(dump.substr(at, dump.find('\n', at) - at), kLongestLine);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelProcess>> ModelProcess::Start(const ModelProcessOptions& options,
                                                                  const std::function<bool()>& go_on,
                                                                  const std::function<void(const std::string&)>& note) {
  auto made = Channel::Create();
  if (!made.ok()) return made.status();
  auto& [channel, theirs] = *made;
  // A file that an earlier process has left must not be taken for this one's.
  unlink(options.faults_file.c_str());
  common::SpawnOptions spawn;
  spawn.argv = {options.interpreter, "-u", "-m", "rekindle.child", "--fd", "0", "--faults", options.faults_file};
  spawn.environment = options.environment;
  spawn.input_fd = theirs.get();
  spawn.parent_death_signal = SIGKILL;
  absl::StatusOr<common::PendingChild> child = common::PendingChild::Start(spawn);
  if (!child.ok()) return child.status();
  absl::StatusOr<common::Process> process = common::Process::Open(child->identity());
  if (!process.ok()) return process.status();
  child->Release();
  theirs.Reset();
  std::unique_ptr<ModelProcess> started(new ModelProcess(*std::move(process), std::move(channel), options));
  absl::Status ready = started->channel_.SendJson(MessageType::kConfigure, ConfigurationOf(options));
  if (ready.ok()) ready = started->AwaitReady(options, go_on, note);
  if (absl::IsUnavailable(ready)) {
    return absl::UnavailableError(
        absl::StrCat("the model process of ", options.task, " ended: ", started->End(kClosedSeconds)));
  }
  if (!ready.ok()) return ready;
  return started;
}

absl::Status ModelProcess::AwaitReady(const ModelProcessOptions& options, const std::function<bool()>& go_on,
                                      const std::function<void(const std::string&)>& note) {
  const double begun = common::SteadySeconds();
  while (!go_on || go_on()) {
    if (common::SteadySeconds() - begun > options.start_seconds) {
      return absl::DeadlineExceededError(absl::StrCat("the model process has not described the module of ",
                                                      options.task, " after ", options.start_seconds, " s"));
    }
    // A process that this one has started may hold the socket open after its end, and what it has sent before is read
    // first.
    const bool has_ended = HasEnded();
    const absl::StatusOr<std::optional<Message>> message = channel_.Receive(has_ended ? 0 : kLookSeconds);
    if (!message.ok()) return message.status();
    if (!message->has_value()) {
      if (has_ended) return absl::UnavailableError("the model process has ended");
      continue;
    }
    const std::string text = (*message)->text();
    if ((*message)->type == MessageType::kNote) {
      const auto parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
      const bool has_text = parsed.is_object() && parsed.contains("text") && parsed["text"].is_string();
      if (has_text && note) note(common::Printable(parsed["text"].get<std::string>()));
    } else if ((*message)->type == MessageType::kFailed) {
      const absl::StatusOr<Failed> failed = DecodeFailed(text);
      if (!failed.ok()) return failed.status();
      return absl::InvalidArgumentError(
          absl::StrCat(failed->message, failed->traceback.empty() ? "" : "\n", failed->traceback));
    } else if ((*message)->type == MessageType::kReady) {
      absl::StatusOr<Description> description = ParseDescription(text);
      if (!description.ok()) return description.status();
      description_ = *std::move(description);
      return absl::OkStatus();
    } else {
      return absl::InvalidArgumentError("the model process sent another message before it described the module");
    }
  }
  return absl::CancelledError("the start of the model process was cancelled");
}

ModelProcess::~ModelProcess() { (void)End(); }

ProcessView ModelProcess::View() const {
  // The fields are those of proc(5), from the third one on: the state, and as 14th and 15th the times in ticks.
  constexpr size_t kState = 0, kUserTime = 11, kSystemTime = 12;
  const std::vector<std::string> fields = StatFields(process_.identity().pid);
  int64_t user = 0, system = 0;
  if (fields.size() <= kSystemTime || !absl::SimpleAtoi(fields[kUserTime], &user) ||
      !absl::SimpleAtoi(fields[kSystemTime], &system)) {
    return {};
  }
  static const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {.is_stopped = fields[kState] == "T" || fields[kState] == "t",
          .cpu_seconds = static_cast<double>(user + system) / ticks};
}

std::string ModelProcess::End(double patience) {
  if (!ended_.empty()) return ended_;
  pollfd entry = {.fd = process_.fd(), .events = POLLIN};
  (void)poll(&entry, 1, static_cast<int>(patience * kMilli));
  const bool by_itself = process_.Exited();
  (void)process_.Signal(SIGKILL);
  while (poll(&entry, 1, -1) < 0 && errno == EINTR) continue;
  const absl::StatusOr<common::ExitStatus> exit = process_.Reap();
  ended_ = exit.ok() ? exit->ToString() : "it is gone";
  if (!by_itself) return ended_ = absl::StrCat("stopped, ", ended_);
  const auto dump = common::ReadFile(*common::PosixFileSystem(), options_.faults_file, kMaxFaultBytes);
  const std::string line = dump.ok() ? LineIn(*dump, options_.folder) : "";
  if (line.empty()) return ended_;
  absl::StrAppend(&ended_, ", at ", line);
  if (exit.ok() && exit->code == -SIGSEGV) {
    absl::StrAppend(&ended_,
                    ": a module must not write its parameters in forward, as the weights are read only "
                    "there; register a buffer for what changes");
  }
  return ended_;
}

}  // namespace rekindle::own_model
