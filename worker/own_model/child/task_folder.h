// Decides whether the folder that a job names as that of its code is one that jobs may read.
#ifndef REKINDLE_WORKER_OWN_MODEL_CHILD_TASK_FOLDER_H_
#define REKINDLE_WORKER_OWN_MODEL_CHILD_TASK_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "worker/data/files/data_roots.h"

namespace rekindle::own_model {

// Returns INVALID_ARGUMENT, with what to do, if `folder` is no folder, is not in `roots`, or is Rekindle's own. The
// job's code gets the right to read it, so a job could otherwise name any folder of the node.
absl::Status CheckTaskFolder(const std::string& folder, const data::DataRoots& roots);

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_CHILD_TASK_FOLDER_H_
