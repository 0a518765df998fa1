// Compares the coordinator's decisions with those of a coordinator that looks at everything. The real one looks only at
// what an event concerns, but both must give the same answers. Every agent or trainer whose answer has changed must be
// among those that are woken.
#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

// Describes what a job is and does. Costs are left out because they are brought up to date only when somebody asks for
// them.
std::string Decided(const v1::JobRecord& record) {
  const v1::JobStatus& status = record.job().status();
  return absl::StrCat(v1::JobState_Name(status.state()), " ", status.reason(), ", ",
                      record.membership().ShortDebugString());
}

}  // namespace

SimCluster::Answers SimCluster::AnswersOf(const Cluster& cluster) const {
  Answers answers;
  for (const auto& [id, process] : processes_) {
    if (process.alive) answers.trainers[id] = cluster.DirectiveForTrainer(process.job->uid, id).revision();
  }
  for (const auto& [name, node] : nodes_) {
    if (node.agent) answers.nodes[name] = cluster.DirectiveForNode(name).revision();
  }
  return answers;
}

void SimCluster::CompareWithFull() {
  if (!coordinator_up_ || cluster_->IsListening()) return;
  Cluster full(*cluster_);
  const Effects effects = full.Step(ClockSet{told_offset_}, CoreNow());
  if (!effects.events.empty()) {
    return Violate(
        absl::StrCat("a look at everything says more: ", effects.events[0].kind(), ": ", effects.events[0].text()));
  }
  for (const v1::JobRecord* record : full.Jobs()) {
    const v1::JobRecord* own = cluster_->FindJob(record->job().uid());
    if (own != nullptr && Decided(*own) == Decided(*record)) continue;
    Violate(absl::StrCat("a look at everything decides otherwise: ", Decided(*record), "\ninstead of ",
                         own == nullptr ? "nothing" : Decided(*own)));
  }
  const Answers had = AnswersOf(*cluster_), has = AnswersOf(full);
  for (const auto& [id, revision] : has.trainers) {
    if (had.trainers.at(id) == revision) continue;
    Violate(absl::StrCat("a look at everything tells ", id, ": ",
                         full.DirectiveForTrainer(processes_.at(id).job->uid, id).ShortDebugString(), "\ninstead of ",
                         cluster_->DirectiveForTrainer(processes_.at(id).job->uid, id).ShortDebugString()));
  }
  for (const auto& [name, revision] : has.nodes) {
    if (had.nodes.at(name) == revision) continue;
    Violate(absl::StrCat("a look at everything tells ", name, ": ", full.DirectiveForNode(name).ShortDebugString(),
                         "\ninstead of ", cluster_->DirectiveForNode(name).ShortDebugString()));
  }
}

void SimCluster::CheckWoken(const Answers& before, const Effects& effects, const std::vector<Arrived>& arrived) {
  if (effects.all_touched || cluster_->IsListening()) return;
  std::set<std::string> jobs = effects.touched_jobs, nodes;
  for (const auto& [event, then] : arrived) {
    if (const auto* trainer = std::get_if<TrainerReported>(&event)) jobs.insert(trainer->report.job_uid());
    if (const auto* node = std::get_if<NodeReported>(&event)) nodes.insert(node->report.node());
  }
  for (const std::string& name : cluster_->NodesOf(jobs)) nodes.insert(name);
  const Answers after = AnswersOf(*cluster_);
  for (const auto& [id, revision] : after.trainers) {
    const auto had = before.trainers.find(id);
    const bool woken = jobs.count(processes_.at(id).job->uid) > 0;
    if (woken || had == before.trainers.end() || had->second == revision) continue;
    Violate(absl::StrCat(id, " is told something else, and is not woken"));
  }
  for (const auto& [name, revision] : after.nodes) {
    const auto had = before.nodes.find(name);
    if (nodes.count(name) > 0 || had == before.nodes.end() || had->second == revision) continue;
    Violate(absl::StrCat(name, " is told something else, and is not woken"));
  }
}

}  // namespace rekindle::core::simulation
