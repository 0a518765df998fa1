// Finds the GPUs of this machine with `nvidia-smi`.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_GPUS_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_GPUS_H_

#include <string>

namespace rekindle::agent {

struct Gpus {
  int count = 0;
  // `compute_capability` is the lowest of all GPUs of the machine, such as 90 for sm_90.
  int compute_capability = 0;
  // `memory_bytes` is the memory of the GPU that has the least.
  double memory_bytes = 0;
};

// Parses lines of `nvidia-smi` such as "9.0, 143771": the compute capability and the memory in MiB. Lines of another
// form are ignored.
Gpus ParseGpus(const std::string& text);

// Runs `nvidia-smi`. Returns no GPUs if the program is not there or does not answer in 10 s. This call blocks.
Gpus FindGpus();

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_GPUS_H_
