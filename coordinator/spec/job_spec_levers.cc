// Fills in and checks the optimizer, the schedule and the levers of a job's spec. Each kind of them declares the fields
// of its section (worker/contract/parameter.h).
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/spec/message_fields.h"
#include "coordinator/core/cluster.h"
#include "coordinator/spec/declared_fields.h"
#include "coordinator/spec/spec_checker.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/levers/schedule.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::coordinator {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using train::Parameter;

constexpr char kPatience[] = "patience";
constexpr char kNoEvaluations[] =
    "follows the evaluations, and there are none before the end: set spec.training.evaluate_every above 0 and below "
    "the steps";

// Checks the fields of a section in the order of the proto. `common` lists the fields that every kind has and that are
// checked elsewhere.
template <typename Kind>
void CheckParameters(Checker& check, const std::string& section, const Kind& kind, std::span<const Kind* const> kinds,
                     const std::vector<std::string>& common, const Message& message) {
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const std::string name = absl::StrCat(section, ".", field->name());
    if (std::find(common.begin(), common.end(), field->name()) != common.end()) continue;
    if (const Parameter* parameter = FindParameter(kind.parameters, field->name()); parameter != nullptr) {
      CheckParameter(check, name, *parameter, common::NumberOf(message, field->name()), {section + ".kind"});
    } else if (message.GetReflection()->HasField(message, field)) {
      std::vector<std::string> others;
      for (const Kind* other : kinds) {
        if (FindParameter(other->parameters, field->name()) != nullptr) others.push_back(other->name);
      }
      check.Refuse(name,
                   absl::StrCat("has no meaning with ", section, ".kind '", kind.name,
                                "': remove it, or choose a kind that has it (", absl::StrJoin(others, ", "), ")"),
                   {section + ".kind"});
    }
  }
}

void FillOptimizer(v1::JobSpec& spec) {
  auto& optimizer = *spec.mutable_optimizer();
  if (optimizer.kind().empty()) optimizer.set_kind(train::DefaultOptimizer().name);
  const train::OptimizerKind* kind = train::FindOptimizer(optimizer.kind());
  if (kind != nullptr) FillParameters(kind->parameters, spec.training().steps(), &optimizer);
}

void FillSchedule(v1::JobSpec& spec) {
  auto& schedule = *spec.mutable_schedule();
  if (schedule.kind().empty()) schedule.set_kind(train::DefaultSchedule().name);
  if (!schedule.has_warmup_steps()) schedule.set_warmup_steps(std::clamp(spec.training().steps() / 10, 0, 100));
  const train::ScheduleKind* kind = train::FindSchedule(schedule.kind());
  if (kind != nullptr) FillParameters(kind->parameters, spec.training().steps(), &schedule);
}

// Returns whether there are evaluations before the end of the job.
bool HasEvaluations(const v1::JobSpec& spec) {
  return spec.training().evaluate_every() > 0 && spec.training().evaluate_every() < spec.training().steps();
}

// Calls `visit` with each lever that the job has switched on, and with the lever's section.
template <typename Visit>
void ForEachLever(const v1::JobSpec& spec, const Visit& visit) {
  for (const train::StepLever* lever : train::StepLevers()) {
    const Message* section = lever->parameters.empty() ? nullptr : common::SectionOf(spec, lever->name);
    if (section != nullptr) visit(*lever, *section);
  }
}

void FillLeverSections(v1::JobSpec& spec) {
  ForEachLever(spec, [&](const train::StepLever& lever, const Message&) {
    FillParameters(lever.parameters, spec.training().steps(), common::MutableSectionOf(&spec, lever.name));
  });
}

// Checks a lever that ends the job when the loss stops improving. If the schedule lowers the learning rate for the same
// reason (it has a `patience`), the lever must wait until the lower rate has had time to act.
void CheckOutlastsSchedule(Checker& check, const std::string& section, int64_t patience, const v1::JobSpec& spec) {
  const train::ScheduleKind* schedule = train::FindSchedule(spec.schedule().kind());
  if (schedule == nullptr || FindParameter(schedule->parameters, kPatience) == nullptr) return;
  const int64_t least = int64_t{spec.schedule().patience()} + 2;
  check.Require(
      patience >= least, absl::StrCat(section, ".", kPatience),
      absl::StrCat(patience, " ends the job before spec.schedule has lowered the rate and it could tell: use ", least,
                   " or more"),
      {"spec.schedule.kind", "spec.schedule.patience"});
}

}  // namespace

void FillLevers(v1::JobSpec& spec) {
  if (spec.training().on_divergence().empty()) spec.mutable_training()->set_on_divergence("warn");
  if (spec.training().on_divergence() == "skip" && !spec.training().has_max_skipped()) {
    spec.mutable_training()->set_max_skipped(10);
  }
  if (spec.training().optimizer_state().empty()) spec.mutable_training()->set_optimizer_state("whole");
  FillLeverSections(spec);
  FillOptimizer(spec);
  FillSchedule(spec);
}

void CheckOptimizer(Checker& check, const v1::JobSpec& spec) {
  const v1::JobSpec::Optimizer& optimizer = spec.optimizer();
  check.OneOf("spec.optimizer.kind", optimizer.kind(), NamesOf(train::Optimizers()));
  const train::OptimizerKind* kind = train::FindOptimizer(optimizer.kind());
  if (kind != nullptr) CheckParameters(check, "spec.optimizer", *kind, train::Optimizers(), {"kind"}, optimizer);
  const std::string& state = spec.training().optimizer_state();
  check.OneOf("spec.training.optimizer_state", state, {"whole", "sharded"});
  check.Require(kind == nullptr || kind->elementwise || state != "sharded", "spec.training.optimizer_state",
                absl::StrCat("'sharded' updates parts of a matrix by themselves, and optimizer '", optimizer.kind(),
                             "' needs whole ones: use 'whole', or another spec.optimizer.kind"),
                {"spec.optimizer.kind"});
  const bool on_gpus = spec.workers().device() == "cuda" || !spec.training().first_epoch().empty();
  check.Require(kind == nullptr || kind->elementwise || !on_gpus, "spec.optimizer.kind",
                absl::StrCat("'", optimizer.kind(), "' has no form for a GPU yet: use another one, or ",
                             spec.training().first_epoch().empty() ? "spec.workers.device 'cpu'"
                                                                   : "remove spec.training.first_epoch"),
                {"spec.workers.device", "spec.training.first_epoch"});
}

void CheckSchedule(Checker& check, const v1::JobSpec& spec) {
  const auto& schedule = spec.schedule();
  const int steps = spec.training().steps();
  check.OneOf("spec.schedule.kind", schedule.kind(), NamesOf(train::Schedules()));
  check.Range("spec.schedule.warmup_steps", schedule.warmup_steps(), 0, steps, {"spec.training.steps"});
  const train::ScheduleKind* kind = train::FindSchedule(schedule.kind());
  if (kind == nullptr) return;
  CheckParameters(check, "spec.schedule", *kind, train::Schedules(), {"kind", "warmup_steps"}, schedule);
  check.Require(schedule.decay_steps() <= int64_t{steps} - schedule.warmup_steps() || !schedule.has_decay_steps(),
                "spec.schedule.decay_steps",
                absl::StrCat(schedule.decay_steps(), " and warmup_steps ", schedule.warmup_steps(),
                             " are more than the job's ", steps, " steps: lower one"),
                {"spec.training.steps", "spec.schedule.warmup_steps"});
  check.Require(!kind->needs_evaluations || HasEvaluations(spec), "spec.schedule.kind",
                absl::StrCat("'", schedule.kind(), "' ", kNoEvaluations),
                {"spec.training.steps", "spec.training.evaluate_every"});
}

void CheckStepLevers(Checker& check, const v1::JobSpec& spec) {
  ForEachLever(spec, [&](const train::StepLever& lever, const Message& message) {
    const std::string section = absl::StrCat("spec.", lever.name);
    for (const Parameter& parameter : lever.parameters) {
      CheckParameter(check, absl::StrCat(section, ".", parameter.field), parameter,
                     common::NumberOf(message, parameter.field), {});
    }
    check.Require(!lever.needs_evaluations || HasEvaluations(spec), section, kNoEvaluations,
                  {"spec.training.steps", "spec.training.evaluate_every"});
    if (lever.ends_job && FindParameter(lever.parameters, kPatience) != nullptr) {
      CheckOutlastsSchedule(check, section, static_cast<int64_t>(common::NumberOf(message, kPatience)), spec);
    }
  });
}

void CheckRecovery(Checker& check, const v1::JobSpec& spec) {
  const std::string& lease = spec.recovery().lease();
  if (lease.empty() || lease == core::kNoLease) return;
  constexpr double kLongest = 30 * 24 * 3600;
  double seconds = 0;
  if (!absl::SimpleAtod(lease, &seconds)) {
    return check.Refuse("spec.recovery.lease", absl::StrCat("'", lease, "' is no number of seconds; or use none"));
  }
  check.Range("spec.recovery.lease", seconds, core::kShortestLease, kLongest);
}

}  // namespace rekindle::coordinator
