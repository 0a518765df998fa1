#include "worker/agent/trainers/gpu_slots.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "common/text/printable.h"

namespace rekindle::agent {
namespace {

constexpr size_t kLongestName = 100;
// The kernels are compiled for this compute capability and later ones.
constexpr int kLeastCapability = 90;

// Removes the entry of this UUID from the list and returns it. Returns a GPU without UUID if there is none.
gpus::Gpu TakeNamed(const std::string& uuid, std::vector<gpus::Gpu>& listed) {
  const auto found = std::find_if(listed.begin(), listed.end(), [&](const gpus::Gpu& gpu) { return gpu.uuid == uuid; });
  if (found == listed.end()) return {};
  gpus::Gpu gpu = std::move(*found);
  listed.erase(found);
  return gpu;
}

SlotFault ProblemOf(const gpus::Gpu& gpu) {
  const auto by_driver = [](std::string words) { return SlotFault{.words = std::move(words), .driver_says_so = true}; };
  if (!gpu.problem.empty()) return by_driver(common::Printable(gpu.problem, common::kLongestLastWords));
  if (gpu.uuid.empty()) return by_driver("the driver does not tell its UUID");
  if (gpu.memory_bytes <= 0) return by_driver("the driver does not tell how much memory it has");
  if (gpu.compute_capability == 0 || gpu.compute_capability >= kLeastCapability) return {};
  // Another machine of the same kind would not help.
  return {.words = absl::StrCat("it is of sm_", gpu.compute_capability, ", and trainers need a GPU of sm_",
                                kLeastCapability, " or later")};
}

}  // namespace

std::vector<gpus::Gpu> MergeGpus(const std::vector<gpus::Gpu>& known, std::vector<gpus::Gpu> listed) {
  std::vector<gpus::Gpu> merged = known;
  std::vector<gpus::Gpu*> missing;
  for (gpus::Gpu& gpu : merged) {
    gpus::Gpu same = gpu.uuid.empty() ? gpus::Gpu() : TakeNamed(gpu.uuid, listed);
    if (same.uuid.empty()) {
      missing.push_back(&gpu);
    } else {
      gpu = std::move(same);
    }
  }
  for (gpus::Gpu* gpu : missing) {
    // A GPU that never told its UUID may be any that is listed and not known. Another one is not listed by its UUID.
    const auto other = std::find_if(listed.begin(), listed.end(),
                                    [&](const gpus::Gpu& one) { return gpu->uuid.empty() || one.uuid.empty(); });
    if (other == listed.end()) {
      gpu->problem = "the driver does not list it any more";
    } else {
      const std::string uuid = gpu->uuid;
      *gpu = std::move(*other);
      if (gpu->uuid.empty()) gpu->uuid = uuid;
      listed.erase(other);
    }
  }
  merged.insert(merged.end(), listed.begin(), listed.end());
  return merged;
}

SlotDevice GpuSlots::DeviceOf(int slot) const {
  if (gpus_.empty()) return {};
  const gpus::Gpu& gpu = gpus_[static_cast<size_t>(slot) % gpus_.size()];
  return {.kind = fake_ ? "fake" : "cuda", .uuid = fake_ ? "" : gpu.uuid, .memory_bytes = gpu.memory_bytes / share_};
}

void GpuSlots::Take(const std::vector<gpus::Gpu>& listed) {
  std::vector<gpus::Gpu> merged = MergeGpus(gpus_, listed);
  // Slots are made when the agent starts, so a GPU that was added since has none.
  merged.resize(gpus_.size());
  gpus_ = std::move(merged);
}

std::map<int, SlotFault> GpuSlots::Problems() const {
  std::map<int, SlotFault> problems;
  for (int slot = 0; slot < slots_ && !gpus_.empty(); ++slot) {
    problems[slot] = ProblemOf(gpus_[static_cast<size_t>(slot) % gpus_.size()]);
  }
  return problems;
}

void GpuSlots::Report(v1::Device* device) const {
  if (gpus_.empty()) return;
  device->Clear();
  device->set_kind("cuda");
  device->set_is_fake(fake_);
  for (const gpus::Gpu& gpu : gpus_) {
    if (!ProblemOf(gpu).words.empty()) continue;
    const bool first = device->memory_bytes() == 0;
    const double bytes = gpu.memory_bytes / share_;
    const int capability = gpu.compute_capability;
    if (first || capability < device->compute_capability()) {
      device->set_name(common::Printable(gpu.name, kLongestName));
    }
    device->set_compute_capability(first ? capability : std::min(device->compute_capability(), capability));
    device->set_memory_bytes(first ? bytes : std::min(device->memory_bytes(), bytes));
  }
}

}  // namespace rekindle::agent
