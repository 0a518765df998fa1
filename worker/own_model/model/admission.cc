#include "worker/own_model/model/admission.h"

#include <fnmatch.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/text/printable.h"
#include "worker/contract/optimizer_fields.h"

namespace rekindle::own_model {
namespace {

constexpr char kLearningRate[] = "learning_rate", kWeightDecay[] = "weight_decay";
constexpr double kGigabyte = 1e9;

// Says what a group changes in its parameters.
struct Changes {
  std::optional<double> rate;
  std::optional<bool> decay;
  std::optional<double> weight_decay;
};

absl::StatusOr<Changes> ChangesOf(const JobFacts& job, const OptimizerGroup& group) {
  const std::string pattern = common::Printable(group.pattern);
  Changes changes;
  for (const auto& [name, value] : group.options) {
    if (name != kLearningRate && name != kWeightDecay) {
      return absl::InvalidArgumentError(absl::StrCat(
          "groups of the Task sets ", name, " for ", pattern, ", but only ", kLearningRate, " and ", kWeightDecay,
          " can differ between parameters; remove it from groups, and set it for all in the job"));
    }
    if (name == kWeightDecay && (value == "true" || value == "false")) {
      changes.decay = value == "true";
      continue;
    }
    const double most = name == kLearningRate ? train::kLearningRate.high : train::kWeightDecay.high;
    double number = 0;
    if (!absl::SimpleAtod(value, &number) || !(number >= 0 && number <= most)) {
      return absl::InvalidArgumentError(absl::StrCat("groups of the Task sets ", name, " to ", value, " for ", pattern,
                                                     "; give a number from 0 to ", most));
    }
    if (name == kLearningRate) {
      changes.rate = number / job.learning_rate;
    } else {
      changes.weight_decay = number;
    }
  }
  return changes;
}

// Takes the options of a group for the parameters that it is the first to match, which are those in `left`.
absl::Status TakeGroup(const JobFacts& job, const OptimizerGroup& group, std::vector<bool>* left,
                       train::ParameterLayout* layout) {
  const absl::StatusOr<Changes> changes = ChangesOf(job, group);
  if (!changes.ok()) return changes.status();
  for (size_t p = 0; p < layout->parameters.size(); ++p) {
    train::ParameterInfo& info = layout->parameters[p];
    // Patterns mean what they mean to Python's fnmatch, to which a backslash is a character like any other.
    const bool matches =
        (*left)[p] && !info.is_buffer() && fnmatch(group.pattern.c_str(), info.name.c_str(), FNM_NOESCAPE) == 0;
    if (!matches) continue;
    (*left)[p] = false;
    info.rate = changes->rate.value_or(info.rate);
    info.decay = changes->decay.value_or(info.decay);
    info.own_weight_decay = changes->weight_decay;
  }
  return absl::OkStatus();
}

// Counts only what a trainer has in any case, so a module that is refused can never have room: the weights, the sums of
// the gradient before and after the exchange, two slots, and the frozen parameters.
absl::Status CheckMemory(const JobFacts& job, const Description& description) {
  const double machine = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double limit = job.memory_bytes > 0 ? job.memory_bytes : machine;
  const double sum = job.exact ? sizeof(int64_t) : sizeof(float);
  const double each = sizeof(float) + 2 * sum + 2 * sizeof(float) + (job.sixteen_bit ? sizeof(uint16_t) : 0);
  double bytes = static_cast<double>(description.layout.total) * each;
  for (const FrozenParameter& frozen : description.frozen) bytes += static_cast<double>(frozen.bytes);
  if (bytes <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the module has ", description.layout.total, " trained values, which need at least ",
                   bytes / kGigabyte, " GB in a trainer with its gradients, and this one may use ", limit / kGigabyte,
                   " GB; use a smaller module, or workers with more memory"));
}

}  // namespace

absl::Status Admit(const JobFacts& job, Description* description) {
  absl::Status status = CheckMemory(job, *description);
  std::vector<bool> left(description->layout.parameters.size(), true);
  for (const OptimizerGroup& group : description->groups) {
    if (status.ok()) status = TakeGroup(job, group, &left, &description->layout);
  }
  if (!status.ok()) return status;
  if (!job.tries_sizes || !description->couples_samples) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the samples of a micro-batch have an influence on each other (the module has a batch norm that trains, or the "
      "Task says couples_samples), so the result depends on the size of the micro-batches; set training.micro_batch to "
      "a number instead of auto");
}

absl::Status MayEvaluate(const Description& description, int64_t evaluate_every) {
  if (evaluate_every == 0 || description.validation_samples > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("training.evaluate_every is ", evaluate_every,
                   ", and the task has no validation data; give the Task validation=, or leave "
                   "training.evaluate_every out"));
}

absl::Status MayResize(const Description& description, int before, int now) {
  if (!description.couples_samples || before == now) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no memory for micro-batches of ", before, " samples, and they cannot be cut, because their samples ",
      "have an influence on each other; submit the job with training.micro_batch: ", now));
}

}  // namespace rekindle::own_model
