#include "coordinator/spec/job_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/objects/object_uri.h"
#include "coordinator/spec/job_spec.h"
#include "worker/data/declared/data_kind.h"
#include "worker/data/files/input_files.h"

namespace rekindle::coordinator {
namespace {

// The search for a job's data files may take `kMostSeconds` seconds, because it holds up a thread that answers calls.
constexpr double kMostSeconds = 5;

absl::Status Wrong(const std::string& field, const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", path, " ", why));
}

// Says which files a job's data are, and how much of them one sample takes, if that is known without decoding them.
struct DataFiles {
  std::string field;
  std::vector<std::string> entries;
  // `record` is the size of a data record in bytes. Each file contains whole records. 0 means that the size is not
  // known.
  int64_t record = 0;
  // One sample needs `needed` records.
  double needed = 1;
};

DataFiles DataFilesOf(const v1::JobSpec& spec) {
  const data::DataKind& kind = data::KindOf(spec.data());
  DataFiles files{data::FilesField(kind), data::FilesOf(spec.data(), kind), kind.record_bytes};
  // A window of training data has context + 1 tokens.
  if (train::IsWindow(kind.form)) files.needed = spec.model().context() + 1;
  return files;
}

}  // namespace

absl::Status CheckCode(const v1::JobSpec& spec, const JobReach& reach) {
  if (reach.takes_code || spec.model().python().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "spec.model.python: this coordinator takes no code of users: start rekindle-coordinator with --allow-code on, "
      "and the agents of the nodes that are to run it, too");
}

absl::Status CheckDataNames(const v1::JobSpec& spec, const JobReach& reach) {
  const DataFiles wanted = DataFilesOf(spec);
  for (const std::string& entry : wanted.entries) {
    // CheckName looks only at the part of a glob before its first wildcard. The files that match the glob are checked
    // when they are read.
    const absl::Status inside = reach.roots.CheckName(data::FixedPart(entry));
    if (!inside.ok()) return absl::InvalidArgumentError(absl::StrCat(wanted.field, ": ", inside.message()));
  }
  for (const auto& [field, path] :
       {std::pair{"spec.model.weights", &spec.model().weights()}, {"spec.model.folder", &spec.model().folder()}}) {
    const absl::Status inside = path->empty() ? absl::OkStatus() : reach.roots.CheckName(*path);
    if (!inside.ok()) return absl::InvalidArgumentError(absl::StrCat(field, ": ", inside.message()));
  }
  return absl::OkStatus();
}

absl::Status CheckStoreUri(const std::string& field, const std::string& uri, const JobReach& reach) {
  const auto parsed = common::ParseObjectUri(uri);
  const absl::Status allowed = parsed.ok() ? reach.endpoints.Check(*parsed) : parsed.status();
  return allowed.ok() ? allowed : absl::InvalidArgumentError(absl::StrCat(field, ": ", allowed.message()));
}

absl::Status CheckStoreServers(const v1::JobSpec& spec, const JobReach& reach) {
  const v1::JobSpec::Checkpoint& checkpoint = spec.checkpoint();
  absl::Status stores;
  if (!checkpoint.store().empty()) stores.Update(CheckStoreUri("spec.checkpoint.store", checkpoint.store(), reach));
  if (!checkpoint.archive_store().empty()) {
    stores.Update(CheckStoreUri("spec.checkpoint.archive_store", checkpoint.archive_store(), reach));
  }
  return stores;
}

absl::Status CheckDataFiles(const v1::JobSpec& spec, const JobReach& reach) {
  const DataFiles wanted = DataFilesOf(spec);
  // The data of the user's own model are the task's.
  if (!spec.model().python().empty()) return absl::OkStatus();
  const auto files = data::FindInputFiles(wanted.entries, reach.roots, {.seconds = kMostSeconds});
  if (!files.ok()) return absl::InvalidArgumentError(absl::StrCat(wanted.field, ": ", files.status().message()));
  if (wanted.record == 0) return absl::OkStatus();
  double total = 0;
  for (const data::InputFile& file : *files) {
    total += static_cast<double>(file.size);
    if (file.size % wanted.record == 0) continue;
    return Wrong(wanted.field, file.path,
                 absl::StrCat("has ", file.size, " bytes, no multiple of ", wanted.record,
                              ": it is truncated, or not of this format"));
  }
  if (spec.data().max_bytes() > 0 && spec.data().max_bytes() < total) total = spec.data().max_bytes();
  // Training needs at least one sample, and validation needs another one.
  const double needed =
      (spec.data().validation_fraction() > 0 ? 2.0 : 1.0) * wanted.needed * static_cast<double>(wanted.record);
  if (total >= needed) return absl::OkStatus();
  const std::string what = spec.model().context() > 0
                               ? absl::StrCat("spec.model.context ", spec.model().context(), " needs ", needed,
                                              ": add text or lower the context")
                               : absl::StrCat(needed, " are needed: add files");
  return absl::InvalidArgumentError(absl::StrCat(wanted.field, ": has ", total, " bytes, but ", what));
}

absl::Status CheckStoreFolder(const v1::JobSpec& spec) {
  if (!TakesCheckpoints(spec.checkpoint())) return absl::OkStatus();
  const std::string& store = spec.checkpoint().store();
  // A store in a bucket is not checked, because only the job's nodes can reach it.
  if (!absl::StartsWith(store, "file://")) return absl::OkStatus();
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
  // The check looks only at the folder's rights and makes no file there, because checks of a job must not leave a
  // trace.
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return Wrong(field, folder, absl::StrCat("cannot be written: ", std::strerror(errno), ": name another folder"));
  }
  return absl::OkStatus();
}

}  // namespace rekindle::coordinator
