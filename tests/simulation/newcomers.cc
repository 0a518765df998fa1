// Models machines that come in the place of others, under another name, with other data or with another processor.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kSayAgainSeconds = 20;

}  // namespace

void SimCluster::AddNode() {
  SimNode node;
  node.name = absl::StrCat("n", ++named_);
  node.clock_rate = 1 + chance_.Uniform(-kClocksDiffer, kClocksDiffer);
  if (options_.most_slots > 1) node.slots.resize(1 + chance_.Pick(options_.most_slots));
  TakeGpu(node);
  if (node.slots.size() > 1) tally_.Count(Fault::kSeveralSlots);
  const std::string name = node.name;
  nodes_[name] = std::move(node);
  AgentLoop(name, 1);
}

// Replaces a machine with another one. The old machine never comes back.
void SimCluster::ReplaceNode(SimNode& node) {
  tally_.Count(Fault::kNodeRenamed);
  node.gone = true;
  queue_.At(queue_.now() + chance_.Uniform(0.5, 5), [this] { AddNode(); });
}

// Says again and again that machines are gone for good, as their operators know, until the coordinator knows it.
void SimCluster::GiveUpGone() {
  queue_.At(queue_.now() + kSayAgainSeconds, [this] { GiveUpGone(); });
  if (!coordinator_up_ || cluster_->IsListening()) return;
  for (const auto& [name, node] : nodes_) {
    const auto known = node_records_.find(name);
    if (node.gone && node.pool.empty() && known != node_records_.end()) Feed(NodeGone{name});
  }
}

// Makes the trainers that start on the node from now on read other data or compute differently.
void SimCluster::ChangeNode(SimNode& node) {
  // The first trainer decides which data and arithmetic are right, so no node is changed before each job has had a
  // generation.
  for (const auto& [uid, job] : jobs_) {
    if (records_[uid].membership().generation() == 0) return;
  }
  const bool data = chance_.Happens(0.5);
  tally_.Count(data ? Fault::kOtherData : Fault::kOtherProbe);
  Note(absl::StrCat("node ", node.name, data ? " reads other data" : " computes otherwise"));
  (data ? node.data : node.probe) = "another";
}

bool SimCluster::AnyIsOther() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& node) { return node.second.data != kData || node.second.probe != kProbe; });
}

// Gives all nodes the right data and arithmetic again, as their operators would.
void SimCluster::MendNodes() {
  for (auto& [name, node] : nodes_) {
    if (node.data == kData && node.probe == kProbe) continue;
    node.data = kData;
    node.probe = kProbe;
    for (Process* process : Running(node)) StopTrainer(*process, -9, false);
  }
}

// Checks that all members read the same data and compute alike.
void SimCluster::CheckAlike(const v1::Membership& membership) {
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
