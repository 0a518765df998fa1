// Keys of the records in a state store, where more than one part reads them.
#ifndef REKINDLE_COORDINATOR_RECORD_KEYS_H_
#define REKINDLE_COORDINATOR_RECORD_KEYS_H_

namespace rekindle::coordinator {

inline constexpr char kJobKeys[] = "job/";                            // Before a uid: a JobRecord.
inline constexpr char kIdentityKey[] = "cluster/identity";            // As common::Describe writes it.
inline constexpr char kForgottenJobsKey[] = "totals/forgotten_jobs";  // Sums of jobs whose records are gone.

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_RECORD_KEYS_H_
