// Models how a trainer talks to the coordinator, following
// worker/train/{engine/engine,control/reporter,sessions/coordinator_session}.cc.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

Ending EndingIn(const v1::TrainerDirective& directive) {
  if (directive.action() != v1::TrainerDirective::YIELD) return Ending::kNone;
  return directive.checkpoint() ? Ending::kSave : Ending::kYield;
}

}  // namespace

// Runs `run` in a process after the delay. In a dead process it is not run. In a frozen one it is run when the process
// wakes.
void SimCluster::AtProcess(const std::string& id, double delay, std::function<void(Process&)> run) {
  queue_.At(queue_.now() + delay, [this, id, run = std::move(run)] {
    Process& process = processes_[id];
    if (!process.alive) return;
    if (process.frozen_until > queue_.now()) {
      AtProcess(id, process.frozen_until - queue_.now() + 1e-6, run);
    } else {
      run(process);
    }
  });
}

void SimCluster::TrainerLoop(const std::string& id) {
  Process& process = processes_[id];
  FollowSearch(process);
  Report(process);
  const bool running = In(process, process.report.generation());
  AtProcess(id, chance_.Uniform(0.05, running ? 0.4 : 0.15), [this](Process& p) { TrainerLoop(p.id); });
}

void SimCluster::Say(Process& process, const std::function<void(train::Reporter&)>& change) {
  const bool urgent = process.reporting->Do(change);
  process.report = process.reporting->truth();
  if (urgent && process.has_started) Report(process);
}

void SimCluster::Report(Process& process) {
  v1::TrainerReport report = process.reporting->Said();
  report.set_sequence(++process.sequence);
  report.set_known_revision(process.known_revision);
  if (epoch_ > 1 && report.generation() > 0) {
    *report.mutable_membership() = process.job->fabrics[report.generation()].membership;
  }
  const double sent = ClockOf(process);
  Send(process.node, [this, report, sent] {
    if (!coordinator_up_) return;
    Feed(TrainerReported{report}, [this, report, sent] {
      if (cluster_->IsListening()) return;
      const v1::TrainerDirective directive =
          cluster_->DirectiveForTrainer(report.job_uid(), report.trainer(), report.known_revision());
      if (directive.revision() == report.known_revision()) return;
      NoteAnswer(report.job_uid(), directive);
      const Answer answer = {directive, SpendSeconds(report.job_uid())};
      Send(report.node(), [this, answer, report, sent] {
        AtProcess(report.trainer(), 0, [this, answer, sent, sequence = report.sequence()](Process& p) {
          if (sequence < p.last_reply) return;
          p.last_reply = sequence;
          TakeLease(p, answer, sent);
          Obey(p, answer.directive);
        });
      });
    });
  });
}

// Ends a process that the coordinator refuses. A trainer with the right data and arithmetic must never be refused.
void SimCluster::BeRefused(Process& process, const std::string& error) {
  if (process.report.data_fingerprint() == kData && process.report.probe_digest() == kProbe) {
    return Violate(absl::StrCat(process.id, " is refused: ", error));
  }
  Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          report.phase = train::Phase::kFailed;
          report.error = error;
        },
        true);
  });
  AtProcess(process.id, chance_.Uniform(0.01, 0.2), [this](Process& p) { StopTrainer(p, 1, false); });
}

void SimCluster::Obey(Process& process, const v1::TrainerDirective& directive) {
  process.known_revision = directive.revision();
  if (directive.tell_membership()) return;  // The process goes on with its earlier directive.
  process.directive = directive;
  if (!directive.error().empty()) return BeRefused(process, directive.error());
  if (directive.action() == v1::TrainerDirective::EXIT) {
    CheckLeftAlone(process, "the coordinator");
    return StopTrainer(process, 0, false);
  }
  const v1::TrainerReport& report = process.report;
  const bool newer = directive.membership().generation() > report.generation();
  if (In(process, report.generation())) {
    process.ending_seen = newer ? Ending::kNone : EndingIn(directive);
    if (!newer && directive.action() != v1::TrainerDirective::WAIT) return;
    // The process obeys the directive once it has left its generation.
    return Abort(process, kAccusesNobody, {});
  }
  if (newer && FindMember(directive.membership(), process.id) != nullptr) return Enter(process, directive.membership());
  if (!newer || report.phase() == v1::TRAINER_READY) return;
  // The trainer is not a member of the newer generation. It becomes ready to join a later one, and the state that it
  // holds no longer counts.
  Say(process, [](train::Reporter& r) { r.BecomeReady(); });
}

// Returns the communicator of the membership. A coordinator that was restored from an older copy of its records may
// give the number of a generation a second time. Ranks of two memberships never meet, even if both have the same
// number.
Fabric& SimCluster::FabricFor(const Process& process, const v1::Membership& membership) {
  const int generation = membership.generation();
  Fabric& fabric = process.job->fabrics[generation];
  const bool other = fabric.membership.generation() > 0 && fabric.membership.digest() != membership.digest();
  if (other) {
    for (const auto& [id, p] : processes_) {
      if (p.job == process.job && In(p, generation)) {
        Violate(
            absl::StrCat(process.id, " enters another generation ", generation, " than the one that ", id, " is in"));
      }
    }
    fabric = Fabric();
  }
  if (fabric.membership.generation() > 0) return fabric;
  fabric.membership = membership;
  fabric.plain = PlainOf(membership);
  return fabric;
}

void SimCluster::Enter(Process& process, const v1::Membership& membership) {
  if (process.aborts_until > queue_.now()) {
    // The process obeys when it has given the abort of NCCL up.
    return AtProcess(process.id, process.aborts_until - queue_.now(),
                     [this](Process& p) { Obey(p, v1::TrainerDirective(p.directive)); });
  }
  Fabric& fabric = FabricFor(process, membership);
  process.ending_seen = EndingIn(process.directive);
  fabric.entered.insert(process.id);
  Say(process, [&](train::Reporter& r) {
    r.Update(
        [](train::Report& report) {
          if (report.device) report.device->nccl_failed = false;
        },
        false);
    r.Enter(fabric.plain);
  });
  const int generation = membership.generation();
  if (!fabric.aborted.empty()) {
    const std::set<std::string> accused = {*fabric.aborted.begin()};
    AtProcess(process.id, 0.005, [this, generation, accused](Process& p) {
      if (p.report.generation() == generation) Abort(p, comm::Accusation::Kind::kClosed, accused);
    });
    return;
  }
  // The ranks of a generation have 1.5 s to connect to each other.
  AtProcess(process.id, 1.5, [this, generation](Process& p) {
    Fabric& fabric = p.job->fabrics[generation];
    if (fabric.connected || p.report.generation() != generation) return;
    std::set<std::string> accused;
    for (const v1::Member& member : fabric.membership.members()) {
      if (!fabric.entered.count(member.trainer()) || !Reachable(p.node, member.node()))
        accused.insert(member.trainer());
    }
    Abort(p, comm::Accusation::Kind::kUnreachable, accused);
  });
  queue_.At(queue_.now() + 0.005, [this, job = process.job, generation] { Connect(*job, generation); });
}

}  // namespace rekindle::core::simulation
