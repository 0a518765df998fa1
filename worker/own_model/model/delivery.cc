#include "worker/own_model/model/delivery.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/text/printable.h"

namespace rekindle::own_model {

Delivery::Delivery(const train::ParameterLayout& layout, const train::GradientSink& sink, int index)
    : layout_(layout), sink_(sink), index_(index), named_(layout.parameters.size()), got_(layout.parameters.size()) {}

void Delivery::Restart() {
  named_.assign(named_.size(), false);
  difference_.clear();
}

absl::Status Delivery::Take(const Gradients& gradients, const std::shared_ptr<const GradientSlots>& slots, int slot) {
  if (gradients.parameters.empty()) return absl::InvalidArgumentError("the model process sent gradients of nothing");
  for (const uint32_t parameter : gradients.parameters) {
    const train::ParameterInfo& info = layout_.parameters[parameter];
    if (named_[parameter]) {
      return absl::InvalidArgumentError(
          absl::StrCat("the model process sent the gradient of ", common::Printable(info.name), " twice"));
    }
    named_[parameter] = true;
    const bool is_dropped = info.is_buffer() && (info.rule == train::BufferRule::kFrozen ||
                                                 (info.rule == train::BufferRule::kFirst && index_ != 0));
    if (is_dropped) continue;
    const std::span<const float> values = slots->Part(slot, info.offset, info.size);
    std::shared_ptr<const GradientSlots>& got = got_[parameter];
    if (got == nullptr) {
      got = slots;
      sink_(static_cast<int>(parameter), values);
      continue;
    }
    // A process before this one has delivered it.
    const std::span<const float> before = got->Part(slot, info.offset, info.size);
    if (std::memcmp(values.data(), before.data(), values.size_bytes()) != 0) difference_ = info.name;
  }
  return absl::OkStatus();
}

absl::Status Delivery::End() {
  for (size_t p = 0; p < named_.size(); ++p) {
    const train::ParameterInfo& info = layout_.parameters[p];
    if (named_[p]) continue;
    if (info.is_buffer()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the model process has sent no value of the buffer ", common::Printable(info.name)));
    }
    if (got_[p] != nullptr) difference_ = info.name;
  }
  return absl::OkStatus();
}

}  // namespace rekindle::own_model
