#include "coordinator/core/state/refusal.h"

#include <utility>
#include <variant>

namespace rekindle::core {
namespace {

// Names the job or the node that a user's verb may change before it is refused. Both are empty for a verb that changes
// nothing before it is accepted.
struct Named {
  std::string job;
  std::string node;
};

Named NamedIn(const Event& event) {
  if (const auto* verb = std::get_if<CancelJob>(&event)) return {.job = verb->uid, .node = ""};
  if (const auto* verb = std::get_if<PauseJob>(&event)) return {.job = verb->uid, .node = ""};
  if (const auto* verb = std::get_if<ResumeJob>(&event)) return {.job = verb->uid, .node = ""};
  if (const auto* verb = std::get_if<DrainNode>(&event)) return {.job = "", .node = verb->node};
  if (const auto* verb = std::get_if<UndrainNode>(&event)) return {.job = "", .node = verb->node};
  return {};
}

}  // namespace

bool IsVerb(const Event& event) {
  return std::holds_alternative<SubmitJob>(event) || std::holds_alternative<CancelJob>(event) ||
         std::holds_alternative<PauseJob>(event) || std::holds_alternative<ResumeJob>(event) ||
         std::holds_alternative<AdoptJob>(event) || std::holds_alternative<ForgetJob>(event) ||
         std::holds_alternative<DrainNode>(event) || std::holds_alternative<UndrainNode>(event) ||
         std::holds_alternative<NodeGone>(event);
}

Before::Before(const State& state, const Event& event) : plan_due_(state.plan_due) {
  const Named named = NamedIn(event);
  if (const auto job = state.jobs.find(named.job); job != state.jobs.end()) job_ = job->second;
  if (const auto node = state.nodes.find(named.node); node != state.nodes.end()) node_ = node->second;
}

void Before::PutBack(State& state) {
  if (job_) state.jobs.at(job_->record.job().uid()) = *std::move(job_);
  if (node_) state.nodes.at(node_->record.name()) = *std::move(node_);
  state.plan_due = plan_due_;
}

}  // namespace rekindle::core
