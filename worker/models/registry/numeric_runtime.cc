#include "worker/models/registry/numeric_runtime.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <malloc.h>
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "worker/models/declared/model_kind.h"
#include "worker/numeric/random.h"

namespace rekindle::models {
namespace {

constexpr uint64_t kProbeSeed = 20;
// The probe of the arithmetic makes at most `kProbeOperations` floating-point operations, which take about 50 ms on one
// core.
constexpr double kProbeOperations = 2e9;

// malloc keeps freed blocks below `kKeepBelowBytes`, which is the largest mmap threshold that glibc accepts.
constexpr int kKeepBelowBytes = 32 << 20;

// The ids of the probe's tokens are below `kProbeIds`, or below the vocabulary if that is smaller.
constexpr int kProbeIds = 256;

// Makes samples for the probe, whose features come from integer arithmetic alone.
train::MicroBatch ProbeSamples(int samples, int features) {
  train::MicroBatch batch{.sequences = samples};
  for (int i = 0; i < samples * features; ++i) {
    batch.features.push_back(static_cast<float>(RandomKeyOf({kProbeSeed, static_cast<uint64_t>(i)}) % 256) / 128 - 1);
  }
  batch.targets.assign(samples, 0);
  return batch;
}

// Makes the micro-batch of the probe by which nodes compare their arithmetic. It is so small that the probe takes at
// most `kProbeOperations` operations.
train::MicroBatch ProbeBatch(const ModelKind& kind, const ModelSpec& spec, int sequences) {
  if (kind.values != nullptr) return ProbeSamples(std::min(sequences, kind.probe_samples), kind.values(spec));
  double width = spec.width;
  double per_token = 6 * (12 * width * width + 256 * width);
  int tokens = static_cast<int>(std::clamp(kProbeOperations / per_token, 16.0, 65536.0));
  train::MicroBatch batch;
  batch.context = std::clamp(spec.context, 1, tokens);
  batch.sequences = std::clamp(tokens / batch.context, 1, std::max(1, sequences));
  batch.tokens.resize(static_cast<size_t>(batch.sequences) * (batch.context + 1));
  const int ids = spec.vocabulary > 0 ? std::min(spec.vocabulary, kProbeIds) : kProbeIds;
  for (size_t i = 0; i < batch.tokens.size(); ++i) {
    batch.tokens[i] = static_cast<uint16_t>(static_cast<uint8_t>(RandomKeyOf({kProbeSeed, i})) % ids);
  }
  return batch;
}

}  // namespace

void PinThreads(int threads) {
  // Each micro-batch frees and allocates blocks of the same sizes. If malloc keeps them, they cause no page faults.
  mallopt(M_MMAP_THRESHOLD, kKeepBelowBytes);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  at::set_num_threads(threads);
  at::set_num_interop_threads(1);
  at::globalContext().setFlushDenormal(false);
}

absl::StatusOr<std::string> ProbeDigest(const ModelSpec& spec, int sequences) {
  if (auto checked = MakeModel(spec); !checked.ok()) return checked.status();
  ModelSpec probe = spec;
  probe.layers = std::min(spec.layers, 1);
  probe.dropout = 0;
  train::MicroBatch batch = ProbeBatch(*FindModel(spec.kind), probe, sequences);
  if (batch.context > 0) probe.context = batch.context;
  absl::StatusOr<std::unique_ptr<train::Model>> model = MakeModel(probe);
  if (!model.ok()) return model.status();
  const at::Device here = spec.device == ComputeDevice::kCuda ? at::kCUDA : at::kCPU;
  at::Tensor weights = at::empty({(*model)->layout().total}, at::kFloat);
  const absl::Status initialized =
      (*model)->Initialize(kProbeSeed, {weights.mutable_data_ptr<float>(), static_cast<size_t>(weights.numel())});
  if (!initialized.ok()) return initialized;
  weights = weights.to(here);
  (*model)->BindWeights(weights.mutable_data_ptr<float>());

  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(hash.get());
  const auto on_host = [&](std::span<const float> values) {
    return at::from_blob(const_cast<float*>(values.data()), {static_cast<int64_t>(values.size())},
                         at::TensorOptions(at::kFloat).device(here))
        .to(at::kCPU);
  };
  auto sink = [&](int parameter, std::span<const float> gradient) {
    XXH3_128bits_update(hash.get(), &parameter, sizeof(parameter));
    const at::Tensor values = on_host(gradient);
    XXH3_128bits_update(hash.get(), values.const_data_ptr(), values.nbytes());
  };
  absl::StatusOr<train::LossSum> loss = (*model)->Backward(batch, {}, 1, sink);
  if (!loss.ok()) return loss.status();
  if (loss->on_device != nullptr) loss->sum = *on_host({loss->on_device, 1}).const_data_ptr<float>();
  XXH3_128bits_update(hash.get(), &loss->sum, sizeof(loss->sum));
  XXH128_hash_t digest = XXH3_128bits_digest(hash.get());
  return absl::StrCat(absl::Hex(digest.high64, absl::kZeroPad16), absl::Hex(digest.low64, absl::kZeroPad16));
}

}  // namespace rekindle::models
