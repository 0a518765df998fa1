// Declares how a trainer identifies itself to its coordinator, and which cluster's coordinator it obeys.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_TRAINER_IDENTITY_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_TRAINER_IDENTITY_H_

#include <string>

#include "common/agreed/cluster_identity.h"

namespace rekindle::train {

struct TrainerIdentity {
  std::string job_uid;
  std::string trainer;
  std::string node;
  std::string job_secret;
  // `address` is the address of the trainer's data-plane listener.
  std::string address;
  std::string host;
  // `obeys` is the cluster whose coordinator had this trainer started. The trainer obeys no other cluster's
  // coordinator.
  common::ClusterIdentity obeys;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_TRAINER_IDENTITY_H_
