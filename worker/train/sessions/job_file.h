// Loads the job file that the agent hands to a trainer. The file has the job's resolved spec and its secret.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_JOB_FILE_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_JOB_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/format/retention.h"
#include "common/agreed/cluster_identity.h"
#include "worker/contract/spec.h"
#include "worker/data/opening/open_data.h"
#include "worker/models/registry/model_registry.h"

namespace rekindle::train {

struct TrainerJob {
  std::string uid;
  std::string name;
  std::string secret;
  common::ClusterIdentity wanted_by;
  TrainSpec spec;
  // `spec_digest` is the XXH3-128 of all that the result depends on.
  std::string spec_digest;
  models::ModelSpec model;
  // `weights` names a safetensors set with the weights to start from. If it is empty, the seed decides the initial
  // weights.
  std::string weights;
  std::string weights_digest;
  // `python` names the user's own model. `python.task` is empty for the other kinds.
  struct Python {
    std::string task, folder, interpreter;
    // `data_workers` is the number of processes that read the data. With 0 the task decides.
    int data_workers = 0;
    // `start_minutes` is how long the start of the model process, and its first micro-batch, may take. With 0 it is the
    // default.
    int start_minutes = 0;
    // `env_from` names variables whose values are in a file on the node.
    std::vector<std::string> env_from;
    // `bundle` is the address of the bundle with the code, which replaces `folder`. It may be empty.
    std::string bundle;
  };
  Python python;
  data::DataSpec data;
  std::string store;
  checkpoint::Retention retention;
  int threads = 1;
  // `micro_batch_at_most` limits the search for a micro-batch size, which happens if `spec.micro_batch` is 0. With 0
  // the limit is the whole batch.
  int micro_batch_at_most = 0;
};

// Reads a job from a file with a serialized v1.DesiredTrainer of at most 1 MiB. `micro_batch` replaces the micro-batch
// size in the file. With 0 the size stays as in the file, which may be 0 as well. The errors NOT_FOUND and
// INVALID_ARGUMENT name the file.
absl::StatusOr<TrainerJob> LoadJobFile(const std::string& path, int micro_batch = 0);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_JOB_FILE_H_
