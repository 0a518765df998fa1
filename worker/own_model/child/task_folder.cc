#include "worker/own_model/child/task_folder.h"

#include <sys/stat.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace rekindle::own_model {

absl::Status CheckTaskFolder(const std::string& folder, const data::DataRoots& roots) {
  const absl::StatusOr<data::DataRoots::Found> found = roots.Find(folder);
  absl::Status status = found.status();
  if (found.ok() && found->own) status = data::DataRoots::RefuseOwn(folder);
  if (found.ok() && !found->own && !S_ISDIR(found->info.st_mode)) {
    status = absl::NotFoundError(absl::StrCat(folder, " is no folder; give the one in which the task's module lies"));
  }
  return status.ok() ? status : absl::InvalidArgumentError(absl::StrCat("model.folder: ", status.message()));
}

}  // namespace rekindle::own_model
