#include "coordinator/spec/job_spec.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "coordinator/market/goal_words.h"
#include "coordinator/spec/spec_checker.h"
#include "worker/contract/spec.h"

namespace rekindle::coordinator {
namespace {

using train::kMaxMicroBatches;

// Returns whether `micro_batch` is auto, and the job's first worker has yet to find its size.
bool FindsMicroBatch(const v1::JobSpec& spec) {
  return spec.training().has_micro_batch() && spec.training().micro_batch() == 0;
}

const std::vector<std::string>& Precisions() {
  static const auto* names = new std::vector<std::string>{"fp32", "bf16", "fp16", "auto"};
  return *names;
}

void FillTraining(v1::JobSpec::Training& training, const Defaults& defaults) {
  constexpr int kGlobalBatch = 16;
  constexpr int kMicroBatch = 4;
  if (training.global_batch() == 0) {
    const int micro = std::clamp(training.micro_batch(), 1, std::numeric_limits<int>::max() / kMicroBatch);
    training.set_global_batch(kGlobalBatch % micro == 0 ? kGlobalBatch : kMicroBatch * micro);
  }
  if (!training.has_micro_batch()) {
    int micro = kMicroBatch;
    while (training.global_batch() % micro != 0) --micro;
    training.set_micro_batch(micro);
  }
  if (training.precision().empty()) training.set_precision(defaults.precision);
  if (training.activations().empty()) training.set_activations("keep");
  if (training.reduce().empty()) training.set_reduce("exact");
  if (!training.has_clip_norm()) training.set_clip_norm(1.0);
  if (training.evaluate_micro_batches() == 0) training.set_evaluate_micro_batches(8);
}

constexpr char kNameRule[] = "must be 1 to 63 of a-z, 0-9 and '-', with none of '-' at its ends";

bool IsName(const std::string& name) {
  const auto fits = [](char c) {
    return absl::ascii_islower(static_cast<unsigned char>(c)) || absl::ascii_isdigit(static_cast<unsigned char>(c));
  };
  return !name.empty() && name.size() <= 63 && fits(name.front()) && fits(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return fits(c) || c == '-'; });
}

bool IsUid(const std::string& name) {
  return name.size() == 32 && std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
         });
}

void CheckBatch(Checker& check, const v1::JobSpec& spec) {
  const auto& training = spec.training();
  const int global = training.global_batch(), micro = training.micro_batch();
  check.Range("spec.training.global_batch", global, 1, 1 << 24);
  check.Range("spec.training.micro_batch", micro, 0, 1 << 20);
  check.Require(!FindsMicroBatch(spec) || global <= kMaxMicroBatches, "spec.training.micro_batch",
                absl::StrCat("auto begins with one sample, and a batch has at most ", kMaxMicroBatches,
                             " micro-batches: name it, or lower spec.training.global_batch"),
                {"spec.training.global_batch"});
  if (micro > 0 && global > 0 && global % micro != 0) {
    const int64_t below = int64_t{global} / micro * micro;
    check.Refuse("spec.training.global_batch",
                 absl::StrCat(global, " is not divisible by micro_batch ", micro, ": use ",
                              below > 0 ? absl::StrCat(below, " or ") : "", below + micro),
                 {"spec.training.micro_batch"});
  }
  check.Require(
      MicroBatches(spec) <= kMaxMicroBatches, "spec.training.micro_batch",
      absl::StrCat("cuts the batch into ", MicroBatches(spec), " parts, at most ", kMaxMicroBatches, ": raise it"),
      {"spec.training.global_batch"});
}

}  // namespace

v1::JobSpec FillSpec(const v1::JobSpec& written, const Defaults& defaults) {
  v1::JobSpec spec = written;
  if (!spec.has_seed()) spec.set_seed(1);
  FillModelAndData(spec);
  FillTraining(*spec.mutable_training(), defaults);
  FillLevers(spec);
  FillCheckpoint(*spec.mutable_checkpoint(), defaults);

  auto& workers = *spec.mutable_workers();
  // Own models compute on the CPU.
  const bool is_own = !spec.model().python().empty();
  if (is_own && workers.device().empty() && spec.training().first_epoch().empty()) workers.set_device("cpu");
  if (workers.min() == 0) workers.set_min(1);
  if (workers.threads_per_rank() == 0) workers.set_threads_per_rank(1);
  if (workers.max() == 0 && !FindsMicroBatch(spec)) {
    workers.set_max(std::clamp(MicroBatches(spec), 1, common::kMaxWorldSize));
  }
  return spec;
}

void CheckWorkers(Checker& check, const v1::JobSpec& spec) {
  const auto& workers = spec.workers();
  const Fields batch = {"spec.training.global_batch", "spec.training.micro_batch"};
  const bool finds = FindsMicroBatch(spec);
  const int micro_batches = finds ? spec.training().global_batch() : MicroBatches(spec);
  check.Range("spec.workers.min", workers.min(), 1, common::kMaxWorldSize);
  check.Range("spec.workers.max", workers.max(), finds ? 0 : 1, common::kMaxWorldSize);
  const std::string fix =
      absl::StrCat(" micro-batches (global_batch ", spec.training().global_batch(),
                   finds ? ", of one sample each" : absl::StrCat(" / micro_batch ", spec.training().micro_batch()),
                   "), one a worker at least: lower it or raise spec.training.global_batch");
  check.Require(workers.min() <= micro_batches, "spec.workers.min",
                absl::StrCat(workers.min(), " workers for ", micro_batches, fix), batch);
  check.Require(workers.max() <= micro_batches, "spec.workers.max",
                absl::StrCat(workers.max(), " workers for ", micro_batches, fix), batch);
  check.Require(workers.max() == 0 || workers.min() <= workers.max(), "spec.workers.max",
                absl::StrCat(workers.max(), " is below spec.workers.min ", workers.min(), ": raise it"),
                {"spec.workers.min", "spec.training.global_batch", "spec.training.micro_batch"});
  check.Range("spec.workers.threads_per_rank", workers.threads_per_rank(), 1, 256);
  if (!workers.device().empty()) check.OneOf("spec.workers.device", workers.device(), {"cpu", "cuda"});
  check.Require(workers.device().empty() || spec.training().first_epoch().empty(), "spec.workers.device",
                "is for the whole job, spec.training.first_epoch for two kinds of nodes: remove one of them",
                {"spec.training.first_epoch"});
}

void CheckTraining(Checker& check, const v1::JobSpec& spec) {
  const auto& training = spec.training();
  check.Require(training.steps() != 0, "spec.training.steps", "is missing: say how many steps to train");
  check.Range("spec.training.steps", training.steps(), 1, kMaxSteps);
  CheckBatch(check, spec);
  check.OneOf("spec.training.precision", training.precision(), Precisions());
  check.OneOf("spec.training.activations", training.activations(), {"keep", "recompute"});
  check.OneOf("spec.training.reduce", training.reduce(), {"exact", "fp32", "bf16"});
  if (!training.first_epoch().empty()) check.OneOf("spec.training.first_epoch", training.first_epoch(), {"cpu"});
  check.Require(training.first_epoch().empty() || training.reduce() != "exact", "spec.training.first_epoch",
                "needs spec.training.reduce 'fp32' or 'bf16': a GPU computes other bits than a CPU",
                {"spec.training.reduce"});
  check.Range("spec.training.clip_norm", training.clip_norm(), 0, 1e6);
  check.Range("spec.training.evaluate_every", training.evaluate_every(), 0, kMaxSteps);
  check.Require(training.evaluate_every() == 0 || spec.data().validation_fraction() > 0, "spec.training.evaluate_every",
                "needs data to evaluate on: set spec.data.validation_fraction above 0",
                {"spec.data.validation_fraction"});
  check.OneOf("spec.training.on_divergence", training.on_divergence(), {"warn", "fail", "skip"});
  if (training.on_divergence() == "skip") {
    check.Range("spec.training.max_skipped", training.max_skipped(), 1, kMaxSteps);
  } else {
    check.Require(!training.has_max_skipped(), "spec.training.max_skipped",
                  "counts what spec.training.on_divergence 'skip' skips: set that, or remove this",
                  {"spec.training.on_divergence"});
  }
  check.Range("spec.training.evaluate_micro_batches", training.evaluate_micro_batches(), 1, kMaxMicroBatches);
}

void CheckPrecisionPolicy(Checker& check, const v1::JobSpec& written, const Defaults& defaults) {
  const std::string& asked = written.training().precision();
  check.Require(defaults.precision_policy != "enforce" || asked.empty() || asked == defaults.precision,
                "spec.training.precision",
                absl::StrCat("'", asked, "' is not allowed: this cluster computes all jobs in '", defaults.precision,
                             "' (REKINDLE_PRECISION_POLICY); remove the field"));
}

// Checks the job's goals as far as that is possible without knowing the fleet. The core checks the rest.
void CheckGoals(Checker& check, const v1::JobSpec& spec) {
  const v1::JobSpec::Goals& goals = spec.goals();
  if (!goals.objective().empty()) {
    check.OneOf("spec.goals.objective", goals.objective(), core::ObjectiveWords());
  }
  if (!goals.capacity().empty()) check.OneOf("spec.goals.capacity", goals.capacity(), core::AllowedWords());
  check.Range("spec.goals.deadline_hours", goals.deadline_hours(), 0, 1e5);
  check.Range("spec.goals.budget", goals.budget(), 0, 1e12);
}

void CheckSeedPriorityTeam(Checker& check, const v1::JobSpec& spec) {
  check.Range("spec.seed", spec.seed(), 0, std::numeric_limits<int>::max());
  check.Range("spec.priority", spec.priority(), -1000, 1000);
  check.Require(spec.team().empty() || IsName(spec.team()), "spec.team",
                absl::StrCat("'", spec.team().substr(0, 100), "' ", kNameRule));
}

int MicroBatches(const v1::JobSpec& spec) {
  return spec.training().micro_batch() > 0 ? spec.training().global_batch() / spec.training().micro_batch() : 0;
}

absl::Status CheckDefaults(const Defaults& defaults) {
  Checker check;
  check.OneOf("REKINDLE_DEFAULT_PRECISION", defaults.precision, Precisions());
  check.OneOf("REKINDLE_PRECISION_POLICY", defaults.precision_policy, {"warn", "refuse", "enforce"});
  CheckStore(check, "default checkpoint store", defaults.store);
  return check.status();
}

absl::Status CheckJobName(const std::string& name) {
  if (name.empty()) return absl::InvalidArgumentError("name: is missing: give the job one, as my-job-1");
  if (!IsName(name)) return absl::InvalidArgumentError(absl::StrCat("name: '", name.substr(0, 100), "' ", kNameRule));
  if (IsUid(name)) return absl::InvalidArgumentError("name: looks like a uid: choose a name with another length");
  return absl::OkStatus();
}

}  // namespace rekindle::coordinator
