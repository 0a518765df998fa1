// Names, once, the parameters that get no gradient because the loss does not depend on them. The lever looks at the
// tenth step (or the last step of a shorter job), because some weights rightly get no gradient in the first steps. A
// parameter that got one in an earlier step is not named, because an expert may have no tokens in a single step.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {
namespace {

constexpr int64_t kLooksAt = 9;
constexpr int kMostNamed = 5;

// Returns whether the parameter has no gradient in this step and had one in an earlier step.
bool HadOneBefore(const StepView& view, size_t p) {
  if (view.has_gradient.empty() || view.has_gradient[p] != 0) return false;
  const int64_t missed = view.missed.empty() ? 0 : view.missed[p];
  return missed < view.step;
}

StepAdvice Advise(const StepView& view, LeverState*) {
  if (!view.loss || view.step != std::min<int64_t>(kLooksAt, view.spec.steps - 1)) return {};
  std::string names;
  int count = 0;
  for (size_t p = 0; p < view.maxima.size(); ++p) {
    if (view.maxima[p] > 0 || view.layout.parameters[p].is_buffer() || HadOneBefore(view, p)) continue;
    if (++count <= kMostNamed) absl::StrAppend(&names, count > 1 ? ", " : "", view.layout.parameters[p].name);
  }
  if (count == 0) return {};
  const std::string more = count > kMostNamed ? absl::StrCat(" and ", count - kMostNamed, " more") : "";
  return {.text = absl::StrCat(count, count == 1 ? " parameter gets" : " parameters get", " no gradient: ", names, more,
                               "; the loss does not depend on ", count == 1 ? "it" : "them")};
}

}  // namespace

extern const StepLever kNoGradient;
const StepLever kNoGradient{.name = "no_gradient", .advise = Advise};

}  // namespace rekindle::train
