#include "coordinator/core/members/deaths.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/keeping/remembered.h"
#include "coordinator/core/members/faults.h"
#include "coordinator/core/members/last_holders.h"
#include "coordinator/core/state/job_end.h"
#include "coordinator/core/state/own_code.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// Writes the death of a member into the job's record. Its exit is acknowledged to its agent once the record is durable.
void RememberDeath(const Turn& turn, Job& job, const std::string& id) {
  if (FindMember(job, id) == nullptr) return;
  const Trainer& trainer = job.trainers[id];
  v1::JobRecord::Death* death = job.record.add_deaths();
  death->set_trainer(id);
  death->set_kind(trainer.death_kind);
  death->set_reason(trainer.death);
  death->set_certain(trainer.certain);
  turn.Save(job);
}

void MakeCertain(const Turn& turn, Job& job, Trainer& trainer) {
  trainer.certain = true;
  job.ahead.erase(trainer.report.trainer());
  for (v1::JobRecord::Death& death : *job.record.mutable_deaths()) {
    if (death.trainer() == trainer.report.trainer()) death.set_certain(true);
  }
  turn.Save(job);
}

void Record(Turn& turn, Job& job, const std::string& id, FaultKind kind, const std::string& death, bool certain) {
  Trainer* remembered = Remember(turn, job, id);
  if (remembered == nullptr) return;
  Trainer& trainer = *remembered;
  if (!trainer.death.empty()) {
    if (certain && !trainer.certain) MakeCertain(turn, job, trainer);
    return;
  }
  trainer.report.set_trainer(id);
  trainer.certain = certain;
  if (certain) job.ahead.erase(id);
  trainer.death = absl::StrCat("trainer ", ShortName(id), " ", death);
  const auto node = turn.state.nodes.find(NodeOf(id));
  const bool overdue = node != turn.state.nodes.end() && node->second.overdue;
  trainer.death_kind = WordOf(overdue ? FaultKind::kDrained : kind);
  if (overdue) {
    trainer.death = absl::StrCat("node ", NodeOf(id), " had to leave at once: ", node->second.record.drain_reason());
  }
  const std::string stale = StaleMicroBatch(job, trainer.report);
  if (!stale.empty()) trainer.death = absl::StrCat("trainer ", ShortName(id), " starts again: ", stale);
  RememberDeath(turn, job, id);
  CorrectVerdict(turn, job, id, death);
  if (overdue && !IsFinishing(job)) TellLostSteps(turn, job, trainer.death);
  const bool is_known = node != turn.state.nodes.end();
  const bool unable = is_known && node->second.reported && OwnCodeOf(SpecOf(job)) > node->second.runs;
  const bool failed = unable || (is_known && FaultOf(node->second.report, PlaceOf(id).second) != nullptr);
  // The slot is out of use, or its node does not run the job's code any more. So it is free as soon as nobody lives
  // there, and the job needs another one.
  if (failed) turn.Replan();
  const bool asked_to_leave = failed || IsOver(job) || IsFinishing(job) || job.record.released() ||
                              MustLeave(turn.state, job, id) || job.refused.contains(id) || !stale.empty();
  if (asked_to_leave || kind == FaultKind::kNodeKilled) return;
  const int* before = job.start_failures.Find(ShortName(id));
  const int failures = (before == nullptr ? 0 : *before) + 1;
  turn.effects.crowded_out += job.start_failures.Set(ShortName(id), failures);
  if (FindMember(job, id) == nullptr) turn.Emit(&job, "trainer_died", trainer.death, NodeOf(id));
  if (failures < turn.state.tunables.max_start_failures) return;
  EndJob(turn, job, v1::FAILED, "failed",
         absl::StrCat("trainers on ", ShortName(id), " died ", failures, " times in a row without a step: ", death));
}

}  // namespace

void RecordRelease(const Turn& turn, Job& job, const std::string& id, const std::string& reason) {
  Trainer& trainer = job.trainers[id];
  if (!trainer.death.empty()) return;
  trainer.death_kind = WordOf(FaultKind::kDrained);
  trainer.death = reason;
  trainer.certain = true;
  job.ahead.erase(id);
  RememberDeath(turn, job, id);
}

void RecordDeath(Turn& turn, Job& job, const std::string& id, FaultKind kind, const std::string& death) {
  Record(turn, job, id, kind, death, /*certain=*/true);
}

void GiveUp(Turn& turn, Job& job, const std::string& id, FaultKind kind, const std::string& death) {
  Record(turn, job, id, kind, death, /*certain=*/false);
}

void TakeTrainerBack(const Turn& turn, Job& job, const std::string& id) {
  Trainer& trainer = job.trainers[id];
  trainer.death.clear();
  trainer.death_kind.clear();
  auto* deaths = job.record.mutable_deaths();
  deaths->erase(
      std::remove_if(deaths->begin(), deaths->end(), [&](const auto& death) { return death.trainer() == id; }),
      deaths->end());
  turn.Save(job);
}

void RememberDeaths(const Turn& turn, Job& job) {
  job.record.clear_deaths();
  for (const v1::Member& member : job.record.membership().members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer != nullptr && !trainer->death.empty()) RememberDeath(turn, job, member.trainer());
  }
}

}  // namespace rekindle::core
