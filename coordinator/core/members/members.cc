#include "coordinator/core/members/members.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/core/account/speeds.h"
#include "coordinator/core/state/flapping.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// Returns the cause of the trainer's slowness as one of a fixed set of words, because metrics use it as a label.
std::string CauseOf(const v1::TrainerReport& report) {
  const std::string& cause = report.straggler_cause();
  return cause == "data" || cause == "compute" || cause == "network" ? cause : "";
}

// Takes a member's range of micro-batches from its report. A report on the interrupted step is ignored, because its
// micro-batches are computed as the membership says. All other steps are computed in one range per member.
void TakeRange(const v1::Membership& membership, const v1::TrainerReport& report, v1::MemberStatus* member) {
  if (report.phase() != v1::TRAINER_RUNNING || report.assigned().empty()) return;
  if (membership.interrupted() && report.step() == membership.step()) return;
  const int begin = *report.assigned().begin(), end = *report.assigned().rbegin() + 1;
  if (begin < 0 || end - begin != report.assigned_size()) return;
  member->set_micro_batch_begin(begin);
  member->set_micro_batch_end(end);
}

void TakeStraggler(Turn& turn, Job& job, const v1::TrainerReport& report, v1::MemberStatus* member) {
  const std::string cause = CauseOf(report);
  if (cause == member->straggler()) return;
  member->set_straggler(cause);
  const bool is_told =
      cause.empty()
          ? TellStraggler(turn, job, "straggler_ended",
                          absl::StrCat(ShortName(report.trainer()), " is no straggler any more"), report.node())
          : TellStraggler(turn, job, "straggler", Bounded(report.straggler()), report.node());
  // The job is saved so that a restarted coordinator does not emit the event about this straggler again.
  if (is_told) turn.Save(job);
}

}  // namespace

void ShowMembers(Job& job) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->clear_members();
  for (const v1::Member& member : job.record.membership().members()) {
    v1::MemberStatus* shown = status->add_members();
    shown->set_rank(member.rank());
    shown->set_trainer(member.trainer());
    shown->set_node(member.node());
    shown->set_micro_batch_begin(member.begin());
    shown->set_micro_batch_end(member.end());
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr) continue;
    shown->set_micro_batch_seconds(trainer->report.micro_batch_seconds());
    shown->set_straggler(CauseOf(trainer->report));
    shown->set_note(Bounded(trainer->report.note()));
  }
}

void TakeMember(Turn& turn, Job& job, const v1::TrainerReport& report) {
  for (v1::MemberStatus& member : *job.record.mutable_job()->mutable_status()->mutable_members()) {
    if (member.trainer() != report.trainer()) continue;
    member.set_micro_batch_seconds(report.micro_batch_seconds());
    member.set_note(Bounded(report.note()));
    TakeSpeed(turn, job, report);
    TakeRange(job.record.membership(), report, &member);
    TakeStraggler(turn, job, report, &member);
  }
}

}  // namespace rekindle::core
