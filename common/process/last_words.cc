#include "common/process/last_words.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "common/process/process.h"
#include "common/process/trainer_file.h"
#include "common/text/printable.h"

namespace rekindle::common {

std::string LastWordsPath(const std::string& dir, const std::string& trainer) {
  return absl::StrCat(dir, "/last_words/", TrainerFileName(trainer));
}

absl::Status WriteLastWords(const std::string& path, const std::string& words) {
  const std::string unfinished = path + ".unfinished";
  const UniqueFd file(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return ErrnoError(absl::StrCat("create ", unfinished));
  const std::string_view kept = std::string_view(words).substr(0, kLongestLastWords);
  if (write(file.get(), kept.data(), kept.size()) != static_cast<ssize_t>(kept.size())) {
    return ErrnoError(absl::StrCat("write ", unfinished));
  }
  if (rename(unfinished.c_str(), path.c_str()) != 0) return ErrnoError(absl::StrCat("rename ", unfinished));
  return absl::OkStatus();
}

std::string TakeLastWords(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return "";
  std::string words(kLongestLastWords, '\0');
  const ssize_t bytes = read(file.get(), words.data(), words.size());
  words.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  unlink(path.c_str());
  return Printable(words, kLongestLastWords);
}

}  // namespace rekindle::common
