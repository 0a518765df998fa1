#include "coordinator/core/choices/precision.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/state/job_end.h"

namespace rekindle::core {
namespace {

using common::DeviceKind;
using common::Precision;

constexpr int kBf16Capability = 80;
constexpr int kFp16Capability = 70;

bool HasUnit(const v1::Device& device, const char* unit) {
  return std::find(device.units().begin(), device.units().end(), unit) != device.units().end();
}

// Returns why a job should not compute in `precision` on a CPU. The figures in the texts are those of
// docs/benchmarks.md#precision.
std::string CpuFlaw(const v1::Device& cpu, const std::string& precision) {
  if (common::PrecisionOf(precision) == Precision::kBf16) {
    if (HasUnit(cpu, "amx_bf16")) return "";
    if (HasUnit(cpu, "avx512_bf16")) return "without AMX a CPU is slower in BF16 than in FP32 on wide models";
    return "the CPU has no instructions for BF16: several times slower than FP32";
  }
  return HasUnit(cpu, "avx512_fp16") ? "" : "the CPU has no instructions for FP16: about ten times slower than FP32";
}

std::string CudaFlaw(const v1::Device& gpu, const std::string& precision) {
  const bool bf16 = common::PrecisionOf(precision) == Precision::kBf16;
  const int needed = bf16 ? kBf16Capability : kFp16Capability;
  if (gpu.compute_capability() >= needed) return "";
  return absl::StrCat("the GPU is sm_", gpu.compute_capability(), ", which has no units for ", precision, ": sm_",
                      needed, " or newer has");
}

// Returns why the first unfit node is not fit for the precision, as in "node a: ...". Returns an empty string where all
// nodes are fit.
std::string FirstFlaw(const std::vector<std::pair<std::string, v1::Device>>& nodes, const std::string& precision) {
  for (const auto& [name, device] : nodes) {
    const std::string flaw = PrecisionFlaw(device, precision);
    if (!flaw.empty()) return absl::StrCat("node ", name, ": ", flaw);
  }
  return "";
}

}  // namespace

std::string PrecisionFlaw(const v1::Device& device, const std::string& precision) {
  if (common::PrecisionOf(precision) == Precision::kFp32) return "";
  switch (common::DeviceKindOf(device.kind())) {
    case DeviceKind::kCpu:
      return CpuFlaw(device, precision);
    case DeviceKind::kGpu:
      return CudaFlaw(device, precision);
    case DeviceKind::kOther:
      break;
  }
  return "it is not known what its device can do";
}

PrecisionChoice ChoosePrecision(const std::vector<std::pair<std::string, v1::Device>>& nodes) {
  const std::string bf16 = FirstFlaw(nodes, WordOf(Precision::kBf16));
  if (bf16.empty())
    return {Precision::kBf16, "bf16: every node at hand has units for it, and it needs no loss scaling"};
  const bool gpus = std::all_of(nodes.begin(), nodes.end(), [](const auto& node) {
    return common::DeviceKindOf(node.second.kind()) == DeviceKind::kGpu;
  });
  if (gpus && FirstFlaw(nodes, WordOf(Precision::kFp16)).empty()) {
    return {Precision::kFp16, absl::StrCat("fp16, with loss scaling: ", bf16)};
  }
  return {Precision::kFp32, absl::StrCat("fp32: ", bf16)};
}

std::string UnfitPrecision(const State& state, const v1::JobSpec& spec) {
  const std::string& asked = spec.training().precision();
  const bool any = asked.empty() || common::PrecisionOf(asked) == Precision::kAuto;
  const std::string flaw = any ? "" : FirstFlaw(UsableNodes(state, spec), asked);
  if (flaw.empty()) return "";
  return absl::StrCat("spec.training.precision: the nodes are not fit for ", asked, " (", flaw, "); use auto or fp32");
}

void ResolvePrecision(Turn& turn, Job& job) {
  if (job.precision_checked || IsOver(job)) return;
  const std::string& asked = SpecOf(job).training().precision();
  // No check is needed for FP32, as every node is fit for it.
  if (asked.empty() || common::PrecisionOf(asked) == Precision::kFp32) {
    job.precision_checked = true;
    return;
  }
  const auto nodes = UsableNodes(turn.state, SpecOf(job));
  if (nodes.empty()) return;
  job.precision_checked = true;
  if (common::PrecisionOf(asked) == Precision::kAuto) {
    const PrecisionChoice choice = ChoosePrecision(nodes);
    MutableSpec(job)->mutable_training()->set_precision(WordOf(choice.precision));
    turn.Emit(&job, "precision", absl::StrCat("precision auto is ", choice.reason));
    turn.Save(job);
    turn.Changed(job);
    return;
  }
  // A job that has a generation already was warned about its precision before the coordinator was restarted.
  if (job.record.membership().generation() > 0) return;
  const std::string text = UnfitPrecision(turn.state, SpecOf(job));
  if (text.empty()) return;
  if (!turn.state.tunables.refuse_unfit_precision) return turn.Emit(&job, "precision_warning", text);
  EndJob(turn, job, v1::FAILED, "failed", text);
}

}  // namespace rekindle::core
