#include "kernels/optimizers/update.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/vector/bfloat16_element.h"
#include "kernels/vector/half_element.h"

namespace rekindle::kernels {
namespace {

// Arrays are updated in parts of `kPart` elements, so that values that are not kept, and weights that are rounded, stay
// in the processor's cache.
constexpr size_t kPart = 4096;

void UpdateInPlace(const RekindleUpdate& update) {
  switch (update.optimizer) {
#define REKINDLE_CASE(Name) \
  case kRekindle##Name:     \
    return Update##Name(update);
    REKINDLE_ELEMENTWISE_OPTIMIZERS(REKINDLE_CASE)
#undef REKINDLE_CASE
  }
}

// Returns where the new values of a part are computed, which holds the old ones.
float* Begin(const float* old, float* kept, size_t at, size_t n, float* scratch) {
  if (old == nullptr) return nullptr;
  float* values = kept == nullptr ? scratch : kept + at;
  if (values != old + at) std::memcpy(values, old + at, n * sizeof(float));
  return values;
}

}  // namespace

void Update(const RekindleUpdate& update) {
  std::array<std::array<float, kPart>, 3> scratch;
  const bool in_place = update.new_weights == update.weights && update.new_first_moment == update.first_moment &&
                        update.new_second_moment == update.second_moment;
  const bool rounds = update.bf16 != nullptr || update.fp16 != nullptr;
  if (in_place && !rounds) return UpdateInPlace(update);
  for (size_t at = 0; at < update.n; at += kPart) {
    RekindleUpdate part = update;
    part.n = std::min(kPart, update.n - at);
    if (part.fixed != nullptr) part.fixed += at;
    if (part.values != nullptr) part.values += at;
    part.new_weights = Begin(update.weights, update.new_weights, at, part.n, scratch[0].data());
    part.new_first_moment = Begin(update.first_moment, update.new_first_moment, at, part.n, scratch[1].data());
    part.new_second_moment = Begin(update.second_moment, update.new_second_moment, at, part.n, scratch[2].data());
    UpdateInPlace(part);
    for (size_t i = 0; update.bf16 != nullptr && i < part.n; ++i) {
      update.bf16[at + i] = common::ToBf16(part.new_weights[i]);
    }
    for (size_t i = 0; update.fp16 != nullptr && i < part.n; ++i) {
      update.fp16[at + i] = ToFp16(part.new_weights[i]);
    }
  }
}

}  // namespace rekindle::kernels
