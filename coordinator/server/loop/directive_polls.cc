#include "coordinator/server/loop/directive_polls.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace rekindle::coordinator {

v1::TrainerDirective DirectivePolls::ForTrainer(const TrainerKey& key, int32_t known) {
  v1::TrainerDirective directive = cluster_->DirectiveForTrainer(key.first, key.second, known);
  const bool stands =
      directive.action() == v1::TrainerDirective::RUN || directive.action() == v1::TrainerDirective::YIELD;
  if (stands) leases_->Answered(key.first, directive.membership().generation());
  const std::optional<double> seconds = leases_->SpendSeconds(key.first);
  if (seconds) directive.set_spend_seconds(*seconds);
  return directive;
}

v1::NodeDirective DirectivePolls::ForAgent(const NodeKey& key, int32_t known) {
  v1::NodeDirective directive = cluster_->DirectiveForAgent(key.first, key.second, known);
  log_senders_.Told(key.first, directive);
  const core::Cluster::Horizons horizons = cluster_->HorizonsOf(key.first);
  directive.set_alone_seconds(horizons.alone_seconds);
  if (!std::isinf(horizons.spend_until)) {
    directive.set_spend_seconds(std::max(0.0, horizons.spend_until - clock_->UnixNow()));
  }
  return directive;
}

void DirectivePolls::Check(Touched touched) {
  const auto for_trainer = [this](const TrainerKey& key, int32_t known) { return ForTrainer(key, known); };
  const auto for_node = [this](const NodeKey& key, int32_t known) { return ForAgent(key, known); };
  if (touched.all) {
    trainers_.CheckAll(for_trainer);
    return nodes_.CheckAll(for_node);
  }
  for (const std::string& uid : touched.jobs) {
    trainers_.CheckFrom(
        {uid, ""}, [&](const TrainerKey& key) { return key.first == uid; }, for_trainer);
  }
  if (!touched.jobs.empty()) {
    for (const std::string& name : cluster_->NodesOf(touched.jobs)) touched.nodes.insert(name);
  }
  for (const std::string& name : touched.nodes) {
    nodes_.CheckFrom(
        {name, ""}, [&](const NodeKey& key) { return key.first == name; }, for_node);
  }
}

void DirectivePolls::Expire(const absl::Status& why_silent) {
  trainers_.Expire(clock_->Now(), [&](const TrainerKey& key, int32_t known) -> absl::StatusOr<v1::TrainerDirective> {
    if (!why_silent.ok()) return why_silent;
    return ForTrainer(key, known);
  });
  nodes_.Expire(clock_->Now(), [&](const NodeKey& key, int32_t known) -> absl::StatusOr<v1::NodeDirective> {
    if (!why_silent.ok()) return why_silent;
    return ForAgent(key, known);
  });
}

void DirectivePolls::AnswerAll(const absl::Status& status) {
  trainers_.AnswerAll(status);
  nodes_.AnswerAll(status);
}

double DirectivePolls::NextDeadline() const { return std::min(trainers_.NextDeadline(), nodes_.NextDeadline()); }

}  // namespace rekindle::coordinator
