#include "tests/simulation/world/reporting.h"

#include <utility>

#include "worker/train/sessions/control_plane_proto.h"

namespace rekindle::core::simulation {

train::Membership PlainOf(const v1::Membership& membership) {
  v1::TrainerDirective directive;
  *directive.mutable_membership() = membership;
  return train::FromProto(directive, /*now=*/0).membership;
}

void Reporting::Control::Publish(const train::Report& report, bool is_urgent) {
  newest = report;
  urgent = urgent || is_urgent;
}

Reporting::Reporting(v1::TrainerReport identity) : identity_(std::move(identity)), truth_(identity_) {}

bool Reporting::Do(const std::function<void(train::Reporter&)>& change) {
  control_.urgent = false;
  change(reporter_);
  truth_ = identity_;
  train::ToProto(reporter_.Snapshot(), &truth_);
  return control_.urgent;
}

v1::TrainerReport Reporting::Said() const {
  v1::TrainerReport said = identity_;
  train::ToProto(control_.newest, &said);
  return said;
}

}  // namespace rekindle::core::simulation
