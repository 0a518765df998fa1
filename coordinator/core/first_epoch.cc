#include "coordinator/core/first_epoch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/levers.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr char kLever[] = "first_epoch";  // Tells that it has moved.

bool Asked(const Job& job) { return SpecOf(job).training().first_epoch() == kCpu; }

bool IsOverFor(const Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  return status.epoch_steps() > 0 && status.step() >= status.epoch_steps();
}

// Trainers on that kind of node that could step now.
int Ready(const State& state, const Job& job, const std::string& kind) {
  int ready = 0;
  for (const auto& [id, trainer] : job.trainers) {
    if (!trainer.reported || !trainer.death.empty()) continue;
    const auto node = state.nodes.find(trainer.report.node());
    if (node == state.nodes.end() || node->second.report.device().kind() != kind) continue;
    const bool member = FindMember(job, id) != nullptr;
    ready += member || trainer.report.phase() == v1::TRAINER_READY;
  }
  return ready;
}

}  // namespace

KindWanted WantedKind(const State& state, const Job& job, const KindSlots& cpu, const KindSlots& gpu) {
  if (!Asked(job)) return {};
  const int least = MinWorkers(job);
  if (!IsOverFor(job)) return {.device = cpu.held + cpu.free >= least ? kCpu : ""};
  if (gpu.held >= least && Ready(state, job, kGpu) >= least) return {.device = kGpu, .moved = true};
  if (gpu.held + gpu.free >= least) return {.device = kGpu, .beyond_its_most = cpu.held};
  return {};
}

int PhaseOfFirstEpoch(const State& state, const Job& job) {
  if (!Asked(job)) return 0;
  return IsOverFor(job) ? 2 + std::min(Ready(state, job, kGpu), MinWorkers(job)) : 1;
}

bool IsInFirstEpoch(const Job& job) {
  const auto& levers = job.record.job().status().levers();
  return Asked(job) && std::none_of(levers.begin(), levers.end(), [](const auto& l) { return l.lever() == kLever; });
}

void TellMoved(Turn& turn, Job& job) {
  if (!IsInFirstEpoch(job)) return;
  const v1::JobStatus& status = job.record.job().status();
  v1::LeverStatus lever;
  lever.set_lever(kLever);
  lever.set_step(status.step());
  lever.set_seconds_saved(status.node_hours() * kHour);
  lever.set_text(absl::StrCat("first_epoch cpu: ", status.step(), " steps ran on nodes without GPUs, ",
                              Seconds(status.node_hours() * kHour), " of nodes' time; goes on on nodes with GPUs"));
  RememberLever(turn, job, lever, "");
}

}  // namespace rekindle::core
