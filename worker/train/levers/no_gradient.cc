// Names, once, the parameters that get no gradient: not a part of the loss, or cut off from it. Looks at the tenth step
// (the last of a shorter job), as some weights rightly get none in the first.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/train/levers/step_lever.h"
#include "worker/train/model.h"
#include "worker/train/spec.h"

namespace rekindle::train {
namespace {

constexpr int64_t kLooksAt = 9;
constexpr int kMostNamed = 5;

StepAdvice Look(const StepView& view, LeverState*) {
  if (!view.loss || view.step != std::min<int64_t>(kLooksAt, view.spec.steps - 1)) return {};
  std::string names;
  int count = 0;
  for (size_t p = 0; p < view.maxima.size(); ++p) {
    if (view.maxima[p] > 0) continue;
    if (++count <= kMostNamed) absl::StrAppend(&names, count > 1 ? ", " : "", view.layout.parameters[p].name);
  }
  if (count == 0) return {};
  const std::string more = count > kMostNamed ? absl::StrCat(" and ", count - kMostNamed, " more") : "";
  return {.text = absl::StrCat(count, count == 1 ? " parameter gets" : " parameters get", " no gradient: ", names, more,
                               "; the loss does not depend on ", count == 1 ? "it" : "them")};
}

}  // namespace

extern const StepLever kNoGradient;
const StepLever kNoGradient{.name = "no_gradient", .look = Look};

}  // namespace rekindle::train
