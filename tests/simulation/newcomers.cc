// Machines that come in the place of others: under a name of their own, or with other data or another processor.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kSayAgainSeconds = 20;

}  // namespace

void World::AddNode() {
  SimNode node;
  node.name = absl::StrCat("n", ++named_);
  node.clock_rate = 1 + chance_.Uniform(-kClocksDiffer, kClocksDiffer);
  if (options_.most_slots > 1) node.slots.resize(1 + chance_.Pick(options_.most_slots));
  if (node.slots.size() > 1) tally_.Count(Fault::kSeveralSlots);
  const std::string name = node.name;
  nodes_[name] = std::move(node);
  AgentLoop(name, 1);
}

// The machine does not come back; another does.
void World::ReplaceNode(SimNode& node) {
  tally_.Count(Fault::kNodeRenamed);
  node.gone = true;
  queue_.At(queue_.now() + chance_.Uniform(0.5, 5), [this] { AddNode(); });
}

// Its operator knows that it does not run any more, and says so until it is taken in.
void World::GiveUpGone() {
  queue_.At(queue_.now() + kSayAgainSeconds, [this] { GiveUpGone(); });
  if (!coordinator_up_ || cluster_->IsListening()) return;
  for (const auto& [name, node] : nodes_) {
    const auto known = node_records_.find(name);
    if (node.gone && node.pool.empty() && known != node_records_.end()) Feed(NodeGone{name});
  }
}

// Whatever starts there from now on reads other data, or computes otherwise.
void World::ChangeNode(SimNode& node) {
  // Who comes first says what is right: here that is before any fault.
  for (const auto& [uid, job] : jobs_) {
    if (records_[uid].membership().generation() == 0) return;
  }
  const bool data = chance_.Happens(0.5);
  tally_.Count(data ? Fault::kOtherData : Fault::kOtherProbe);
  Note(absl::StrCat("node ", node.name, data ? " reads other data" : " computes otherwise"));
  (data ? node.data : node.probe) = "another";
}

bool World::AnyIsOther() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& node) { return node.second.data != kData || node.second.probe != kProbe; });
}

// Their operators mend them.
void World::MendNodes() {
  for (auto& [name, node] : nodes_) {
    if (node.data == kData && node.probe == kProbe) continue;
    node.data = kData;
    node.probe = kProbe;
    for (Process* process : Running(node)) StopTrainer(*process, -9, false);
  }
}

// All that train read the same data and compute alike.
void World::CheckAlike(const v1::Membership& membership) {
  std::set<std::string> kinds;
  for (const v1::Member& member : membership.members()) {
    const v1::TrainerReport& report = processes_[member.trainer()].report;
    kinds.insert(absl::StrCat(report.data_fingerprint(), " and ", report.probe_digest()));
  }
  if (kinds.size() > 1) {
    Violate(absl::StrCat("generation ", membership.generation(), " has members of ", *kinds.begin(), " beside ",
                         *kinds.rbegin()));
  }
}

}  // namespace rekindle::core::simulation
