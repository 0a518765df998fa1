#include "worker/agent/notices/operator.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/duration.h"
#include "common/process.h"

namespace rekindle::agent {
namespace {

constexpr double kMostSeconds = 366.0 * 86400;  // Ahead. What says more is no time, but a part of the reason.
constexpr size_t kMostBytes = 4096;

class FileSource final : public Source {
 public:
  explicit FileSource(std::string path) : path_(std::move(path)) {}

  absl::StatusOr<std::vector<Notice>> Poll(double) override {
    const common::UniqueFd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.valid()) {
      if (errno == ENOENT || errno == ENOTDIR) return std::vector<Notice>();
      return common::ErrnoError(absl::StrCat("cannot open ", path_));
    }
    struct stat info;
    if (fstat(fd.get(), &info) != 0) return common::ErrnoError(absl::StrCat("cannot stat ", path_));
    if (!S_ISREG(info.st_mode)) return absl::FailedPreconditionError(absl::StrCat(path_, " is no file"));
    char text[kMostBytes];
    const ssize_t bytes = read(fd.get(), text, sizeof text);
    if (bytes < 0) return common::ErrnoError(absl::StrCat("cannot read ", path_));
    const double since = static_cast<double>(info.st_mtim.tv_sec) + static_cast<double>(info.st_mtim.tv_nsec) * 1e-9;
    return std::vector<Notice>{ParseNoticeLine({text, static_cast<size_t>(bytes)}, since)};
  }

 private:
  const std::string path_;
};

class CommandSource final : public Source {
 public:
  CommandSource(std::string command, double limit) : command_(std::move(command)), limit_(limit) {}

  absl::StatusOr<std::vector<Notice>> Poll(double now) override {
    const absl::StatusOr<std::string> line = Run();
    if (!line.ok()) return line.status();
    if (*line != line_) since_ = now;
    line_ = *line;
    if (line_.empty()) return std::vector<Notice>();
    return std::vector<Notice>{ParseNoticeLine(line_, since_)};
  }

 private:
  absl::StatusOr<std::string> Run() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return common::ErrnoError("cannot make a pipe");
    common::UniqueFd output(ends[0]), input(ends[1]);
    common::SpawnOptions options;
    options.argv = {"/bin/sh", "-c", absl::StrCat("exec 2>/dev/null\n", command_)};
    for (char** entry = environ; *entry != nullptr; ++entry) options.environment.push_back(*entry);
    options.output_fd = input.get();
    options.new_group = true;
    options.parent_death_signal = SIGKILL;
    absl::StatusOr<common::PendingChild> child = common::PendingChild::Start(options);
    if (!child.ok()) return child.status();
    const absl::StatusOr<common::Process> process = common::Process::Open(child->identity());
    child->Release();
    if (!process.ok()) return process.status();
    input.Reset();
    const double until = common::SteadySeconds() + limit_;
    std::string text = ReadUntil(output.get(), until);
    output.Reset();  // One that prints on and on ends by it.
    const bool ended = AwaitEnd(*process, until);
    // All of its group: what it started may hold on.
    if (!ended) kill(-process->identity().pid, SIGKILL);
    if (!ended) AwaitEnd(*process, HUGE_VAL);
    const absl::StatusOr<common::ExitStatus> status = process->Reap();
    if (!ended) return absl::DeadlineExceededError(absl::StrCat("the command did not end in ", limit_, " s"));
    if (!status.ok()) return status.status();
    if (status->code != 0) return absl::UnavailableError(absl::StrCat("the command ended with ", status->ToString()));
    absl::StripTrailingAsciiWhitespace(&text);
    return text;
  }

  static int Milliseconds(double until) {
    if (std::isinf(until)) return -1;
    return static_cast<int>(std::max(0.0, std::ceil((until - common::SteadySeconds()) * 1000)));
  }

  // What it wrote until its end, the limit of bytes or the time.
  static std::string ReadUntil(int fd, double until) {
    std::string text;
    char part[1024];
    while (text.size() < kMostBytes) {
      pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
      if (poll(&p, 1, Milliseconds(until)) != 1) break;
      const ssize_t bytes = read(fd, part, sizeof part);
      if (bytes <= 0) break;
      text.append(part, static_cast<size_t>(bytes));
    }
    return text;
  }

  static bool AwaitEnd(const common::Process& process, double until) {
    pollfd p = {.fd = process.fd(), .events = POLLIN, .revents = 0};
    return poll(&p, 1, Milliseconds(until)) == 1;
  }

  const std::string command_;
  const double limit_;
  std::string line_;
  double since_ = 0;
};

}  // namespace

Notice ParseNoticeLine(std::string_view text, double since) {
  absl::string_view line(text.data(), text.size());
  line = absl::StripAsciiWhitespace(line.substr(0, line.find('\n')));
  Notice notice{.id = "operator"};
  const absl::string_view first = line.substr(0, line.find(' '));
  const absl::StatusOr<double> within = common::ParseDuration(std::string(first));
  if (!first.empty() && within.ok() && *within <= kMostSeconds) {
    notice.at = since + *within;
    line.remove_prefix(first.size());
  }
  notice.what = Printable({line.data(), line.size()});
  absl::StripAsciiWhitespace(&notice.what);
  if (notice.what.empty()) notice.what = "asked by its operator";
  return notice;
}

std::unique_ptr<Source> NewFileSource(std::string path) { return std::make_unique<FileSource>(std::move(path)); }

std::unique_ptr<Source> NewCommandSource(std::string command, double limit_seconds) {
  return std::make_unique<CommandSource>(std::move(command), limit_seconds);
}

}  // namespace rekindle::agent
