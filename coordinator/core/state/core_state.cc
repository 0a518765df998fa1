#include "coordinator/core/state/core_state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "coordinator/core/state/own_code.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {

void Turn::Emit(const Job* job, const std::string& kind, const std::string& text, const std::string& node) {
  v1::Event event;
  event.set_kind(kind);
  event.set_text(text);
  event.set_node(node);
  if (job != nullptr) {
    event.set_job(job->record.job().name());
    event.set_generation(job->record.membership().generation());
    event.set_step(job->record.job().status().step());
  }
  effects.events.push_back(std::move(event));
}

void Turn::Wake(Job& job, double when) const { job.wake_at = std::min(job.wake_at, std::max(when, now)); }

v1::JobSpec* MutableSpec(Job& job) {
  job.spec_hash = 0;
  return job.record.mutable_job()->mutable_status()->mutable_resolved_spec();
}

const v1::JobSpec& SpecOf(const Job& job) {
  const v1::Job& j = job.record.job();
  return j.status().has_resolved_spec() ? j.status().resolved_spec() : j.spec();
}

int MicroBatches(const Job& job) {
  const auto& training = SpecOf(job).training();
  return std::max(1, training.micro_batch() > 0 ? training.global_batch() / training.micro_batch() : 1);
}

int MostRanks(const Job& job) { return std::min(MicroBatches(job), common::kMaxWorldSize); }

bool IsSmokeTest(const Job& job) {
  return SpecOf(job).training().smoke_test() && !job.record.decided().smoke_test_passed();
}

int MinWorkers(const Job& job) {
  if (IsFinishing(job)) return job.record.finishing().holders();
  if (IsSmokeTest(job)) return 1;
  return std::clamp(SpecOf(job).workers().min(), 1, MostRanks(job));
}

int MaxWorkers(const Job& job) {
  if (IsFinishing(job)) return job.record.finishing().holders();
  if (IsSmokeTest(job)) return 1;
  const int max = SpecOf(job).workers().max(), most = MostRanks(job);
  return std::max(MinWorkers(job), max > 0 ? std::min(max, most) : most);
}

bool Serves(const NodeState& node, int slot, const Job& job) {
  const auto at = node.slots.find(slot);
  return at != node.slots.end() && at->second == job.record.job().uid();
}

bool IsOver(const Job& job) {
  const v1::JobState state = job.record.job().status().state();
  return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED;
}

bool IsFinishing(const Job& job) { return job.record.has_finishing(); }

bool IsHeldBack(const Job& job) { return job.record.want_paused() || job.record.has_recovered(); }

bool MustStop(const Job& job) { return !IsFinishing(job) && (job.record.want_paused() || !job.record.halt().empty()); }

double PollSeconds(int wait_ms) { return std::clamp(wait_ms, 0, 30'000) / 1000.0; }

const v1::Member* FindMember(const Job& job, const std::string& trainer) {
  for (const v1::Member& member : job.record.membership().members()) {
    if (member.trainer() == trainer) return &member;
  }
  return nullptr;
}

const Trainer* FindTrainer(const Job& job, const std::string& trainer) {
  const auto it = job.trainers.find(trainer);
  return it == job.trainers.end() ? nullptr : &it->second;
}

bool IsDraining(const State& state, const std::string& node) {
  const auto it = state.nodes.find(node);
  return it != state.nodes.end() && it->second.record.draining();
}

bool MustLeave(const State& state, const Job& job, const std::string& trainer) {
  return (!job.giving_up.empty() && job.giving_up.count(ShortName(trainer)) > 0) || IsDraining(state, NodeOf(trainer));
}

std::string WhyItLeaves(const State& state, const Job& job, const std::string& trainer) {
  const std::string node = NodeOf(trainer);
  if (IsDraining(state, node))
    return absl::StrCat("node ", node, " drains: ", state.nodes.at(node).record.drain_reason());
  return absl::StrCat("node ", node, " is given up: ", job.giving_up.at(ShortName(trainer)));
}

std::vector<std::pair<std::string, v1::Device>> UsableNodes(const State& state, const v1::JobSpec& spec) {
  const std::string& kind = spec.workers().device();
  std::vector<std::pair<std::string, v1::Device>> nodes;
  for (const auto& [name, node] : state.nodes) {
    const bool usable = node.reported && !node.lost && !node.record.draining() && node.error.empty();
    if (!kind.empty() && node.report.device().kind() != kind) continue;
    if (OwnCodeOf(spec) > node.runs) continue;
    if (usable && UsableSlots(node.report) > 0) nodes.emplace_back(name, node.report.device());
  }
  return nodes;
}

bool SetState(const Turn& turn, Job& job, v1::JobState state, const std::string& reason) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  if (state != v1::RUNNING && state != v1::FINISHING && status->members_size() > 0) {
    status->clear_members();
    turn.Changed(job);
  }
  if (status->state() != state) turn.Save(job);
  if (status->state() == state && status->reason() == reason) return false;
  status->set_state(state);
  status->set_reason(reason);
  job.record.mutable_decided()->clear_stopped_for();
  job.record.mutable_decided()->clear_brought_back();
  turn.Changed(job);
  return true;
}

double UnixNow(const Turn& turn) { return turn.now + turn.state.wall_offset; }

double AtUnix(const Turn& turn, double unix_time) { return turn.now + unix_time - UnixNow(turn); }

int NextGeneration(const Job& job) {
  int highest = std::max(job.record.membership().generation(), job.record.store_generation());
  for (const auto& [id, trainer] : job.trainers) highest = std::max(highest, trainer.report.generation());
  return highest + 1;
}

}  // namespace rekindle::core
