#include "tests/simulation/exchange/obeying.h"

#include "absl/strings/str_cat.h"
#include "tests/simulation/trainers/leases.h"

namespace rekindle::core::simulation {

void Obeying::Hear(Process& process, const Answer& answer, double sent) {
  TakeLease(process, answer, sent);
  Obey(process, answer.directive);
}

void Obeying::Obey(Process& process, const v1::TrainerDirective& directive) {
  process.known_revision = directive.revision();
  if (directive.tell_membership()) return;  // The process goes on with its earlier directive.
  process.directive = directive;
  if (!directive.error().empty()) return BeRefused(process, directive.error());
  if (directive.action() == v1::TrainerDirective::EXIT) {
    world_.Tell([&](Observer& observer) { observer.ProcessIsStopped(process, "the coordinator"); });
    return stop_(process, 0);
  }
  const v1::TrainerReport& report = process.report;
  const bool newer = directive.membership().generation() > report.generation();
  if (In(process, report.generation())) {
    process.ending_seen = newer ? Ending::kNone : EndingIn(directive);
    if (!newer && directive.action() != v1::TrainerDirective::WAIT) return;
    // The process obeys the directive once it has left its generation.
    return aborting_.Abort(process, kAccusesNobody, {});
  }
  if (newer && FindMember(directive.membership(), process.id) != nullptr)
    return entering_.Enter(process, directive.membership());
  if (!newer || report.phase() == v1::TRAINER_READY) return;
  // The trainer is not a member of the newer generation. It becomes ready to join a later one, and the state that it
  // holds no longer counts.
  voice_.Say(process, [](train::Reporter& r) { r.BecomeReady(); });
}

void Obeying::BeRefused(Process& process, const std::string& error) {
  if (process.report.data_fingerprint() == kData && process.report.probe_digest() == kProbe) {
    return world_.journal.Violate(absl::StrCat(process.id, " is refused: ", error));
  }
  voice_.Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          report.phase = train::Phase::kFailed;
          report.error = error;
        },
        true);
  });
  world_.AtProcess(process.id, world_.chance.Uniform(0.01, 0.2), [this](Process& p) { stop_(p, 1); });
}

}  // namespace rekindle::core::simulation
