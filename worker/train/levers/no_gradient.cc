// Names, once, the parameters that get no gradient because the loss does not depend on them. The lever looks at the
// tenth step (or the last step of a shorter job), because some weights rightly get no gradient in the first steps.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {
namespace {

constexpr int64_t kLooksAt = 9;
constexpr int kMostNamed = 5;

StepAdvice Advise(const StepView& view, LeverState*) {
  if (!view.loss || view.step != std::min<int64_t>(kLooksAt, view.spec.steps - 1)) return {};
  std::string names;
  int count = 0;
  for (size_t p = 0; p < view.maxima.size(); ++p) {
    if (view.maxima[p] > 0 || view.layout.parameters[p].is_buffer()) continue;
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
