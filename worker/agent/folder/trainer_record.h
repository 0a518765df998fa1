// Defines what an agent writes down about a trainer process, so that the next agent process knows it. The record is
// JSON, one file per slot, and it is in place before the trainer's program runs.
#ifndef REKINDLE_WORKER_AGENT_FOLDER_TRAINER_RECORD_H_
#define REKINDLE_WORKER_AGENT_FOLDER_TRAINER_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::agent {

// The file of a record, and that of a node, has at most so many bytes. What is longer was not written by an agent.
inline constexpr size_t kMaxRecordBytes = 64 << 10;

struct TrainerRecord {
  // The form of a trainer's name is "<node>/<slot>/<incarnation>".
  std::string trainer;
  int slot = 0;
  std::string job_uid;
  std::string job_name;
  common::ProcessIdentity process;
  // `boot_id` names the machine's boot in which the trainer was started. After a reboot the trainer's process does not
  // exist any more.
  std::string boot_id;
  // `started_at` is when the trainer was started, in steady seconds of the boot `boot_id`.
  double started_at = 0;
  // `log` is the path of the file that the trainer's output goes to.
  std::string log;
  // The fields of a TrainerRecord from here on are set only for a trainer that has ended.
  int exit_code = 0;
  std::string exit_reason;
  // `out_of_memory` says that the kernel killed the trainer because memory ran out.
  bool out_of_memory = false;
  // `exit_seen` says that this agent or its init saw the trainer's end. Otherwise the process was found to be gone
  // within the same boot.
  bool exit_seen = false;

  bool operator==(const TrainerRecord&) const = default;
};

std::string ToJson(const TrainerRecord& record);
// Parses a trainer's record. Returns DATA_LOSS for any text that ToJson does not write.
absl::StatusOr<TrainerRecord> FromJson(const std::string& text);
// Reads a trainer's record from a file. The errors are those of ReadSmallFile and FromJson.
absl::StatusOr<TrainerRecord> ReadTrainerRecord(const std::string& path);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_FOLDER_TRAINER_RECORD_H_
