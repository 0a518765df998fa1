#include "coordinator/job_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/job_spec.h"
#include "worker/data/text_files.h"

namespace rekindle::coordinator {
namespace {

absl::Status Wrong(const std::string& field, const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", path, " ", why));
}

absl::Status CheckText(const v1::JobSpec& spec) {
  const std::vector<std::string> entries(spec.data().text().begin(), spec.data().text().end());
  const auto files = data::FindTextFiles(entries);
  if (!files.ok()) return absl::InvalidArgumentError(absl::StrCat("spec.data.text: ", files.status().message()));
  double total = 0;
  for (const data::TextFile& file : *files) total += static_cast<double>(file.size);
  if (spec.data().max_bytes() > 0 && spec.data().max_bytes() < total) total = spec.data().max_bytes();
  // A sample is context + 1 bytes; training needs one, and so does validation.
  const double needed = (spec.data().validation_fraction() > 0 ? 2.0 : 1.0) * (spec.model().context() + 1);
  if (total < needed) {
    return absl::InvalidArgumentError(absl::StrCat("spec.data.text: has ", total, " bytes, but spec.model.context ",
                                                   spec.model().context(), " needs ", needed,
                                                   ": add text or lower the context"));
  }
  return absl::OkStatus();
}

absl::Status CheckStoreFolder(const std::string& store) {
  if (!absl::StartsWith(store, "file://")) return absl::OkStatus();  // Only its nodes can reach a bucket.
  const std::string field = "spec.checkpoint.store";
  const std::string wanted = store.substr(std::strlen("file://"));
  std::string folder = wanted;
  struct stat info;
  while (stat(folder.c_str(), &info) != 0) {
    if (errno != ENOENT) return Wrong(field, wanted, absl::StrCat("cannot be used: ", std::strerror(errno)));
    const size_t slash = folder.find_last_of('/');
    folder = slash == 0 || slash == std::string::npos ? "/" : folder.substr(0, slash);
  }
  if (!S_ISDIR(info.st_mode)) return Wrong(field, folder, "is a file: name a folder");
  std::string probe = folder + "/.rekindle-probe-XXXXXX";
  const int fd = mkstemp(probe.data());
  if (fd < 0) {
    return Wrong(field, folder, absl::StrCat("cannot be written: ", std::strerror(errno), ": name another folder"));
  }
  close(fd);
  unlink(probe.c_str());
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckJobFiles(const v1::JobSpec& spec) {
  if (absl::Status text = CheckText(spec); !text.ok()) return text;
  return TakesCheckpoints(spec.checkpoint()) ? CheckStoreFolder(spec.checkpoint().store()) : absl::OkStatus();
}

}  // namespace rekindle::coordinator
