// What of a job's spec its result depends on, as one digest: manifests and job.json name it.
#ifndef REKINDLE_COMMON_SPEC_SPEC_DIGEST_H_
#define REKINDLE_COMMON_SPEC_SPEC_DIGEST_H_

#include <string>

#include "rekindle/v1/job.pb.h"

namespace rekindle::common {

// XXH3-128 in hex of a resolved spec without what may differ between equal results: the number of workers, where
// checkpoints go, where weights came from (the digest of these counts), what backward keeps, who keeps the moments, and
// how the batch is cut where that may change. Empty: it has text that is no UTF-8.
std::string SpecDigest(v1::JobSpec resolved);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_SPEC_DIGEST_H_
