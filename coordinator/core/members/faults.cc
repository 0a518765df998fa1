#include "coordinator/core/members/faults.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/state/fault_kind.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr int kMaxFaults = 500;

// Returns the micro-batches that `member` was given in the interrupted step, which the membership `next` continues.
std::set<int> GivenTo(const Job& job, const v1::Member& member, const v1::Membership& next, const Trainer* trainer) {
  const v1::Membership& before = job.record.membership();
  std::set<int> given;
  const bool spoke = trainer != nullptr && trainer->reported && trainer->report.generation() == before.generation();
  if (spoke && trainer->report.step() == next.step() && trainer->report.attempt() == next.attempt()) {
    given.insert(trainer->report.assigned().begin(), trainer->report.assigned().end());
    if (!given.empty()) return given;
  }
  if (before.interrupted() && before.step() == next.step() && before.attempt() == next.attempt()) {
    given.insert(member.holds().begin(), member.holds().end());
    given.insert(member.adds().begin(), member.adds().end());
    return given;
  }
  // The ranks may have cut their ranges of micro-batches anew since the membership was formed. So the range that the
  // member itself reported for an earlier whole step is closer to the truth than its range in the membership.
  if (spoke && !(before.interrupted() && trainer->report.step() == before.step())) {
    given.insert(trainer->report.assigned().begin(), trainer->report.assigned().end());
    if (!given.empty()) return given;
  }
  for (int i = member.begin(); i < member.end(); ++i) given.insert(i);
  return given;
}

}  // namespace

void AddFault(Turn& turn, Job& job, v1::Fault fault, const std::string& node, bool pausing, double completed_at,
              std::set<std::string> silent) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  if (fault.generation() == 0) fault.set_generation(job.record.membership().generation());
  fault.set_at(turn.state.wall_offset > 0 ? turn.now + turn.state.wall_offset : 0);
  status->set_steps_redone(status->steps_redone() + fault.steps_redone());
  status->set_micro_batches_redone(status->micro_batches_redone() + fault.micro_batches_redone());
  status->set_last_event(fault.reason());
  turn.Emit(&job, fault.kind(), fault.reason(), node);
  if (status->faults_size() >= kMaxFaults) {
    status->mutable_faults()->DeleteSubrange(0, 1);
    for (OpenFault& open : job.open_faults) --open.index;
    std::erase_if(job.open_faults, [](const OpenFault& open) { return open.index < 0; });
  }
  *status->add_faults() = std::move(fault);
  if (pausing) {
    const double before = completed_at > -kNever ? completed_at : turn.now;
    job.open_faults.push_back({status->faults_size() - 1, before, std::move(silent)});
  }
  turn.Save(job);
  turn.Changed(job);
}

void CloseFaults(const Turn& turn, Job& job, double now, double step_seconds) {
  for (const OpenFault& open : job.open_faults) {
    v1::Fault* fault = job.record.mutable_job()->mutable_status()->mutable_faults(open.index);
    fault->set_pause_seconds(std::max(0.0, now - open.completed_at - step_seconds));
    turn.Save(job);
  }
  job.open_faults.clear();
}

int CountRedone(const Job& job, const v1::Membership& next, const std::vector<MemberView>& views) {
  if (!next.interrupted()) return 0;
  std::set<int> lost;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kStopped) {
      // Where a stopped member has made fewer steps than those from which the membership `next` goes on, other members
      // have completed the interrupted step, and nothing of it is computed again.
      const v1::TrainerReport& report = view.trainer->report;
      if (report.step() < next.step() || report.attempt() != next.attempt()) return 0;
      continue;
    }
    const std::set<int> given = GivenTo(job, *view.member, next, view.trainer);
    lost.insert(given.begin(), given.end());
  }
  int redone = 0;
  for (const v1::Member& member : next.members()) {
    for (int micro_batch : member.adds()) redone += lost.count(micro_batch);
  }
  return redone;
}

void CorrectVerdict(const Turn& turn, Job& job, const std::string& trainer, const std::string& death) {
  for (OpenFault& open : job.open_faults) {
    if (open.silent.erase(trainer) == 0) continue;
    v1::Fault* fault = job.record.mutable_job()->mutable_status()->mutable_faults(open.index);
    if (open.silent.empty()) fault->set_kind(WordOf(FaultKind::kTrainerKilled));
    fault->set_reason(absl::StrCat(fault->reason(), "; then heard: trainer ", ShortName(trainer), " ", death));
    turn.Save(job);
  }
}

}  // namespace rekindle::core
