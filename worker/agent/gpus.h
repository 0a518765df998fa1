// The GPUs of this machine, as the driver's own tool tells them.
#ifndef REKINDLE_WORKER_AGENT_GPUS_H_
#define REKINDLE_WORKER_AGENT_GPUS_H_

#include <string>

namespace rekindle::agent {

struct Gpus {
  int count = 0;
  int compute_capability = 0;  // The least of them: 90 for sm_90.
  double memory_bytes = 0;     // Of the one with the least.
};

// Each line "9.0, 143771": compute capability and MiB. Lines of another form do not count.
Gpus ParseGpus(const std::string& text);

// Asks `nvidia-smi`; none where it is not there or does not answer in 10 s. Blocks.
Gpus FindGpus();

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_GPUS_H_
