// Manages the node's own folder. It says who the node is, and there the agent, the trainers and the checkpoint service
// find each other.
//
//   node.json          the node's incarnation, made once per folder: a wiped node is another one
//   cluster            the coordinator that the node obeys (common/agreed/cluster_identity.h)
//   gpus               the GPUs of the slots (program/node_gpus.h)
//   alone              until when the machine may run without a coordinator (decisions/alone.h)
//   agent.lock         held by the one agent of this folder
//   agent.sock         the NodeLocal service, for the trainers
//   checkpoint.sock    the Checkpoints service of the node
//   jobs/UID/SLOT.pb   v1.DesiredTrainer of a slot, job secret included
//   trainers/SLOT.json the process that runs in a slot (trainer_record.h)
//   alive/ID           held by a trainer until it dies (common/process/life_lock.h)
//   last_words/ID      why a trainer ended itself (common/process/last_words.h)
//   ended/ID.json      exits that the coordinator has not acknowledged
//   exits/             exits seen by init (exits.h)
//   bundles/           code of users' own models (bundles/bundle_keeper.h)
//   logs/              output of the trainers, one file each, and its owner (log_file.h)
//   warm/              sockets and records of the processes that have the imports of jobs (user_code/job_code.h)
//   env_from           values of variables that jobs may name; the operator writes it
//   .rekindle-state    keeps jobs from reading any of it (common/files/state_folder.h)
//
// Only this user may read or write any of it (modes 0700 and 0600).
#ifndef REKINDLE_WORKER_AGENT_FOLDER_NODE_FOLDER_H_
#define REKINDLE_WORKER_AGENT_FOLDER_NODE_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/agreed/cluster_identity.h"
#include "common/process/process.h"

namespace rekindle::agent {

class NodeFolder {
 public:
  // Makes the files and folders that are missing, and waits up to `lock_wait_seconds` for the agent's lock, because an
  // agent that was just killed may still hold it. Returns ALREADY_EXISTS if another agent runs on the folder, and
  // INVALID_ARGUMENT if the path is too long for a Unix socket.
  static absl::StatusOr<NodeFolder> Open(const std::string& dir, double lock_wait_seconds);

  // `dir()` is the absolute path of the node's folder.
  const std::string& dir() const { return dir_; }
  const std::string& incarnation() const { return incarnation_; }
  // Returns a name for the node's folder in this boot of the machine. Two agents that hold their locks at once have
  // different names, even if one folder is a copy of the other. The name is empty if the boot is not known.
  const std::string& home() const { return home_; }
  std::string AgentSocket() const { return dir_ + "/agent.sock"; }
  std::string CheckpointSocket() const { return dir_ + "/checkpoint.sock"; }
  std::string ClusterFile() const { return dir_ + "/cluster"; }
  std::string GpusFile() const { return dir_ + "/gpus"; }
  // AloneFile() is the path of the file that holds the text of Alone::Text() (alone.h).
  std::string AloneFile() const { return dir_ + "/alone"; }
  // Returns the cluster that the node obeys. Returns an empty KnownCluster if the file `cluster` is missing or empty,
  // and DATA_LOSS if no cluster can be read from its text.
  absl::StatusOr<common::KnownCluster> ReadCluster() const;
  std::string JobFile(const std::string& job_uid, int slot) const;
  std::string RecordFile(int slot) const;
  std::string RecordFolder() const { return dir_ + "/trainers"; }
  std::string AliveFolder() const { return dir_ + "/alive"; }
  std::string LastWordsFolder() const { return dir_ + "/last_words"; }
  std::string EndedFolder() const { return dir_ + "/ended"; }
  std::string LogFolder() const { return dir_ + "/logs"; }
  std::string WarmFolder() const { return dir_ + "/warm"; }
  // Returns the path of one trainer's log. `incarnation` is the last part of the trainer's name.
  std::string LogFile(const std::string& job_name, int slot, const std::string& incarnation) const;

  absl::Status MakeJobFolder(const std::string& job_uid) const;
  // Removes the job file of a slot, which has the job's secret, and the job's folder if that was its last file.
  void RemoveJobFile(const std::string& job_uid, int slot) const;

 private:
  NodeFolder() = default;
  std::string dir_;
  std::string incarnation_;
  std::string home_;
  common::UniqueFd lock_;
};

// Returns `bytes` random bytes in lower-case hex.
std::string RandomHex(int bytes);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_FOLDER_NODE_FOLDER_H_
