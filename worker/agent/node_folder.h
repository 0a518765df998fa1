// The node's own folder: who the node is, and where the agent, the trainers and the checkpoint service find each other.
//
//   node.json          the node's incarnation, made once a folder: a wiped node is another one
//   cluster            the coordinator that the node obeys (common/cluster_identity.h)
//   agent.lock         held by the one agent of this folder
//   agent.sock         NodeLocal, for the trainers
//   checkpoint.sock    Checkpoints, of the node's checkpoint service
//   jobs/UID/SLOT.pb   v1.DesiredTrainer of a slot, job secret included
//   trainers/SLOT.json the process that runs in a slot (trainer_record.h)
//   alive/ID           held by a trainer until it dies (common/life_lock.h)
//   ended/ID.json      exits that the coordinator has not acknowledged
//   exits/             exits seen by init (exits.h)
//   logs/              output of the trainers, a file each, and whose it is (log_file.h)
//   .rekindle-state    no job reads any of it (common/state_folder.h)
//
// All of it is for this user only (0700, 0600).
#ifndef REKINDLE_WORKER_AGENT_NODE_FOLDER_H_
#define REKINDLE_WORKER_AGENT_NODE_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cluster_identity.h"
#include "common/process.h"

namespace rekindle::agent {

class NodeFolder {
 public:
  // Makes what is missing. Waits for the lock so long: an agent that was just killed may still hold it.
  // ALREADY_EXISTS: another agent runs on it. INVALID_ARGUMENT: the path is too long for a Unix socket.
  static absl::StatusOr<NodeFolder> Open(const std::string& dir, double lock_wait_seconds);

  const std::string& dir() const { return dir_; }  // Absolute.
  const std::string& incarnation() const { return incarnation_; }
  // Of this boot of the machine and this folder: two that hold their locks at once differ in it, even where one is a
  // copy of the other. Empty where the boot is not known.
  const std::string& home() const { return home_; }
  std::string AgentSocket() const { return dir_ + "/agent.sock"; }
  std::string CheckpointSocket() const { return dir_ + "/checkpoint.sock"; }
  std::string ClusterFile() const { return dir_ + "/cluster"; }
  std::string AloneFile() const { return dir_ + "/alone"; }  // See alone.h.
  // None where there is no such file yet. DATA_LOSS: it holds something else.
  absl::StatusOr<common::KnownCluster> ReadCluster() const;
  std::string JobFile(const std::string& job_uid, int slot) const;
  std::string RecordFile(int slot) const;
  std::string RecordFolder() const { return dir_ + "/trainers"; }
  std::string AliveFolder() const { return dir_ + "/alive"; }
  std::string EndedFolder() const { return dir_ + "/ended"; }
  std::string LogFolder() const { return dir_ + "/logs"; }
  // The files of one trainer: `incarnation` is the end of its name.
  std::string LogFile(const std::string& job_name, int slot, const std::string& incarnation) const;

  // Makes the job's folder.
  absl::Status MakeJobFolder(const std::string& job_uid) const;
  // Removes the file with the secret, and the job's folder when it was the last.
  void RemoveJobFile(const std::string& job_uid, int slot) const;

 private:
  NodeFolder() = default;
  std::string dir_;
  std::string incarnation_;
  std::string home_;
  common::UniqueFd lock_;
};

// Random, in lower-case hex.
std::string RandomHex(int bytes);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NODE_FOLDER_H_
