// Computes a digest of the parts of a job's spec on which its result depends. Manifests and job.json contain it.
#ifndef REKINDLE_COMMON_SPEC_SPEC_DIGEST_H_
#define REKINDLE_COMMON_SPEC_SPEC_DIGEST_H_

#include <string>

#include "rekindle/v1/job.pb.h"

namespace rekindle::common {

// Returns the XXH3-128 in hex of a resolved spec without the parts that may differ between equal results: the number of
// workers, the checkpoint section, where the weights came from (their digest counts instead), the expected fingerprint
// of the data, which activations are kept for the backward pass, which workers keep the optimizer's moments, and the
// division into micro-batches if `reduce` is not exact. It is empty if the spec has text that is not UTF-8.
std::string SpecDigest(v1::JobSpec resolved);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_SPEC_DIGEST_H_
