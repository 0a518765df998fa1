// The optimizer and the schedule of a job's spec: defaults and checks, from what each kind declares of its fields
// (worker/train/levers/parameter.h).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/cluster.h"
#include "coordinator/spec/spec_checker.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/levers/schedule.h"

namespace rekindle::coordinator {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using train::Parameter;

double Value(const Message& message, const FieldDescriptor* field) {
  const auto* reflection = message.GetReflection();
  return field->cpp_type() == FieldDescriptor::CPPTYPE_INT32 ? reflection->GetInt32(message, field)
                                                             : reflection->GetDouble(message, field);
}

void FillParameters(std::span<const Parameter> parameters, int steps, Message* message) {
  for (const Parameter& parameter : parameters) {
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(parameter.field);
    const auto* reflection = message->GetReflection();
    if (reflection->HasField(*message, field)) continue;
    const double part = std::max(parameter.low, std::floor(parameter.initial_part * steps));
    const double value = parameter.initial_part > 0 ? part : parameter.initial;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
      reflection->SetInt32(message, field, static_cast<int>(value));
    } else {
      reflection->SetDouble(message, field, value);
    }
  }
}

// Its limits are those of the section's kind.
void CheckParameter(Checker& check, const std::string& name, const Parameter& parameter, double value, Fields kind) {
  switch (parameter.ends) {
    case Parameter::Ends::kBothIn:
      return check.Range(name, value, parameter.low, parameter.high, std::move(kind));
    case Parameter::Ends::kLowOut:
      return check.Above(name, value, parameter.low, parameter.high, std::move(kind));
    case Parameter::Ends::kHighOut:
      return check.Share(name, value, std::move(kind));
  }
}

// In the order of the proto. `common`: fields that every kind has, and that are checked elsewhere.
template <typename Kind>
void CheckParameters(Checker& check, const std::string& section, const Kind& kind, std::span<const Kind* const> kinds,
                     const std::vector<std::string>& common, const Message& message) {
  const auto uses = [](const Kind& one, const std::string& field) {
    const auto found = std::find_if(one.parameters.begin(), one.parameters.end(),
                                    [&](const Parameter& parameter) { return field == parameter.field; });
    return found == one.parameters.end() ? nullptr : &*found;
  };
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const std::string name = absl::StrCat(section, ".", field->name());
    if (std::find(common.begin(), common.end(), field->name()) != common.end()) continue;
    if (const Parameter* parameter = uses(kind, field->name()); parameter != nullptr) {
      CheckParameter(check, name, *parameter, Value(message, field), {section + ".kind"});
    } else if (message.GetReflection()->HasField(message, field)) {
      std::vector<std::string> others;
      for (const Kind* other : kinds) {
        if (uses(*other, field->name()) != nullptr) others.push_back(other->name);
      }
      check.Refuse(name,
                   absl::StrCat("has no meaning with ", section, ".kind '", kind.name,
                                "': remove it, or choose a kind that has it (", absl::StrJoin(others, ", "), ")"),
                   {section + ".kind"});
    }
  }
}

template <typename Kind>
std::vector<std::string> NamesOf(std::span<const Kind* const> kinds) {
  std::vector<std::string> names;
  for (const Kind* kind : kinds) names.push_back(kind->name);
  return names;
}

void FillOptimizer(v1::JobSpec& spec) {
  auto& optimizer = *spec.mutable_optimizer();
  if (optimizer.kind().empty()) optimizer.set_kind("adamw");
  const train::OptimizerKind* kind = train::FindOptimizer(optimizer.kind());
  if (kind != nullptr) FillParameters(kind->parameters, spec.training().steps(), &optimizer);
}

void FillSchedule(v1::JobSpec& spec) {
  auto& schedule = *spec.mutable_schedule();
  if (schedule.kind().empty()) schedule.set_kind("cosine");
  if (!schedule.has_warmup_steps()) schedule.set_warmup_steps(std::clamp(spec.training().steps() / 10, 0, 100));
  const train::ScheduleKind* kind = train::FindSchedule(schedule.kind());
  if (kind != nullptr) FillParameters(kind->parameters, spec.training().steps(), &schedule);
}

// Some before the end.
bool HasEvaluations(const v1::JobSpec& spec) {
  return spec.training().evaluate_every() > 0 && spec.training().evaluate_every() < spec.training().steps();
}

void FillEarlyStop(v1::JobSpec& spec) {
  if (!spec.has_early_stop()) return;
  auto& stop = *spec.mutable_early_stop();
  if (!stop.has_patience()) stop.set_patience(3);
  if (!stop.has_min_delta()) stop.set_min_delta(0);
}

}  // namespace

void FillLevers(v1::JobSpec& spec) {
  if (spec.training().on_divergence().empty()) spec.mutable_training()->set_on_divergence("warn");
  if (spec.training().on_divergence() == "skip" && !spec.training().has_max_skipped()) {
    spec.mutable_training()->set_max_skipped(10);
  }
  if (spec.training().optimizer_state().empty()) spec.mutable_training()->set_optimizer_state("whole");
  FillEarlyStop(spec);
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
                absl::StrCat("'", schedule.kind(),
                             "' follows the evaluations, and there are none before the end: set "
                             "spec.training.evaluate_every above 0 and below the steps"),
                {"spec.training.steps", "spec.training.evaluate_every"});
}

void CheckEarlyStop(Checker& check, const v1::JobSpec& spec) {
  if (!spec.has_early_stop()) return;
  const auto& stop = spec.early_stop();
  check.Range("spec.early_stop.patience", stop.patience(), 1, 1e6);
  check.Range("spec.early_stop.min_delta", stop.min_delta(), 0, 1e6);
  check.Require(HasEvaluations(spec), "spec.early_stop",
                "follows the evaluations, and there are none before the end: set spec.training.evaluate_every above 0 "
                "and below the steps",
                {"spec.training.steps", "spec.training.evaluate_every"});
  const int64_t least = int64_t{spec.schedule().patience()} + 2;
  check.Require(spec.schedule().kind() != "plateau" || stop.patience() >= least, "spec.early_stop.patience",
                absl::StrCat(stop.patience(),
                             " ends the job before spec.schedule has lowered the rate and it could "
                             "tell: use ",
                             least, " or more"),
                {"spec.schedule.kind", "spec.schedule.patience"});
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
