// Names the keys of those records in a state store that more than one part of the coordinator reads.
#ifndef REKINDLE_COORDINATOR_STORE_RECORD_KEYS_H_
#define REKINDLE_COORDINATOR_STORE_RECORD_KEYS_H_

namespace rekindle::coordinator {

// The key of a job's record is `kJobKeys` followed by the job's uid.
inline constexpr char kJobKeys[] = "job/";
// The value under `kIdentityKey` is the cluster's identity, written by common::Describe.
inline constexpr char kIdentityKey[] = "cluster/identity";
// The value under `kForgottenJobsKey` holds, as sums, what metrics count of the jobs whose records are gone.
inline constexpr char kForgottenJobsKey[] = "totals/forgotten_jobs";

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_RECORD_KEYS_H_
