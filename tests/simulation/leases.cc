// Models leases: how long ranks step without word from the coordinator and how they stand still. It follows
// worker/train/{control/lease,engine/standstill}.cc and coordinator/server/boards/lease_book.cc.
#include <algorithm>
#include <cmath>

#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kAskSeconds = 0.3;

bool Runs(const v1::TrainerDirective& directive) {
  return directive.action() == v1::TrainerDirective::RUN || directive.action() == v1::TrainerDirective::YIELD;
}

}  // namespace

// Returns the time by the clock of the process's machine. Each machine's clock has a speed of its own and goes on while
// a process is frozen.
double SimCluster::ClockOf(const Process& process) const { return queue_.now() * nodes_.at(process.node).clock_rate; }

bool SimCluster::Holds(const Process& process, int generation) const { return process.lease->Holds(generation); }

// Takes the lease of the process from an answer of the coordinator, unless the answer only asks for the process's
// membership.
void SimCluster::TakeLease(Process& process, const Answer& answer, double sent) {
  const v1::TrainerDirective& directive = answer.directive;
  if (directive.tell_membership()) return;
  process.lease->Spend(answer.spend_seconds, sent);
  if (!Runs(directive)) return;
  const v1::Membership& membership = directive.membership();
  process.lease->Begin(membership.generation(), membership.lease_seconds(), sent);
}

// Lets each process ask for its lease again and again, independently of its reports.
void SimCluster::HoldLoop(const std::string& id) {
  Process& process = processes_[id];
  const int generation = process.directive.membership().generation();
  const double sent = ClockOf(process);
  if (Runs(process.directive)) {
    Send(process.node, [this, id, generation, sent] {
      if (!coordinator_up_) return;
      const std::string& uid = processes_[id].job->uid;
      const auto lease = leases_.find(uid);
      const bool stands = lease != leases_.end() && lease->second.generation == generation;
      if (stands) lease->second.answered = queue_.now();
      const double spend_seconds = SpendSeconds(uid);
      Send(processes_[id].node, [this, id, generation, sent, stands, spend_seconds] {
        AtProcess(id, 0, [generation, sent, stands, spend_seconds](Process& p) {
          if (stands) p.lease->Renew(generation, sent);
          if (stands || !std::isinf(spend_seconds)) p.lease->Spend(spend_seconds, sent);
        });
      });
    });
  }
  AtProcess(id, kAskSeconds, [this](Process& p) { HoldLoop(p.id); });
}

// Makes the coordinator's own view of a job's lease agree with the record that the coordinator has saved.
void SimCluster::SetLease(const v1::JobRecord& record) {
  SetSpending(record);
  const v1::JobState state = record.job().status().state();
  const int generation = record.membership().generation();
  const bool stands = (state == v1::RUNNING || state == v1::FINISHING) && record.ended_generation() < generation;
  if (!stands) {
    leases_.erase(record.job().uid());
  } else if (SimLease& lease = leases_[record.job().uid()]; lease.generation != generation) {
    lease = {generation, queue_.now()};
  }
}

void SimCluster::NoteAnswer(const std::string& uid, const v1::TrainerDirective& directive) {
  const auto lease = leases_.find(uid);
  if (!Runs(directive) || lease == leases_.end()) return;
  if (lease->second.generation == directive.membership().generation()) lease->second.answered = queue_.now();
}

void SimCluster::AnswerLease(const LeaseQuestion& question) {
  const auto lease = leases_.find(question.uid);
  const bool stands = lease != leases_.end() && lease->second.generation == question.generation;
  const double left = stands ? lease->second.answered + question.seconds - queue_.now() : 0;
  if (stands && left <= 0) {
    leases_.erase(lease);
    tally_.Count(Fault::kLeaseEnded);
    Note("the lease of " + question.uid + " has ended");
  }
  Feed(LeaseChecked{question.uid, question.generation, std::max(0.0, left)});
}

// Lets the ranks stand still, because no rank's lease held when it sent its part of the step. The step is reduced but
// not applied.
void SimCluster::StandStill(SimJob& job, int generation, int step, Ending ending) {
  Fabric& fabric = job.fabrics[generation];
  tally_.Count(Fault::kStoodStill);
  if (!processes_[fabric.membership.members(0).trainer()].lease->MaySpend()) tally_.Count(Fault::kMaySpendNoMore);
  Note(std::to_string(generation) + " stands still at step " + std::to_string(step));
  for (const v1::Member& member : fabric.membership.members()) {
    AtProcess(member.trainer(), 0, [this, generation](Process& p) {
      if (!In(p, generation)) return;
      Say(p, [](train::Reporter& r) { r.Stand(true); });
    });
  }
  BeginSave(processes_[fabric.membership.members(0).trainer()], generation, step);
  AskAgain(job, generation, step, ending);
}

void SimCluster::AskAgain(SimJob& job, int generation, int step, Ending ending) {
  queue_.At(queue_.now() + kAskSeconds, [this, &job, generation, step, ending] {
    Fabric& fabric = job.fabrics[generation];
    bool holds = false;
    for (const v1::Member& member : fabric.membership.members()) {
      const Process& process = processes_[member.trainer()];
      if (!In(process, generation)) return EndStanding(fabric.membership);
      if (process.frozen_until > queue_.now()) return AskAgain(job, generation, step, ending);
      holds = holds || Holds(process, generation);
      for (const v1::Member& other : fabric.membership.members()) {
        if (!Reachable(member.node(), other.node())) return AskAgain(job, generation, step, ending);
      }
    }
    if (!holds) return AskAgain(job, generation, step, ending);
    for (const v1::Member& member : fabric.membership.members()) {
      Process& process = processes_[member.trainer()];
      process.said = ClockOf(process);
      Say(process, [](train::Reporter& r) { r.Stand(false); });
    }
    tally_.Count(Fault::kWentOn);
    GoOn(job, generation, step, ending);
  });
}

// Ends a generation that stands still because one member has gone. If no connection was closed, the others notice its
// absence only at their deadline.
void SimCluster::EndStanding(const v1::Membership& membership) {
  for (const v1::Member& member : membership.members()) {
    AtProcess(member.trainer(), kProgressDeadline, [this, membership](Process& p) {
      if (!In(p, membership.generation())) return;
      std::set<std::string> there;
      for (const v1::Member& other : membership.members()) {
        if (In(processes_[other.trainer()], membership.generation())) there.insert(other.trainer());
      }
      AccuseMissing(p, there);
    });
  }
}

// Returns whether the process may rely on a lease. What another rank said of its lease counts only for a moment,
// because a machine may have slept since.
bool SimCluster::IsFresh(const Process& process, int generation) const {
  const double longest = process.job->fabrics.at(generation).membership.lease_step_seconds();
  return Holds(process, generation) || ClockOf(process) - process.said <= longest;
}

}  // namespace rekindle::core::simulation
