#include "worker/gpus/visible_gpus.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace rekindle::gpus {
namespace {

// Returns the GPU or part whose UUID begins with `prefix`, or null if there is none or more than one.
const Gpu* FindByUuid(const std::vector<Gpu>& all, absl::string_view prefix) {
  const Gpu* found = nullptr;
  int fitting = 0;
  const auto look_at = [&](const Gpu& gpu) {
    if (!absl::StartsWith(gpu.uuid, prefix)) return;
    found = &gpu;
    ++fitting;
  };
  for (const Gpu& gpu : all) {
    look_at(gpu);
    for (const Gpu& part : gpu.parts) look_at(part);
  }
  return fitting == 1 ? found : nullptr;
}

bool IsUuid(absl::string_view entry) { return absl::StartsWith(entry, "GPU-") || absl::StartsWith(entry, "MIG-"); }

const Gpu* Find(const std::vector<Gpu>& all, absl::string_view entry) {
  if (IsUuid(entry)) return FindByUuid(all, entry);
  int number = -1;
  if (!absl::SimpleAtoi(entry, &number) || number < 0 || number >= static_cast<int>(all.size())) return nullptr;
  return &all[static_cast<size_t>(number)];
}

}  // namespace

VisibleGpus SelectGpus(const std::vector<Gpu>& all, const std::optional<std::string>& variable) {
  VisibleGpus visible;
  if (!variable) {
    for (const Gpu& gpu : all) {
      if (gpu.parts.empty()) visible.gpus.push_back(gpu);
      visible.gpus.insert(visible.gpus.end(), gpu.parts.begin(), gpu.parts.end());
    }
    return visible;
  }
  for (const absl::string_view text : absl::StrSplit(*variable, ',')) {
    const absl::string_view entry = absl::StripAsciiWhitespace(text);
    const Gpu* gpu = Find(all, entry);
    if (gpu == nullptr) {
      // The value -1 is the usual way to select no GPU, so it is not worth a warning.
      if (!entry.empty() && entry != "-1") visible.unknown = std::string(entry);
      return visible;
    }
    // CUDA takes the first part of a partitioned GPU that is selected as a whole.
    if (!gpu->parts.empty()) gpu = &gpu->parts.front();
    if (std::find(visible.gpus.begin(), visible.gpus.end(), *gpu) == visible.gpus.end()) visible.gpus.push_back(*gpu);
  }
  return visible;
}

bool NumbersAreCudas(const std::vector<Gpu>& all, const std::optional<std::string>& variable,
                     const std::string& order) {
  if (!variable || order == "PCI_BUS_ID") return false;
  // A GPU that does not work has no kind, and CUDA does not list it.
  std::set<std::pair<int, double>> kinds;
  for (const Gpu& gpu : all) {
    if (gpu.problem.empty()) kinds.emplace(gpu.compute_capability, gpu.memory_bytes);
  }
  const std::vector<absl::string_view> entries = absl::StrSplit(*variable, ',');
  return kinds.size() > 1 && std::any_of(entries.begin(), entries.end(), [](absl::string_view text) {
           int number = -1;
           return absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &number) && number >= 0;
         });
}

}  // namespace rekindle::gpus
