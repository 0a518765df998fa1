// Makes the secret that a trainer must know to speak for its job. Agents hand the secret on to trainers, and nobody
// else has it.
#ifndef REKINDLE_COORDINATOR_SPEC_JOB_SECRET_H_
#define REKINDLE_COORDINATOR_SPEC_JOB_SECRET_H_

#include <cstddef>
#include <string>

#include "common/digest/random_bytes.h"

namespace rekindle::coordinator {

inline constexpr size_t kJobSecretBytes = 32;

inline std::string NewJobSecret() { return common::RandomBytes(kJobSecretBytes); }

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_SECRET_H_
