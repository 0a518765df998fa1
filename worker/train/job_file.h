// What the agent hands to a trainer: a file with the job's resolved spec and its secret.
#ifndef REKINDLE_WORKER_TRAIN_JOB_FILE_H_
#define REKINDLE_WORKER_TRAIN_JOB_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/retention.h"
#include "common/cluster_identity.h"
#include "worker/data/open_data.h"
#include "worker/models/registry.h"
#include "worker/train/spec.h"

namespace rekindle::train {

struct TrainerJob {
  std::string uid;
  std::string name;
  std::string secret;
  common::ClusterIdentity wanted_by;
  TrainSpec spec;
  std::string spec_digest;  // XXH3-128 of all that the result depends on.
  models::ModelSpec model;
  std::string weights;  // A safetensors set to start from; empty: the seed decides.
  std::string weights_digest;
  data::DataSpec data;
  std::string store;
  checkpoint::Retention retention;
  int threads = 1;
  int micro_batch_at_most = 0;  // Where spec.micro_batch is 0, still to be found; 0: the whole batch.
};

// A serialized v1.DesiredTrainer of at most 1 MiB. Errors name the file: NOT_FOUND, INVALID_ARGUMENT. `micro_batch`:
// what it is to be; 0: what the file says, which may be 0, too.
absl::StatusOr<TrainerJob> LoadJobFile(const std::string& path, int micro_batch = 0);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_JOB_FILE_H_
