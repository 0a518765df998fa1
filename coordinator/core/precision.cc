#include "coordinator/core/precision.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/forming.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr int kBf16Capability = 80;
constexpr int kFp16Capability = 70;

bool HasUnit(const v1::Device& device, const char* unit) {
  return std::find(device.units().begin(), device.units().end(), unit) != device.units().end();
}

// The figures are those of docs/benchmarks.md#precision.
std::string CpuFlaw(const v1::Device& cpu, const std::string& precision) {
  if (precision == "bf16") {
    if (HasUnit(cpu, "amx_bf16")) return "";
    if (HasUnit(cpu, "avx512_bf16")) return "without AMX a CPU is slower in BF16 than in FP32 on wide models";
    return "the CPU has no instructions for BF16: several times slower than FP32";
  }
  return HasUnit(cpu, "avx512_fp16") ? "" : "the CPU has no instructions for FP16: about ten times slower than FP32";
}

std::string CudaFlaw(const v1::Device& gpu, const std::string& precision) {
  const int needed = precision == "bf16" ? kBf16Capability : kFp16Capability;
  if (gpu.compute_capability() >= needed) return "";
  return absl::StrCat("the GPU is sm_", gpu.compute_capability(), ", which has no units for ", precision, ": sm_",
                      needed, " or newer has");
}

// The first node that has one: "node a: ...".
std::string FirstFlaw(const std::vector<std::pair<std::string, v1::Device>>& nodes, const std::string& precision) {
  for (const auto& [name, device] : nodes) {
    const std::string flaw = PrecisionFlaw(device, precision);
    if (!flaw.empty()) return absl::StrCat("node ", name, ": ", flaw);
  }
  return "";
}

}  // namespace

std::string PrecisionFlaw(const v1::Device& device, const std::string& precision) {
  if (precision == "fp32") return "";
  if (device.kind() == "cpu") return CpuFlaw(device, precision);
  if (device.kind() == "cuda") return CudaFlaw(device, precision);
  return "it is not known what its device can do";
}

PrecisionChoice ChoosePrecision(const std::vector<std::pair<std::string, v1::Device>>& nodes) {
  const std::string bf16 = FirstFlaw(nodes, "bf16");
  if (bf16.empty()) return {"bf16", "bf16: every node at hand has units for it, and it needs no loss scaling"};
  const bool gpus = std::all_of(nodes.begin(), nodes.end(), [](const auto& n) { return n.second.kind() == "cuda"; });
  if (gpus && FirstFlaw(nodes, "fp16").empty()) return {"fp16", absl::StrCat("fp16, with loss scaling: ", bf16)};
  return {"fp32", absl::StrCat("fp32: ", bf16)};
}

std::string UnfitPrecision(const State& state, const v1::JobSpec& spec) {
  const std::string& asked = spec.training().precision();
  const std::string flaw = asked.empty() || asked == "auto" ? "" : FirstFlaw(UsableNodes(state, spec), asked);
  if (flaw.empty()) return "";
  return absl::StrCat("spec.training.precision: the nodes are not fit for ", asked, " (", flaw, "); use auto or fp32");
}

void SettlePrecision(Turn& turn, Job& job) {
  if (job.precision_settled || IsOver(job)) return;
  const std::string& asked = SpecOf(job).training().precision();
  if (asked.empty() || asked == "fp32") {  // Fit for every node.
    job.precision_settled = true;
    return;
  }
  const auto nodes = UsableNodes(turn.state, SpecOf(job));
  if (nodes.empty()) return;
  job.precision_settled = true;
  if (asked == "auto") {
    const PrecisionChoice choice = ChoosePrecision(nodes);
    MutableSpec(job)->mutable_training()->set_precision(choice.precision);
    turn.Emit(&job, "precision", absl::StrCat("precision auto is ", choice.reason));
    job.must_save = true;
    Touch(job);
    return;
  }
  if (job.record.membership().generation() > 0) return;  // Said before the coordinator was restarted.
  const std::string text = UnfitPrecision(turn.state, SpecOf(job));
  if (text.empty()) return;
  if (!turn.state.tunables.refuse_unfit_precision) return turn.Emit(&job, "precision_warning", text);
  EndJob(turn, job, v1::FAILED, "failed", text);
}

}  // namespace rekindle::core
