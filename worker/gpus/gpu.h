// Describes the GPUs on which the trainers of a node compute.
#ifndef REKINDLE_WORKER_GPUS_GPU_H_
#define REKINDLE_WORKER_GPUS_GPU_H_

#include <string>
#include <vector>

namespace rekindle::gpus {

// Describes one GPU, or one part of a GPU that is partitioned (MIG).
struct Gpu {
  // `uuid` is the name by which CUDA selects the GPU, such as "GPU-1b2c..." or "MIG-1b2c...". It is empty if the driver
  // did not tell it.
  std::string uuid;
  // `name` is what the driver calls this kind of GPU, such as "NVIDIA H200". It may be empty.
  std::string name;
  // `compute_capability` is 90 for sm_90, and 0 if unknown.
  int compute_capability = 0;
  double memory_bytes = 0;
  // `problem` has the driver's words if the GPU cannot be used. It is empty for a healthy GPU.
  std::string problem;
  // `parts` lists the parts of a partitioned GPU. CUDA can then use the parts only.
  std::vector<Gpu> parts;

  bool operator==(const Gpu&) const = default;
};

}  // namespace rekindle::gpus

#endif  // REKINDLE_WORKER_GPUS_GPU_H_
