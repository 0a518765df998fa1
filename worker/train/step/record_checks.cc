#include "worker/train/step/record_checks.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/printable.h"

namespace rekindle::train {
namespace {

constexpr size_t kMostNamed = 8;

}  // namespace

absl::Status CheckWholeBuffers(const StepRecord& record, int64_t step, const ParameterLayout& layout) {
  if (record.least_whole >= record.most_whole) return absl::OkStatus();
  // The record has one hash of all of them, so it may be any of these.
  std::vector<std::string> names;
  for (const ParameterInfo& info : layout.parameters) {
    if (info.must_agree) names.push_back(common::Printable(info.name));
  }
  const std::string first = names.empty() ? "NAME" : names.front();
  const size_t more = names.size() > kMostNamed ? names.size() - kMostNamed : 0;
  names.resize(names.size() - more);
  return absl::InvalidArgumentError(
      absl::StrCat("step ", step + 1,
                   ": the micro-batches give different values to a buffer of whole numbers or bools, which have "
                   "no mean: ",
                   names.size() > 1 ? "one of " : "", absl::StrJoin(names, ", "),
                   more > 0 ? absl::StrCat(" and ", more, " more") : "", "; set buffers={\"", first,
                   "\": \"first\"} or \"frozen\" for it in the Task"));
}

absl::Status CheckSample(const StepRecord& record, int64_t step, int64_t sample) {
  if (record.least_checked >= record.most_checked) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "step ", step + 1, ": data[", sample,
      "] was read twice, by two workers if there are several, and had different values; see that all nodes "
      "have the same files, that a sample follows from its number and the seeds of torch, numpy and random "
      "alone, and that collate changes copies only; or set training.reduce to fp32, which does not compare "
      "them"));
}

absl::Status CheckEvaluation(const StepRecord& record, int64_t step, int micro_batches) {
  if (record.loss_not_finite) {
    return absl::InvalidArgumentError(
        "the validation loss is not finite, or too large to be added up exactly; lower "
        "optimizer.learning_rate, or look at the data");
  }
  const absl::Status whole = CheckWhole(record, micro_batches);
  if (whole.ok()) return whole;
  return absl::Status(whole.code(), absl::StrCat("the evaluation after step ", step, ": ", whole.message()));
}

}  // namespace rekindle::train
