#include "worker/agent/program/node_gpus.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/log/log.h"
#include "common/process/process.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/trainers/gpu_slots.h"
#include "worker/gpus/find_gpus.h"

namespace rekindle::agent {
namespace {

constexpr size_t kMaxFileBytes = 256 << 10;

// Returns what the remembered GPUs hold for: this boot of the machine, and the GPUs that the worker may use.
std::string Occasion() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return absl::StrCat(common::BootId(), " ", visible == nullptr ? "all" : absl::StrCat("of ", visible));
}

// Returns the GPUs that an agent of this folder has found before. The file has the occasion in its first line, and the
// list in the second.
std::vector<gpus::Gpu> Remembered(const NodeFolder& folder) {
  const absl::StatusOr<std::string> text = ReadSmallFile(folder.GpusFile(), kMaxFileBytes);
  if (!text.ok()) return {};
  const std::pair<std::string, std::string> lines = absl::StrSplit(*text, absl::MaxSplits('\n', 1));
  if (lines.first != Occasion()) return {};
  return gpus::GpusFromJson(lines.second).value_or(std::vector<gpus::Gpu>());
}

void Remember(const NodeFolder& folder, const std::vector<gpus::Gpu>& gpus) {
  const absl::Status written = ReplaceFile(folder.GpusFile(), absl::StrCat(Occasion(), "\n", gpus::ToJson(gpus), "\n"));
  if (written.ok()) return;
  log::Warning("the node's GPUs could not be written down", {{"error", std::string(written.message())}});
}

std::vector<gpus::Gpu> FindOrRemember(const NodeFolder& folder, const AgentOptions& options) {
  absl::StatusOr<std::vector<gpus::Gpu>> found = AskForGpus(options);
  std::vector<gpus::Gpu> known = Remembered(folder);
  if (found.ok()) {
    std::vector<gpus::Gpu> gpus = MergeGpus(known, *std::move(found));
    Remember(folder, gpus);
    return gpus;
  }
  const std::string problem(found.status().message());
  log::Error("the driver of the GPUs does not work: their slots are out of use", {{"why", problem}});
  if (known.empty()) known.resize(static_cast<size_t>(std::max(1, options.slots / options.gpu_share)));
  for (gpus::Gpu& gpu : known) gpu.problem = problem;
  return known;
}

std::string Counted(int number, const std::string& thing) {
  return absl::StrCat(number, " ", thing, number == 1 ? "" : "s");
}

}  // namespace

absl::StatusOr<std::vector<gpus::Gpu>> AskForGpus(const AgentOptions& options) {
  constexpr int kFakeCapability = 90;
  if (options.device == kFakeDevices) {
    return std::vector<gpus::Gpu>{{.uuid = "fake",
                                   .compute_capability = kFakeCapability,
                                   .memory_bytes = static_cast<double>(options.memory_bytes)}};
  }
  if (options.device == kNoGpus) return std::vector<gpus::Gpu>();
  return gpus::FindGpus(OwnProgram());
}

absl::Status SettleGpus(const NodeFolder& folder, AgentOptions& options) {
  options.gpus = options.device == kAnyGpus ? FindOrRemember(folder, options)
                                            : AskForGpus(options).value_or(std::vector<gpus::Gpu>());
  const int gpus = static_cast<int>(options.gpus.size());
  const int room = gpus * options.gpu_share;
  if (options.slots == 0) {
    options.slots = std::clamp(room, 1, kMaxSlots);
  } else if (gpus > 0 && options.slots > room) {
    return absl::InvalidArgumentError(
        absl::StrCat("--slots ", options.slots, ": this machine has ", Counted(gpus, "GPU"), " with room for ",
                     Counted(options.gpu_share, "trainer"),
                     " each; give --gpu-share to let more trainers share a GPU, or --device cpu to use no GPU"));
  }
  return absl::OkStatus();
}

}  // namespace rekindle::agent
