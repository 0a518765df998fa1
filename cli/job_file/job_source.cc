#include "cli/job_file/job_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/spec/yaml.h"

namespace rekindle::cli {
namespace {

absl::StatusOr<std::string> ReadToEnd(int fd, const std::string& name) {
  std::string text;
  std::vector<char> piece(64 << 10);
  while (text.size() <= common::kMaxYamlBytes) {
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return common::ErrnoStatus(errno, "cannot read", name);
    text.append(piece.data(), static_cast<size_t>(got));
  }
  return absl::OutOfRangeError(absl::StrCat(name, " has more than the ", common::kMaxYamlBytes, " bytes allowed"));
}

absl::StatusOr<std::string> ReadPipe(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return common::ErrnoStatus(errno, "cannot open", path);
  auto text = ReadToEnd(fd, path);
  close(fd);
  return text;
}

}  // namespace

absl::StatusOr<JobSource> ReadJobSource(const std::string& path) {
  const bool is_stdin = path == "-" || path == "/dev/stdin";
  struct stat facts = {};
  const bool is_pipe =
      !is_stdin && stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
  JobSource source{.name = is_stdin ? "stdin" : path, .text = "", .folder = std::filesystem::current_path()};
  if (!is_stdin && !is_pipe) source.folder = std::filesystem::absolute(path).parent_path();
  absl::StatusOr<std::string> text = is_stdin ? ReadToEnd(STDIN_FILENO, source.name)
                                     : is_pipe
                                         ? ReadPipe(path)
                                         : common::ReadFile(*common::PosixFileSystem(), path, common::kMaxYamlBytes);
  if (!text.ok()) return text.status();
  source.text = *std::move(text);
  return source;
}

}  // namespace rekindle::cli
