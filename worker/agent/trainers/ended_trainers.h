// Remembers how trainers of this node ended until the coordinator has acknowledged it. Each end is also in a file of
// the node's folder, so that the next agent reports it.
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_ENDED_TRAINERS_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_ENDED_TRAINERS_H_

#include <cstddef>
#include <deque>
#include <string>

#include "common/process/process.h"
#include "rekindle/v1/node.pb.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/folder/trainer_record.h"

namespace rekindle::agent {

// Returns the fields of a report that name the trainer, its job and its slot.
v1::TrainerProcess ProcessOf(const TrainerRecord& record);

// EndedTrainers is thread-compatible.
class EndedTrainers {
 public:
  // At most `kMost` ended trainers are remembered. The oldest are forgotten first.
  static constexpr size_t kMost = 256;

  // `folder` is the node's folder, and it must outlive this object.
  explicit EndedTrainers(const NodeFolder* folder) : folder_(folder) {}

  // Reads the ends of trainers that an earlier agent has written down. Files that are damaged or too many are removed.
  // REQUIRES: Load() is called once, before the other functions.
  void Load();

  // Remembers how a trainer ended. A failure to write it down is logged.
  void Add(TrainerRecord record, common::ExitStatus status, const std::string& reason);
  // Forgets how the trainer ended, once the coordinator has acknowledged it.
  void Acknowledge(const std::string& trainer);

  // Returns the records of the ended trainers, from the oldest end to the newest.
  const std::deque<TrainerRecord>& records() const { return ended_; }
  // Returns the record of an ended trainer, or null.
  const TrainerRecord* Find(const std::string& trainer) const;
  // Adds the ended trainers to `trainers` of the report.
  void Report(v1::NodeReport* report) const;

 private:
  std::string FileOf(const std::string& trainer) const;

  const NodeFolder* const folder_;
  std::deque<TrainerRecord> ended_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_ENDED_TRAINERS_H_
