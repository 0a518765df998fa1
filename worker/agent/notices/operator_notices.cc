#include "worker/agent/notices/operator_notices.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/process/command.h"
#include "common/process/process.h"
#include "common/text/duration.h"
#include "worker/agent/notices/source_kind.h"

namespace rekindle::agent {
namespace {

constexpr double kFileSeconds = 1;
constexpr double kCommandSeconds = 5;
constexpr char kFile[] = "file", kCommand[] = "command";
// A duration of more than `kMostSeconds` at the start of a notice is taken not as a time but as part of the reason.
constexpr double kMostSeconds = 366.0 * 86400;
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
    absl::StatusOr<std::string> text =
        common::RunCommand({.argv = {"/bin/sh", "-c", absl::StrCat("exec 2>/dev/null\n", command_)},
                            .environment = common::OwnEnvironment(),
                            .limit_seconds = limit_,
                            .max_bytes = kMostBytes});
    if (text.ok()) absl::StripTrailingAsciiWhitespace(&*text);
    return text;
  }

  const std::string command_;
  const double limit_;
  std::string line_;
  double since_ = 0;
};

template <const char* kName>
bool IsGiven(const NoticeOptions& options, const Machine&) {
  return !options.Given(kName).empty();
}

absl::StatusOr<std::unique_ptr<Source>> OpenFile(const NoticeOptions& options, const Machine&) {
  const std::string path = options.Given(kFile);
  if (path.empty()) return absl::InvalidArgumentError("--notice-file PATH is missing");
  return NewFileSource(path);
}

absl::StatusOr<std::unique_ptr<Source>> OpenCommand(const NoticeOptions& options, const Machine&) {
  const std::string command = options.Given(kCommand);
  if (command.empty()) return absl::InvalidArgumentError("--notice-command CMD is missing");
  return NewCommandSource(command);
}

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

extern const SourceKind kFileNotices, kCommandNotices;
const SourceKind kFileNotices{.name = kFile,
                              .interval_seconds = kFileSeconds,
                              .flag = "--notice-file",
                              .help = "A notice while this file is there: \"[WITHIN] [REASON]\", as 90s",
                              .detect = IsGiven<kFile>,
                              .open = OpenFile};
const SourceKind kCommandNotices{.name = kCommand,
                                 .interval_seconds = kCommandSeconds,
                                 .flag = "--notice-command",
                                 .help = "Run by /bin/sh each 5 s: a notice when it prints such a line",
                                 .detect = IsGiven<kCommand>,
                                 .open = OpenCommand};

}  // namespace rekindle::agent
