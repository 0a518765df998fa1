#include "worker/own_model/child/model_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
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
#include "worker/contract/user_lines.h"

namespace rekindle::own_model {
namespace {

constexpr double kLookSeconds = 0.1;
constexpr double kNoteSeconds = 1;
constexpr int kMilli = 1000;
constexpr size_t kMaxFaultBytes = 64 << 10;
constexpr size_t kLongestLine = 500;

std::string ConfigurationOf(const ModelProcessOptions& options) {
  using nlohmann::json;
  return json{{"protocol", kProtocol},
              {"task", options.task},
              {"folder", options.folder},
              {"seed", options.seed},
              {"precision", options.precision},
              {"device", "cpu"},
              {"threads", options.threads},
              {"exact", options.exact},
              {"data_workers", options.data_workers > 0 ? json(options.data_workers) : json()},
              {"prefetch", true},
              {"nice", options.nice}}
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

// Returns how many ticks of the processor a process has used, and those that it has started, and so on. A process that
// compiles waits for a compiler. At most `left` processes are looked at.
int64_t TicksOf(pid_t pid, int& left) {
  // The fields are those of proc(5), from the third one on. The 14th and 15th are the process's own times, and the next
  // two those of children that it has waited for.
  constexpr size_t kFirst = 11, kLast = 14;
  const std::vector<std::string> fields = StatFields(pid);
  if (fields.size() <= kLast || --left < 0) return 0;
  int64_t sum = 0;
  for (size_t f = kFirst; f <= kLast; ++f) {
    int64_t ticks = 0;
    if (absl::SimpleAtoi(fields[f], &ticks)) sum += ticks;
  }
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(absl::StrCat("/proc/", pid, "/task"), gone)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) sum += TicksOf(child, left);
  }
  return sum;
}

// Returns the newest line of a dump of faulthandler that is in a file below `folder`, such as
// `File "/job/train.py", line 12 in forward`, or an empty string.
std::string LineIn(const std::string& dump, const std::string& folder) {
  const std::string begin = absl::StrCat("File \"", folder);
  const size_t at = dump.find(begin);
  return at == std::string::npos ? "" : common::Printable(dump.substr(at, dump.find('\n', at) - at), kLongestLine);
}

// Makes the file for faults, to which the process can write.
absl::Status MakeFaultsFile(const ModelProcessOptions& options) {
  // A file that an earlier process has left must not be taken for this one's.
  unlink(options.faults_file.c_str());
  const common::UniqueFd file(
      open(options.faults_file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return common::ErrnoError(absl::StrCat("make ", options.faults_file));
  if (options.confinement == nullptr) return absl::OkStatus();
  const uid_t uid = options.confinement->uid();
  if (fchown(file.get(), uid, uid) == 0) return absl::OkStatus();
  return common::ErrnoError(absl::StrCat("give away ", options.faults_file));
}

// Passes on what a process says that it does: each time the newest of it, and only now and then. The process may say
// something without end, and it goes into a log and to the coordinator.
class Notes {
 public:
  explicit Notes(const std::function<void(const std::string&)>& note) : note_(note) {}
  void Take(std::string text) { newest_ = std::move(text); }
  void Pass(double now) {
    if (!note_ || newest_.empty() || now < next_) return;
    next_ = now + kNoteSeconds;
    note_(std::exchange(newest_, ""));
  }

 private:
  const std::function<void(const std::string&)>& note_;
  std::string newest_;
  double next_ = 0;
};

// Waits at most `seconds` for the end of a process, and returns whether it has ended.
bool AwaitEnd(const common::Process& process, double seconds) {
  const double until = common::SteadySeconds() + seconds;
  for (;;) {
    const double left = std::max(0.0, until - common::SteadySeconds());
    pollfd entry = {.fd = process.fd(), .events = POLLIN};
    const int ready = poll(&entry, 1, static_cast<int>(std::ceil(left * kMilli)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelProcess>> ModelProcess::Start(const ModelProcessOptions& options,
                                                                  const std::function<bool()>& go_on,
                                                                  const std::function<void(const std::string&)>& note) {
  auto made = Channel::Create();
  if (!made.ok()) return made.status();
  auto& [channel, theirs] = *made;
  if (absl::Status made_file = MakeFaultsFile(options); !made_file.ok()) return made_file;
  const std::optional<uid_t> uid =
      options.confinement == nullptr ? std::nullopt : std::optional<uid_t>(options.confinement->uid());
  auto pump = user_code::OutputPump::Start(STDERR_FILENO, options.scrubber, uid);
  if (!pump.ok()) return pump.status();
  bool is_fork = false;
  absl::StatusOr<common::Process> process =
      StartProcess(options, theirs.get(), (*pump)->write_end(), go_on, note, &is_fork);
  if (!process.ok()) {
    unlink(options.faults_file.c_str());
    return process.status();
  }
  (*pump)->CloseWriteEnd();
  theirs.Reset();
  std::unique_ptr<ModelProcess> started(new ModelProcess(*std::move(process), std::move(channel), options));
  started->pump_ = *std::move(pump);
  started->is_fork_ = is_fork;
  absl::Status ready = started->channel_.SendJson(MessageType::kConfigure, ConfigurationOf(options));
  if (ready.ok()) ready = started->AwaitReady(options, go_on, note);
  if (absl::IsUnavailable(ready)) {
    const std::string how = started->End(started->View().is_stopped ? 0 : kClosedSeconds);
    return absl::UnavailableError(
        absl::StrCat(ready.message(), " before it described the module of ", options.task, " (", how, ")"));
  }
  if (!ready.ok()) return ready;
  // From here on the file has no name, so that a trainer that is killed leaves nothing behind.
  started->faults_ = common::UniqueFd(open(options.faults_file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  unlink(options.faults_file.c_str());
  return started;
}

absl::StatusOr<common::Process> ModelProcess::StartProcess(const ModelProcessOptions& options, int model, int log,
                                                           const std::function<bool()>& go_on,
                                                           const std::function<void(const std::string&)>& note,
                                                           bool* is_fork) {
  *is_fork = false;
  if (options.warm != nullptr) {
    absl::StatusOr<common::Process> forked =
        options.warm->Fork(model, log, options.faults_file, options.start_seconds, go_on);
    *is_fork = forked.ok();
    if (forked.ok() || absl::IsCancelled(forked.status())) return forked;
    const std::string why(forked.status().message());
    const std::string text = options.scrubber == nullptr ? why : options.scrubber->Scrub(why);
    log::Warning("the model process starts cold, with its imports", {{"task", options.task}, {"why", text}});
    if (note) note(absl::StrCat("starts cold: ", text));
  }
  return StartCold(options, model, log);
}

absl::StatusOr<common::Process> ModelProcess::StartCold(const ModelProcessOptions& options, int model, int log) {
  common::SpawnOptions spawn;
  spawn.argv = {options.interpreter, "-u", "-m", "rekindle.child", "--fd", "0", "--faults", options.faults_file};
  spawn.environment = options.environment;
  spawn.input_fd = model;
  spawn.output_fd = log;
  spawn.parent_death_signal = SIGKILL;
  // What the user's code starts is in its group too, unless that code leaves it.
  spawn.new_group = true;
  if (options.confinement != nullptr) options.confinement->AddTo(&spawn);
  absl::StatusOr<common::PendingChild> child = common::PendingChild::Start(spawn);
  if (!child.ok()) return child.status();
  absl::StatusOr<common::Process> process = common::Process::Open(child->identity());
  if (process.ok()) child->Release();
  return process;
}

absl::Status ModelProcess::AwaitReady(const ModelProcessOptions& options, const std::function<bool()>& go_on,
                                      const std::function<void(const std::string&)>& note) {
  const double begun = common::SteadySeconds();
  Notes notes(note);
  while (!go_on || go_on()) {
    const double now = common::SteadySeconds();
    notes.Pass(now);
    if (now - begun > options.start_seconds) {
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
      // It may be busy, or wait for something, for long. But who has stopped it will hardly let it go on.
      if (View().is_stopped) return absl::UnavailableError("a signal has stopped the model process");
      continue;
    }
    const std::string text = (*message)->text();
    if ((*message)->type == MessageType::kNote) {
      const auto parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
      const bool has_text = parsed.is_object() && parsed.contains("text") && parsed["text"].is_string();
      if (has_text) notes.Take(common::Printable(Scrubbed(parsed["text"].get<std::string>())));
    } else if ((*message)->type == MessageType::kFailed) {
      const absl::StatusOr<Failed> failed = Explain(text);
      if (!failed.ok()) return failed.status();
      return train::WithTraceback(absl::InvalidArgumentError(failed->message), failed->traceback);
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

absl::StatusOr<Failed> ModelProcess::Explain(const std::string& text) const {
  absl::StatusOr<Failed> failed = DecodeFailed(text);
  if (!failed.ok()) return failed;
  failed->message = Scrubbed(failed->message);
  failed->traceback = Scrubbed(failed->traceback);
  return failed;
}

ProcessView ModelProcess::View() const {
  constexpr int kMostProcesses = 256;
  const std::vector<std::string> fields = StatFields(process_.identity().pid);
  if (fields.empty()) return {};
  static const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  int left = kMostProcesses;
  return {.is_stopped = fields[0] == "T" || fields[0] == "t",
          .cpu_seconds = static_cast<double>(TicksOf(process_.identity().pid, left)) / ticks};
}

void ModelProcess::Kill() {
  if (is_fork_) {
    // The warm process, which will wait for it, knows its group. Here the number of a process that has ended may be
    // another one's already.
    options_.warm->Kill(process_);
    return;
  }
  (void)process_.Signal(SIGKILL);
  // The number of the process, which is also that of its group, is nobody else's before Reap().
  if (const pid_t group = process_.identity().pid; group > 1) (void)kill(-group, SIGKILL);
}

absl::StatusOr<common::ExitStatus> ModelProcess::ExitOf() {
  if (!is_fork_) return process_.Reap();
  const std::optional<common::ExitStatus> told = options_.warm->EndOf(process_);
  if (told) return *told;
  return absl::NotFoundError("the warm process has not said how it ended");
}

std::string ModelProcess::End(double patience) {
  if (!ended_.empty()) return ended_;
  const bool by_itself = AwaitEnd(process_, patience);
  Kill();
  if (!AwaitEnd(process_, kKilledSeconds)) {
    log::Error("a model process was killed and does not end",
               {{"pid", static_cast<long long>(process_.identity().pid)}});
    return ended_ = "killed, but it does not end";
  }
  const absl::StatusOr<common::ExitStatus> exit = ExitOf();
  pump_.reset();
  was_killed_ = by_itself && exit.ok() && exit->code == -SIGKILL;
  ended_ = exit.ok() ? exit->ToString() : "it is gone";
  const std::string faults = faults_.valid() ? absl::StrCat("/proc/self/fd/", faults_.get()) : options_.faults_file;
  const auto dump = common::ReadFile(*common::PosixFileSystem(), faults, kMaxFaultBytes);
  unlink(options_.faults_file.c_str());
  if (!by_itself) return ended_ = absl::StrCat("stopped, ", ended_);
  const std::string line = dump.ok() ? LineIn(Scrubbed(*dump), options_.folder) : "";
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
