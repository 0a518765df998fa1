// What of a job's record is kept in the job's checkpoint store (job.json), for the day on which nothing else is left of
// the coordinator. The secret is not: its hash is, by which a trainer that knows it can be believed.
//
// Whoever adds a field to JobRecord or to a message in it decides in job_file.cc whether it is kept; job_file_test.cc
// fails until that is so.
#ifndef REKINDLE_COORDINATOR_CORE_JOB_FILE_H_
#define REKINDLE_COORDINATOR_CORE_JOB_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "rekindle/v1/job_file.pb.h"

namespace rekindle::core {

// Thinned so that it fits a file of checkpoint::kMaxJobFileBytes: faults (the newest stay), names of damaged
// checkpoints (likewise), curves (every other point), whichever is largest first; then what the user wrote of the spec,
// as the resolved one says it all. What does not even fit then is as small as it can be.
v1::JobFile MakeJobFile(const v1::JobRecord& record, const v1::ClusterIdentity& identity, double unix_now);

// The record, but for what MakeJobFile leaves out: without secret and members.
v1::JobRecord FromJobFile(const v1::JobFile& file);

// A spec has at most so many times its serialized bytes as JSON: two bytes may stand for a field's name and value, and
// one of text for an escape of six characters.
inline constexpr size_t kMostJsonGrowth = 32;

// INVALID_ARGUMENT, with what to do: a job of that spec would leave no room for the rest of the file.
absl::Status CheckFitsJobFile(const v1::JobSpec& resolved);

// No generation and no epoch has a higher number: it could not be passed any more.
inline constexpr int kMostNumber = 1'000'000'000;

// As it lies in the store (checkpoint/job_file.h). RESOURCE_EXHAUSTED: larger than it may be, so that its job has none.
absl::StatusOr<std::string> EncodeJobFile(const v1::JobFile& file);
// Of the inner text of one that was read (checkpoint::DecodeJobFile). Fields that this release does not know are passed
// over. DATA_LOSS, with what to do: it is not what a coordinator writes.
absl::StatusOr<v1::JobFile> ParseJobFile(const std::string& inner);
// Both: of that job's file, as it lies in the store.
absl::StatusOr<v1::JobFile> DecodeJobFile(const std::string& text, const std::string& job_uid);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_JOB_FILE_H_
