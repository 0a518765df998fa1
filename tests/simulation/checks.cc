// Checks what must hold whatever happens. docs/guarantees.md names these checks.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/testing/status_check.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

// Returns an empty string if `parts` is a partition of 0..n-1, or what is wrong with it.
std::string FindGap(const std::vector<std::set<int>>& parts, int n) {
  std::vector<int> times(n, 0);
  for (const std::set<int>& part : parts) {
    for (int i : part) {
      if (i < 0 || i >= n) return absl::StrCat(i, " is out of range");
      ++times[i];
    }
  }
  for (int i = 0; i < n; ++i) {
    if (times[i] != 1) return absl::StrCat("micro-batch ", i, " is there ", times[i], " times");
  }
  return "";
}

}  // namespace

// Returns whether the ranks already had the membership from a coordinator whose records are gone.
bool SimCluster::IsTakenOver(const SimJob& job, const v1::Membership& membership) {
  const auto known = job.fabrics.find(membership.generation());
  return known != job.fabrics.end() && known->second.membership.digest() == membership.digest();
}

// Checks that each generation is above every earlier one and above the newest durable checkpoint, and that the ranges
// of its members are a partition of the micro-batches.
void SimCluster::CheckMembership(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record) {
  const bool newer = record.membership().generation() > before.membership().generation();
  if (newer && IsTakenOver(job, record.membership())) return tally_.Count(Fault::kMembershipTakenOver);
  CheckDurable(job, before, record);
  const v1::Membership& membership = record.membership();
  if (membership.generation() == before.membership().generation()) {
    if (membership.SerializeAsString() != before.membership().SerializeAsString()) {
      Violate(absl::StrCat("generation ", membership.generation(), " was changed after it was saved"));
    }
    return;
  }
  if (membership.generation() < before.membership().generation()) Violate("a generation went back");
  if (membership.members_size() == 0) return Violate("a generation without members");
  std::vector<std::set<int>> ranges, work;
  for (const v1::Member& member : membership.members()) {
    ranges.emplace_back();
    work.emplace_back();
    for (int i = member.begin(); i < member.end(); ++i) ranges.back().insert(i);
    if (ranges.back().empty()) Violate(absl::StrCat("rank ", member.rank(), " has no micro-batch"));
    for (int i : member.holds()) work.back().insert(i);
    for (int i : member.adds()) {
      if (!work.back().insert(i).second) Violate("a micro-batch is both held and added");
    }
  }
  // A generation that only saves the final state computes nothing, and may have more members than micro-batches.
  const int divided = membership.finishing() ? std::max(job.options.micro_batches, membership.members_size())
                                             : job.options.micro_batches;
  std::string gap = FindGap(ranges, divided);
  if (gap.empty() && membership.interrupted()) gap = FindGap(work, job.options.micro_batches);
  if (!gap.empty()) Violate(absl::StrCat("generation ", membership.generation(), ": ", gap));
  if (membership.source().has_rank() && membership.members(membership.source().rank()).needs_state()) {
    Violate("the source needs state itself");
  }
  Note(absl::StrCat("generation ", membership.generation(), " step ", membership.step(), " source ",
                    membership.source().ShortDebugString(), ": ", membership.reason()));
  CheckAlike(membership);
  CheckTransport(job, membership);
  CheckNothingLost(job, membership);
}

// Checks that the status of each job that a turn has changed says what is true.
void SimCluster::CheckStatuses(const Effects& effects) {
  for (const std::string& uid : effects.changed_jobs) {
    const v1::JobRecord* record = cluster_->FindJob(uid);
    if (record == nullptr) continue;
    if (const std::string untruth = FindUntruth(*record); !untruth.empty()) Violate(untruth);
  }
}

bool SimCluster::CanBeHeard(const Process& process) {
  const auto node = nodes_.find(process.node);
  // A trainer that is told to exit counts as one that cannot be heard. The coordinator gave this order when other
  // trainers had the state, and the trainer will exit before anybody can ask it for its state.
  const v1::TrainerDirective told = cluster_->DirectiveForTrainer(process.job->uid, process.id);
  if (told.action() == v1::TrainerDirective::EXIT) return false;
  const bool drains =
      node->second.draining || (node_records_.count(process.node) && node_records_[process.node].draining());
  if (!process.alive || drains || !process.report.has_state()) return false;
  const double silent_until = std::max({process.frozen_until, node->second.unheard_until, coordinator_since_});
  return silent_until <= queue_.now() - 3;
}

// Checks that no completed step is lost while a process lives that holds it and can be heard. With a sharded state
// several processes may hold the step together.
void SimCluster::CheckNothingLost(SimJob& job, const v1::Membership& membership) {
  if (membership.step() >= job.completed) return;
  std::set<std::string> holders;
  for (const auto& [id, process] : processes_) {
    if (process.job == &job && process.report.step() >= job.completed && CanBeHeard(process)) holders.insert(id);
  }
  bool held = !holders.empty();
  if (job.options.sharded) held = AreThere(holders, job.completed) || AreThere(holders, job.completed + 1);
  if (held) {
    return Violate(absl::StrCat("generation ", membership.generation(), " goes back to step ", membership.step(),
                                " although ", absl::StrJoin(holders, " and "), " live and hold step ", job.completed,
                                " or more, which was completed"));
  }
  job.completed = membership.step();
}

// Checks that a step is the sum of every micro-batch once, that all members stand at the same step, and that no older
// generation steps after a newer one. The last exchange of a job, after which its members save the result, is no step:
// it changes no weights, and the store refuses what an older generation saves.
void SimCluster::CheckReduction(const SimJob& job, const Fabric& fabric, int step) {
  const int generation = fabric.membership.generation();
  if (step < job.options.steps && AgeOf(fabric.membership) < job.highest_reducing) {
    return Violate(
        absl::StrCat("generation ", generation, " steps although ", job.highest_reducing.second, " has stepped"));
  }
  std::vector<std::set<int>> work;
  for (const auto& [id, contribution] : fabric.contributed) {
    work.push_back(contribution.second);
    if (contribution.first != step) {
      Violate(absl::StrCat(id, " gives to step ", contribution.first, " while others are at ", step));
    }
  }
  const std::string gap = step < job.options.steps ? FindGap(work, job.options.micro_batches) : "";
  if (!gap.empty()) Violate(absl::StrCat("step ", step, " of generation ", generation, ": ", gap));
}

// Checks that after a newer generation has stepped, a rank of an older one applies at most the step that it was in.
void SimCluster::CheckApplied(const Process& process, int generation, int step) {
  SimJob& job = *process.job;
  if (AgeOf(job.fabrics.at(generation).membership) >= job.highest_reducing) return;
  if (job.late.insert(absl::StrCat(process.id, " ", generation)).second) return;
  Violate(absl::StrCat(process.id, " applies step ", step, " of generation ", generation, " although ",
                       job.highest_reducing.second, " has stepped, and it was not in that one then"));
}

}  // namespace rekindle::core::simulation
