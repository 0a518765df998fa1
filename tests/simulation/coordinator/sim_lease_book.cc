#include "tests/simulation/coordinator/sim_lease_book.h"

#include <algorithm>
#include <limits>

#include "tests/simulation/coordinator/job_record.h"

namespace rekindle::core::simulation {

bool LetsRun(const v1::TrainerDirective& directive) {
  return directive.action() == v1::TrainerDirective::RUN || directive.action() == v1::TrainerDirective::YIELD;
}

void LeaseBook::Clear() {
  leases_.clear();
  spend_until_.clear();
}

void LeaseBook::Follow(const v1::JobRecord& record) {
  FollowSpending(record);
  const v1::JobState state = record.job().status().state();
  const int generation = record.membership().generation();
  const bool stands = (state == v1::RUNNING || state == v1::FINISHING) && record.ended_generation() < generation;
  if (!stands) {
    leases_.erase(record.job().uid());
  } else if (SimLease& lease = leases_[record.job().uid()]; lease.generation != generation) {
    lease = {generation, world_.now()};
  }
}

void LeaseBook::FollowSpending(const v1::JobRecord& record) {
  const std::string& uid = record.job().uid();
  if (record.granted_until() <= 0 || IsOver(record)) {
    spend_until_.erase(uid);
  } else {
    spend_until_[uid] = record.granted_until() - clock_.wall_offset();
  }
}

void LeaseBook::NoteAnswer(const std::string& uid, const v1::TrainerDirective& directive) {
  if (LetsRun(directive)) Renew(uid, directive.membership().generation());
}

bool LeaseBook::Renew(const std::string& uid, int generation) {
  const auto lease = leases_.find(uid);
  if (lease == leases_.end() || lease->second.generation != generation) return false;
  lease->second.answered = world_.now();
  return true;
}

LeaseChecked LeaseBook::Answer(const LeaseQuestion& question) {
  const auto lease = leases_.find(question.uid);
  const bool stands = lease != leases_.end() && lease->second.generation == question.generation;
  const double left = stands ? lease->second.answered + question.seconds - world_.now() : 0;
  if (stands && left <= 0) {
    leases_.erase(lease);
    world_.journal.Count(Fault::kLeaseEnded);
    world_.journal.Note("the lease of " + question.uid + " has ended");
  }
  return {question.uid, question.generation, std::max(0.0, left)};
}

double LeaseBook::SpendSeconds(const std::string& uid) const {
  const auto until = spend_until_.find(uid);
  if (until == spend_until_.end()) return std::numeric_limits<double>::infinity();
  return std::max(0.0, until->second - world_.now());
}

}  // namespace rekindle::core::simulation
