// What an agent writes down about a trainer process, so that the next agent process knows it: as JSON, one file a slot,
// in place before the trainer's program runs.
#ifndef REKINDLE_WORKER_AGENT_TRAINER_RECORD_H_
#define REKINDLE_WORKER_AGENT_TRAINER_RECORD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::agent {

struct TrainerRecord {
  std::string trainer;  // "<node>/<slot>/<incarnation>"
  int slot = 0;
  std::string job_uid;
  std::string job_name;
  common::ProcessIdentity process;
  std::string boot_id;    // A record of another boot names no process.
  double started_at = 0;  // Steady seconds of that boot.
  std::string log;        // Path.
  // Of ended trainers only.
  int exit_code = 0;
  std::string exit_reason;
  bool out_of_memory = false;  // The kernel killed it for want of memory.
  bool exit_seen = false;  // By this agent or its init, when it ended. Else it was not there any more, in this boot.

  bool operator==(const TrainerRecord&) const = default;
};

std::string ToJson(const TrainerRecord& record);
// DATA_LOSS for anything that ToJson does not write.
absl::StatusOr<TrainerRecord> FromJson(const std::string& text);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINER_RECORD_H_
