#include "worker/own_model/model/admission.h"

#include <fnmatch.h>
#include <unistd.h>

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/text/printable.h"

namespace rekindle::own_model {
namespace {

constexpr char kWeightDecay[] = "weight_decay";
constexpr double kGigabyte = 1e9;

// Takes the options of a group for the parameters that it is the first to match, which are those in `left`.
absl::Status TakeGroup(const JobFacts& job, const OptimizerGroup& group, std::vector<bool>* left,
                       train::ParameterLayout* layout) {
  const std::string pattern = common::Printable(group.pattern);
  bool decays = false, sets_decay = false;
  for (const auto& [name, value] : group.options) {
    double number = 0;
    if (name != kWeightDecay) {
      return absl::InvalidArgumentError(
          absl::StrCat("groups of the Task sets ", name, " for ", pattern, ", but only ", kWeightDecay,
                       " can differ between parameters; remove it from groups, and set it for all in the job"));
    }
    const bool is_number = absl::SimpleAtod(value, &number);
    if (!is_number || (number != 0 && number != job.weight_decay)) {
      return absl::InvalidArgumentError(absl::StrCat("groups of the Task sets ", kWeightDecay, " to ", value, " for ",
                                                     pattern, "; it can be 0 there, or that of the job, which is ",
                                                     job.weight_decay, " (optimizer.weight_decay)"));
    }
    sets_decay = true;
    decays = number != 0;
  }
  for (size_t p = 0; p < layout->parameters.size(); ++p) {
    train::ParameterInfo& info = layout->parameters[p];
    // Patterns mean what they mean to Python's fnmatch, to which a backslash is a character like any other.
    const bool matches =
        (*left)[p] && !info.is_buffer() && fnmatch(group.pattern.c_str(), info.name.c_str(), FNM_NOESCAPE) == 0;
    if (!matches) continue;
    (*left)[p] = false;
    if (sets_decay) info.decay = decays;
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

absl::Status MayResize(const Description& description, int before, int now) {
  if (!description.couples_samples || before == now) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no memory for micro-batches of ", before, " samples, and they cannot be cut, because their samples ",
      "have an influence on each other; submit the job with training.micro_batch: ", now));
}

}  // namespace rekindle::own_model
