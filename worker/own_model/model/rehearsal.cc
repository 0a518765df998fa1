#include "worker/own_model/model/rehearsal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/digest/hash.h"
#include "common/log/log.h"
#include "common/text/printable.h"

namespace rekindle::own_model {
namespace {

// What a micro-batch gave. `gradients` has for each parameter and buffer the digest of what was delivered, or an empty
// text if nothing was.
struct Played {
  train::LossSum loss;
  std::vector<std::string> gradients;
};

// Plays micro-batch `index` of the first step.
absl::StatusOr<Played> Play(OwnModel& model, const RehearsalOptions& options, int index) {
  Played played;
  played.gradients.resize(model.layout().parameters.size());
  const auto sink = [&](int parameter, std::span<const float> gradient) {
    played.gradients[static_cast<size_t>(parameter)] = common::Xxh3_128Hex(gradient.data(), gradient.size_bytes());
  };
  const int count = std::min(options.samples, static_cast<int>(kMaxSamples));
  const int64_t first = static_cast<int64_t>(index) * count;
  train::MicroBatch batch{.index = index, .first = first, .sequences = count};
  for (int64_t n = first; n < first + count; ++n) batch.samples.push_back(n % model.description().samples);
  const absl::StatusOr<train::LossSum> loss = model.Backward(batch, {.seed = options.seed, .step = 0}, 1, sink);
  // Whether two processes agree is found out when none of them dies.
  if (absl::IsAborted(loss.status())) return absl::UnavailableError(loss.status().message());
  if (!loss.ok()) return loss.status();
  if (std::isnan(loss->sum)) {
    return absl::InvalidArgumentError(
        "the loss is NaN in one of the first micro-batches; look for a division by 0, a logarithm of 0, or NaN in the "
        "data");
  }
  played.loss = *loss;
  return played;
}

std::string TextOf(const train::LossSum& loss) {
  return absl::StrCat(std::bit_cast<uint64_t>(loss.sum), "/", loss.count, "/", loss.whole_buffers);
}

std::string TextOf(const Played& played) {
  return absl::StrCat(TextOf(played.loss), "\n", absl::StrJoin(played.gradients, "\n"));
}

// Names what two processes have computed differently, or returns an empty string.
std::string DifferenceOf(const train::ParameterLayout& layout, const Played& one, const Played& other) {
  for (size_t p = 0; p < layout.parameters.size(); ++p) {
    if (one.gradients[p] == other.gradients[p]) continue;
    const train::ParameterInfo& info = layout.parameters[p];
    return absl::StrCat(info.is_buffer() ? "the new value of the buffer " : "the gradient of ",
                        common::Printable(info.name));
  }
  return TextOf(one.loss) == TextOf(other.loss) ? "" : "the loss, its count, or a buffer of whole numbers";
}

// The first process computes two micro-batches, and the second one begins with the latter of them. So the comparison
// also finds what a micro-batch leaves behind for the next one in the same process.
absl::StatusOr<std::string> Compare(OwnModel& model, const RehearsalOptions& options) {
  const absl::StatusOr<Played> before = Play(model, options, 0);
  if (!before.ok()) return before.status();
  const absl::StatusOr<Played> first = Play(model, options, 1);
  if (!first.ok()) return first.status();
  if (absl::Status renewed = model.Renew(); !renewed.ok()) return renewed;
  const absl::StatusOr<Played> second = Play(model, options, 1);
  if (!second.ok()) return second.status();
  const std::string difference = DifferenceOf(model.layout(), *first, *second);
  if (!difference.empty()) {
    const std::string text = absl::StrCat(
        "a process computed a micro-batch after another one, a fresh process computed it at once, with the same "
        "weights, and ",
        difference,
        " differs; see that forward, loss and data keep nothing from one micro-batch for the next one, as a counter, a "
        "tensor that is no buffer, or lru_cache does, that all they draw follows from the seeds of torch, numpy and "
        "random, and that they use no clock and no os.urandom; rekindle validate --twice names the cause");
    if (options.exact) {
      return absl::InvalidArgumentError(absl::StrCat(text, "; or set training.reduce to fp32, which asks for less"));
    }
    log::Warning(text);
  }
  return common::Xxh3_128Hex(absl::StrCat(TextOf(*before), "\n", TextOf(*first)));
}

}  // namespace

absl::StatusOr<std::string> Rehearse(OwnModel& model, const RehearsalOptions& options) {
  if (absl::Status bound = model.BindInitialWeights(); !bound.ok()) return bound;
  RehearsalOptions now = options;
  for (;; now.samples /= 2) {
    absl::StatusOr<std::string> digest = Compare(model, now);
    // The micro-batches will be halved when the job has begun, and that is how this lack of memory is told, too.
    const bool may_halve = now.samples > 1 && !model.description().couples_samples;
    if (!absl::IsResourceExhausted(digest.status()) || !may_halve) return digest;
    log::Warning("there is no memory for a rehearsal with so many samples",
                 {{"samples", now.samples}, {"why", std::string(digest.status().message())}});
    if (absl::Status renewed = model.Renew(); !renewed.ok()) return renewed;
  }
}

}  // namespace rekindle::own_model
