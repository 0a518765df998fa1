#include "worker/gpus/find_gpus.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/process/command.h"
#include "worker/gpus/cuda_driver.h"
#include "worker/gpus/nvml.h"
#include "worker/gpus/visible_gpus.h"

namespace rekindle::gpus {
namespace {

constexpr char kVariable[] = "CUDA_VISIBLE_DEVICES";
constexpr double kMostBytes = 1e15;
constexpr int kMostCapability = 1000;
constexpr size_t kMaxOutputBytes = 64 << 10;

std::optional<Gpu> GpuFromJson(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  try {
    Gpu gpu{.uuid = json.at("uuid").get<std::string>(),
            .name = json.value("name", ""),
            .compute_capability = json.at("compute_capability").get<int>(),
            .memory_bytes = json.at("memory_bytes").get<double>(),
            .problem = json.at("problem").get<std::string>()};
    const bool sound = gpu.compute_capability >= 0 && gpu.compute_capability < kMostCapability &&
                       gpu.memory_bytes >= 0 && gpu.memory_bytes < kMostBytes;
    return sound ? std::optional<Gpu>(std::move(gpu)) : std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string ToJson(const absl::StatusOr<std::vector<Gpu>>& gpus) {
  auto list = nlohmann::json::array();
  for (const Gpu& gpu : gpus.value_or(std::vector<Gpu>())) {
    list.push_back({{"uuid", gpu.uuid},
                    {"name", gpu.name},
                    {"compute_capability", gpu.compute_capability},
                    {"memory_bytes", gpu.memory_bytes},
                    {"problem", gpu.problem}});
  }
  const bool works = gpus.ok() || absl::IsNotFound(gpus.status());
  const nlohmann::json all = {{"gpus", list}, {"problem", works ? "" : std::string(gpus.status().message())}};
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<std::vector<Gpu>> GpusFromJson(const std::string& json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto listed = parsed.is_object() ? parsed.find("gpus") : parsed.end();
  if (!parsed.is_object() || listed == parsed.end() || !listed->is_array()) {
    return absl::FailedPreconditionError("the question for GPUs was answered with something else than a list");
  }
  const auto problem = parsed.find("problem");
  if (problem != parsed.end() && problem->is_string() && !problem->get_ref<const std::string&>().empty()) {
    return absl::FailedPreconditionError(problem->get<std::string>());
  }
  std::vector<Gpu> gpus;
  for (const auto& entry : *listed) {
    if (std::optional<Gpu> gpu = GpuFromJson(entry)) gpus.push_back(*std::move(gpu));
  }
  return gpus;
}

absl::StatusOr<std::vector<Gpu>> AskDriver() {
  const absl::StatusOr<std::vector<Gpu>> all = AskNvml();
  if (absl::IsNotFound(all.status())) return AskCudaDriver();
  if (!all.ok()) return all;
  const char* value = std::getenv(kVariable);
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  const auto variable = value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  if (NumbersAreCudas(*all, variable, order != nullptr ? order : "")) {
    absl::StatusOr<std::vector<Gpu>> in_cudas_order = AskCudaDriver();
    if (in_cudas_order.ok()) return in_cudas_order;
    log::Warning(
        "CUDA_VISIBLE_DEVICES counts GPUs in an order that only CUDA knows, which does not answer: the driver's "
        "order is used",
        {{"why", std::string(in_cudas_order.status().message())}});
  }
  VisibleGpus visible = SelectGpus(*all, variable);
  if (!visible.unknown.empty()) {
    log::Warning("CUDA_VISIBLE_DEVICES names a GPU that this machine does not have: it and those after it are not used",
                 {{"name", visible.unknown}});
  }
  return std::move(visible.gpus);
}

int RunListGpus() {
  log::Init("rekindle-worker");
  std::printf("%s\n", ToJson(AskDriver()).c_str());
  return 0;
}

absl::StatusOr<std::vector<Gpu>> FindGpus(const std::string& program) {
  const auto json = common::RunCommand({.argv = {program, "gpus"},
                                        .environment = common::OwnEnvironment(),
                                        .limit_seconds = kDriverSeconds,
                                        .max_bytes = kMaxOutputBytes,
                                        .keep_stderr = true});
  if (json.ok()) return GpusFromJson(*json);
  return absl::FailedPreconditionError(
      absl::StrCat("the NVIDIA driver was asked for its GPUs: ", std::string(json.status().message())));
}

}  // namespace rekindle::gpus
