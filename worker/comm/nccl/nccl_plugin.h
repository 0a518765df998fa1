// Declares the table of NCCL's calls that is inside the CUDA plugin.
#ifndef REKINDLE_WORKER_COMM_NCCL_NCCL_PLUGIN_H_
#define REKINDLE_WORKER_COMM_NCCL_NCCL_PLUGIN_H_

#include "worker/comm/nccl/nccl_api.h"

namespace rekindle::comm {

extern const RekindleNcclApi kNcclApi;

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_NCCL_NCCL_PLUGIN_H_
