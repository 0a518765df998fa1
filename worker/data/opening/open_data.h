// Opens the data of a job's `data` section and makes its micro-batches, whatever kind of data it is.
#ifndef REKINDLE_WORKER_DATA_OPENING_OPEN_DATA_H_
#define REKINDLE_WORKER_DATA_OPENING_OPEN_DATA_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/data/kinds/data_spec.h"

namespace rekindle::data {

// Opens the data of a job. All of the data may be copied into caches in `folder`, which the processes of a node share.
// Errors name the field or the file. Returns INVALID_ARGUMENT if the job's `data` section is not valid, by the same
// rules as the coordinator.
absl::StatusOr<OpenedData> OpenData(const DataSpec& spec, const DataNeeds& needs, const std::string& folder);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_OPENING_OPEN_DATA_H_
