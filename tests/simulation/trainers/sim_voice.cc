#include "tests/simulation/trainers/sim_voice.h"

namespace rekindle::core::simulation {

void Voice::Say(Process& process, const std::function<void(train::Reporter&)>& change) {
  const bool urgent = process.reporting->Do(change);
  process.report = process.reporting->truth();
  if (urgent && process.has_started) Report(process);
}

void Voice::Report(Process& process) {
  v1::TrainerReport report = process.reporting->Said();
  report.set_sequence(++process.sequence);
  report.set_known_revision(process.known_revision);
  // After the records were brought back, the coordinator may not know the process's membership.
  if (coordinator_.database().epoch() > 1 && report.generation() > 0) {
    *report.mutable_membership() = process.job->fabrics[report.generation()].membership;
  }
  const double sent = world_.ClockOf(process);
  world_.Send(process.node, [this, report, sent] {
    if (!coordinator_.is_up()) return;
    coordinator_.Feed(TrainerReported{report}, [this, report, sent] { SendAnswer(report, sent); });
  });
}

void Voice::SendAnswer(const v1::TrainerReport& report, double sent) {
  if (coordinator_.core().IsListening()) return;
  const v1::TrainerDirective directive =
      coordinator_.core().DirectiveForTrainer(report.job_uid(), report.trainer(), report.known_revision());
  if (directive.revision() == report.known_revision()) return;
  coordinator_.leases().NoteAnswer(report.job_uid(), directive);
  const Answer answer = {directive, coordinator_.leases().SpendSeconds(report.job_uid())};
  world_.Send(report.node(), [this, answer, report, sent] {
    world_.AtProcess(report.trainer(), 0, [this, answer, sent, sequence = report.sequence()](Process& p) {
      if (sequence < p.last_reply) return;
      p.last_reply = sequence;
      hear_(p, answer, sent);
    });
  });
}

}  // namespace rekindle::core::simulation
