// Which files and stores a job may name, and whether they are there, where coordinator and trainers see the same disk
// (one machine). Names are read, and what the system says of files; nothing is made or changed, and whoever submits
// learns of files in the data roots, as a job of theirs would, and of no others.
#ifndef REKINDLE_COORDINATOR_SPEC_JOB_FILES_H_
#define REKINDLE_COORDINATOR_SPEC_JOB_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "common/store_endpoints.h"
#include "rekindle/v1/job.pb.h"
#include "worker/data/data_roots.h"

namespace rekindle::coordinator {

// What jobs may name at all, as the coordinator was started.
struct JobReach {
  bool here = false;  // Trainers run on this machine: what a job names is looked at.
  data::DataRoots roots;
  common::StoreEndpoints endpoints;
};

// All of a resolved spec. INVALID_ARGUMENT names the field, the file and the fix.

// Data or weights outside of the roots.
absl::Status CheckDataNames(const v1::JobSpec& spec, const JobReach& reach);

// A store or archive on a server that is not listed.
absl::Status CheckStoreServers(const v1::JobSpec& spec, const JobReach& reach);
// Checks one store, and that it is one.
absl::Status CheckStoreUri(const std::string& field, const std::string& uri, const JobReach& reach);

// A data file or glob that is missing, unreadable, no regular file, empty or of no whole records, or Rekindle's own;
// too little data for one sample.
absl::Status CheckDataFiles(const v1::JobSpec& spec, const JobReach& reach);

// A store that cannot be written, as far as its folder's rights say.
absl::Status CheckStoreFolder(const v1::JobSpec& spec);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_FILES_H_
