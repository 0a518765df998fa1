// Defines what an agent writes down about a trainer process, so that the next agent process knows it. The record is
// JSON, one file per slot, and it is in place before the trainer's program runs.
#ifndef REKINDLE_WORKER_AGENT_FOLDER_TRAINER_RECORD_H_
#define REKINDLE_WORKER_AGENT_FOLDER_TRAINER_RECORD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::agent {

struct TrainerRecord {
  // The form is "<node>/<slot>/<incarnation>".
  std::string trainer;
  int slot = 0;
  std::string job_uid;
  std::string job_name;
  common::ProcessIdentity process;
  // A record of another boot names no process of this boot.
  std::string boot_id;
  // `started_at` is in steady seconds of that boot.
  double started_at = 0;
  // `log` is the path of the trainer's log.
  std::string log;
  // The fields from here on are set only for trainers that have ended.
  int exit_code = 0;
  std::string exit_reason;
  // The kernel killed the trainer because memory ran out.
  bool out_of_memory = false;
  // `exit_seen` says that this agent or its init saw the end. Otherwise the process was found to be gone within the
  // same boot.
  bool exit_seen = false;

  bool operator==(const TrainerRecord&) const = default;
};

std::string ToJson(const TrainerRecord& record);
// Returns DATA_LOSS for any text that ToJson does not write.
absl::StatusOr<TrainerRecord> FromJson(const std::string& text);
// Reads the record in that file. The errors are those of ReadSmallFile and FromJson.
absl::StatusOr<TrainerRecord> ReadTrainerRecord(const std::string& path);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_FOLDER_TRAINER_RECORD_H_
