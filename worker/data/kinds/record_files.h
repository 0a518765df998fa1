// Opens files of whole records as one piece of memory that the processes of a node share.
#ifndef REKINDLE_WORKER_DATA_KINDS_RECORD_FILES_H_
#define REKINDLE_WORKER_DATA_KINDS_RECORD_FILES_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/data/kinds/byte_cache.h"
#include "worker/data/kinds/data_opener.h"

namespace rekindle::data {

// Opens the files of the given kind of data, up to the job's `max_bytes`. Returns INVALID_ARGUMENT, with the file's
// name, for a file that does not consist of whole records, and the errors of FindInputFiles and ByteCache::Open.
// REQUIRES: the kind has a `record_bytes`.
absl::StatusOr<ByteCache> OpenRecords(const DataSpec& spec, const DataKind& kind, const std::string& folder);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_RECORD_FILES_H_
