// Parts of a trainer that its trials of micro-batch sizes have in common with it.
#ifndef REKINDLE_WORKER_TRAIN_TRAINER_PARTS_H_
#define REKINDLE_WORKER_TRAIN_TRAINER_PARTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/comm/host_communicator.h"
#include "worker/data/open_data.h"
#include "worker/train/engine.h"
#include "worker/train/job_file.h"

namespace rekindle::train {

// The job's data, with at most as many validation micro-batches as its spec says. `dir`: the node's folder.
absl::StatusOr<data::OpenedData> OpenJobData(const TrainerJob& job, const std::string& dir);

// `listener` outlives all that it connects.
Connect ConnectOver(comm::Listener& listener);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TRAINER_PARTS_H_
