// Opens files of tokens of any width as windows of tokens.
#ifndef REKINDLE_WORKER_DATA_KINDS_WINDOW_FILES_H_
#define REKINDLE_WORKER_DATA_KINDS_WINDOW_FILES_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/data/kinds/data_opener.h"

namespace rekindle::data {

// Opens the files of the given kind of data, whose records are tokens. The errors are those of OpenRecords and
// TokenWindows::Create.
absl::StatusOr<OpenedData> OpenWindows(const DataSpec& spec, const DataKind& kind, const DataNeeds& needs,
                                       const std::string& folder);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_WINDOW_FILES_H_
