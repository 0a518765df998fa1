// Keeps what an agent must know of the code of a job that an earlier agent of its folder has started.
#ifndef REKINDLE_WORKER_AGENT_USER_CODE_WARM_RECORD_H_
#define REKINDLE_WORKER_AGENT_USER_CODE_WARM_RECORD_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "worker/user_code/code_setting.h"

namespace rekindle::agent {

struct WarmRecord {
  std::string job_uid;
  // `isolation`, `uid` and `folder` are those of the job's CodeSetting.
  user_code::Isolation isolation = user_code::Isolation::kNone;
  uid_t uid = 0;
  std::string folder;
  // `process` is the job's warm process, or has the pid 0 if none runs.
  common::ProcessIdentity process;
  std::string boot_id;
};

std::string ToJson(const WarmRecord& record);
// Returns NOT_FOUND if there is no such file, and DATA_LOSS if it is no record.
absl::StatusOr<WarmRecord> ReadWarmRecord(const std::string& path);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_USER_CODE_WARM_RECORD_H_
