// Makes and reads `job.json`, the part of a job's record that is kept in the job's checkpoint store, for the day on
// which nothing else is left of the coordinator. The job's secret is not kept, but its hash is, so that a trainer that
// knows the secret can be believed.
//
// Whoever adds a field to `JobRecord` or to a message in it decides in job_json.cc whether job.json keeps the field.
// The test job_json_fields_test.cc fails until that is decided.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_JOB_JSON_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_JOB_JSON_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "rekindle/v1/job_file.pb.h"

namespace rekindle::core {

// Makes the job.json of a job, and leaves parts out until the file fits `checkpoint::kMaxJobFileBytes`. First go old
// faults, old names of damaged checkpoints, and every other point of the curves, whichever is largest. Then goes the
// user's spec, because the resolved spec contains all of it. A file that does not fit even then is as small as it can
// be.
v1::JobFile MakeJobFile(const v1::JobRecord& record, const v1::ClusterIdentity& identity, double unix_now);

// Returns the record in a job.json. It lacks what `MakeJobFile` leaves out, such as the secret and the members.
v1::JobRecord FromJobFile(const v1::JobFile& file);

// A spec as JSON has at most this many times its serialized bytes. Two bytes may stand for a field's name and value,
// and one byte of text may become an escape of six characters.
inline constexpr size_t kMostJsonGrowth = 32;

// Returns INVALID_ARGUMENT, and says what to do, where the spec would leave no room in job.json for the rest of the
// record.
absl::Status CheckFitsJobFile(const v1::JobSpec& resolved);

// No generation and no epoch in a job.json may have a higher number than this. Each later one needs a higher number,
// and an `int` must have enough of them left.
inline constexpr int kMostNumber = 1'000'000'000;

// Returns the bytes of a job.json as they are in the store (checkpoint/format/framed_job_file.h). Returns
// RESOURCE_EXHAUSTED where they are more than a job.json may have, so that the job has none.
absl::StatusOr<std::string> EncodeJobFile(const v1::JobFile& file);
// Reads the inner text of a job.json (`checkpoint::DecodeJobFile`). Fields that this release does not know are ignored.
// Returns DATA_LOSS, and says what to do, where the text is not what a coordinator writes.
absl::StatusOr<v1::JobFile> ParseJobFile(const std::string& inner);
// Reads the bytes of a job.json from the store, and returns DATA_LOSS where they are not a good file of that job.
absl::StatusOr<v1::JobFile> DecodeJobFile(const std::string& text, const std::string& job_uid);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_JOB_JSON_H_
