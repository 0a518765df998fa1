// What a trainer must know to speak for its job. Agents hand it on; nobody else has it.
#ifndef REKINDLE_COORDINATOR_JOB_SECRET_H_
#define REKINDLE_COORDINATOR_JOB_SECRET_H_

#include <cstddef>
#include <string>

#include "common/random_bytes.h"

namespace rekindle::coordinator {

inline constexpr size_t kJobSecretBytes = 32;

inline std::string NewJobSecret() { return common::RandomBytes(kJobSecretBytes); }

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_JOB_SECRET_H_
