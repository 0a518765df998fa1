#include "worker/agent/program/gpus.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/log/log.h"
#include "common/process/command.h"

namespace rekindle::agent {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kMostMiB = 1 << 26;
constexpr char kQuery[] =
    "command -v nvidia-smi >/dev/null || exit 0\n"
    "exec nvidia-smi --query-gpu=compute_cap,memory.total --format=csv,noheader,nounits 2>/dev/null";

}  // namespace

Gpus ParseGpus(const std::string& text) {
  Gpus gpus;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ',');
    double capability = 0, mebibytes = 0;
    if (parts.size() != 2 || !absl::SimpleAtod(parts[0], &capability) || !absl::SimpleAtod(parts[1], &mebibytes))
      continue;
    if (!(capability >= 1 && capability < 100 && mebibytes > 0 && mebibytes < kMostMiB)) continue;
    const int of_this = static_cast<int>(std::lround(capability * 10));
    gpus.compute_capability = gpus.count == 0 ? of_this : std::min(gpus.compute_capability, of_this);
    gpus.memory_bytes = gpus.count == 0 ? mebibytes * kMiB : std::min(gpus.memory_bytes, mebibytes * kMiB);
    ++gpus.count;
  }
  return gpus;
}

Gpus FindGpus() {
  const auto text = common::RunCommand({.argv = {"/bin/sh", "-c", kQuery}, .environment = common::OwnEnvironment()});
  if (!text.ok()) {
    log::Warning("nvidia-smi does not tell of GPUs: this node counts as one without",
                 {{"error", std::string(text.status().message())}});
  }
  return text.ok() ? ParseGpus(*text) : Gpus();
}

}  // namespace rekindle::agent
