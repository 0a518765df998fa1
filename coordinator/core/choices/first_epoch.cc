#include "coordinator/core/choices/first_epoch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/choices/trainer_notes.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

using common::DeviceKind;

bool Asked(const Job& job) { return common::DeviceKindOf(SpecOf(job).training().first_epoch()) == DeviceKind::kCpu; }

bool IsOverFor(const Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  return status.epoch_steps() > 0 && status.step() >= status.epoch_steps();
}

// Counts the live trainers of the job that are members or ready to join, and whose node has a device of the kind
// `kind`.
int Ready(const State& state, const Job& job, DeviceKind kind) {
  int ready = 0;
  for (const auto& [id, trainer] : job.trainers) {
    if (!trainer.reported || !trainer.death.empty()) continue;
    const auto node = state.nodes.find(trainer.report.node());
    if (node == state.nodes.end() || common::DeviceKindOf(node->second.report.device().kind()) != kind) continue;
    const bool member = FindMember(job, id) != nullptr;
    ready += member || trainer.report.phase() == v1::TRAINER_READY;
  }
  return ready;
}

}  // namespace

KindWanted WantedKind(const State& state, const Job& job, const KindSlots& cpu, const KindSlots& gpu) {
  if (!Asked(job)) return {};
  const int least = MinWorkers(job);
  if (!IsOverFor(job)) {
    if (cpu.held + cpu.free < least) return {};
    return {.device = DeviceKind::kCpu};
  }
  if (gpu.held >= least && Ready(state, job, DeviceKind::kGpu) >= least)
    return {.device = DeviceKind::kGpu, .moved = true};
  if (gpu.held + gpu.free >= least) return {.device = DeviceKind::kGpu, .beyond_its_most = cpu.held};
  return {};
}

int PhaseOfFirstEpoch(const State& state, const Job& job) {
  if (!Asked(job)) return 0;
  return IsOverFor(job) ? 2 + std::min(Ready(state, job, DeviceKind::kGpu), MinWorkers(job)) : 1;
}

bool IsInFirstEpoch(const Job& job) { return Asked(job) && !job.record.decided().first_epoch_over(); }

void TellMoved(Turn& turn, Job& job) {
  if (!IsInFirstEpoch(job)) return;
  const v1::JobStatus& status = job.record.job().status();
  v1::LeverStatus lever;
  lever.set_lever(kFirstEpoch);
  lever.set_step(status.step());
  lever.set_seconds_saved(status.node_hours() * kHour);
  lever.set_text(absl::StrCat("first_epoch cpu: ", status.step(), " steps ran on nodes without GPUs, ",
                              Seconds(status.node_hours() * kHour), " of nodes' time; goes on on nodes with GPUs"));
  job.record.mutable_decided()->set_first_epoch_over(true);
  turn.Save(job);
  RememberNote(turn, job, lever, "");
}

}  // namespace rekindle::core
