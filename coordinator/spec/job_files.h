// Checks which files and stores a job may name, and whether they are there if coordinator and trainers see the same
// disk (one machine). The checks read names and what the system says of files, and they make and change nothing. Their
// answers tell the submitting user only about files in the data roots, which the user's job could read anyway.
#ifndef REKINDLE_COORDINATOR_SPEC_JOB_FILES_H_
#define REKINDLE_COORDINATOR_SPEC_JOB_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "common/objects/store_endpoints.h"
#include "rekindle/v1/job.pb.h"
#include "worker/data/files/data_roots.h"

namespace rekindle::coordinator {

// Says which files and stores jobs may name at all, according to the coordinator's settings.
struct JobReach {
  // `here` says that trainers run on the coordinator's machine, so that the files which a job names can be looked at.
  bool here = false;
  // `takes_code` says that jobs may bring code of their own (rekindle-coordinator --allow-code).
  bool takes_code = true;
  data::DataRoots roots;
  common::StoreEndpoints endpoints;
};

// All functions of this file check a resolved spec. INVALID_ARGUMENT names the field, the file and the fix.

// Refuses a job that brings code of its own, where jobs may not.
absl::Status CheckCode(const v1::JobSpec& spec, const JobReach& reach);

// Refuses data and weights outside of the data roots.
absl::Status CheckDataNames(const v1::JobSpec& spec, const JobReach& reach);

// Refuses a checkpoint store or archive on a server that the coordinator's settings do not list.
absl::Status CheckStoreServers(const v1::JobSpec& spec, const JobReach& reach);
// Checks that `uri` names one checkpoint store, and that a job may name it.
absl::Status CheckStoreUri(const std::string& field, const std::string& uri, const JobReach& reach);

// Refuses a data file or glob that is missing, unreadable, empty, not a regular file, without whole records, or one of
// Rekindle's own. It also refuses data that are too small for one sample.
absl::Status CheckDataFiles(const v1::JobSpec& spec, const JobReach& reach);

// Refuses a checkpoint store that cannot be written, as far as the rights of its folder say.
absl::Status CheckStoreFolder(const v1::JobSpec& spec);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_FILES_H_
