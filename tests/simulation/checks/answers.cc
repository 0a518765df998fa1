#include "tests/simulation/checks/answers.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {
namespace {

// The reason of a job that its budget has stopped says what was spent when somebody last looked. It is left out.
std::string WithoutAmount(const std::string& reason) {
  const size_t begin = reason.find("the budget must not be crossed");
  const size_t end = reason.find(" of ", std::min(begin, reason.size()));
  return end == std::string::npos ? reason : absl::StrCat(reason.substr(0, begin), reason.substr(end));
}

// Describes what a job is and does. Costs are left out because they are brought up to date only when somebody asks for
// them.
std::string Decided(const v1::JobRecord& record) {
  const v1::JobStatus& status = record.job().status();
  return absl::StrCat(v1::JobState_Name(status.state()), " ", WithoutAmount(status.reason()), ", ",
                      record.membership().ShortDebugString());
}

}  // namespace

void AnswerCheck::TurnBegins() {
  if (world_.options.compare) before_ = AnswersOf(coordinator_.core());
}

void AnswerCheck::TurnDecided(const Turn& turn) {
  if (!world_.options.compare) return;
  CheckWoken(turn);
  if (coordinator_.clock().CoreNow() < turn.effects.wake_at) CompareWithFull();
}

AnswerCheck::Answers AnswerCheck::AnswersOf(const Cluster& cluster) const {
  Answers answers;
  for (const auto& [id, process] : world_.processes) {
    if (process.alive) answers.trainers[id] = cluster.DirectiveForTrainer(process.job->uid, id).revision();
  }
  for (const auto& [name, node] : world_.nodes) {
    if (node.agent) answers.nodes[name] = cluster.DirectiveForNode(name).revision();
  }
  return answers;
}

void AnswerCheck::CompareWithFull() {
  if (!coordinator_.Answers()) return;
  Cluster full(coordinator_.core());
  const Effects effects = full.Step(ClockSet{coordinator_.clock().told_offset()}, coordinator_.clock().CoreNow());
  if (!effects.events.empty()) {
    return journal_.Violate(
        absl::StrCat("a look at everything says more: ", effects.events[0].kind(), ": ", effects.events[0].text()));
  }
  CompareJobs(full);
  CompareAnswers(full);
}

void AnswerCheck::CompareJobs(const Cluster& full) {
  for (const v1::JobRecord* record : full.Jobs()) {
    const v1::JobRecord* own = coordinator_.core().FindJob(record->job().uid());
    if (own != nullptr && Decided(*own) == Decided(*record)) continue;
    journal_.Violate(absl::StrCat("a look at everything decides otherwise: ", Decided(*record), "\ninstead of ",
                                  own == nullptr ? "nothing" : Decided(*own)));
  }
}

void AnswerCheck::CompareAnswers(const Cluster& full) {
  const Answers had = AnswersOf(coordinator_.core()), has = AnswersOf(full);
  for (const auto& [id, revision] : has.trainers) {
    if (had.trainers.at(id) == revision) continue;
    journal_.Violate(
        absl::StrCat("a look at everything tells ", id, ": ",
                     full.DirectiveForTrainer(world_.processes.at(id).job->uid, id).ShortDebugString(), "\ninstead of ",
                     coordinator_.core().DirectiveForTrainer(world_.processes.at(id).job->uid, id).ShortDebugString()));
  }
  for (const auto& [name, revision] : has.nodes) {
    if (had.nodes.at(name) == revision) continue;
    journal_.Violate(absl::StrCat("a look at everything tells ", name, ": ",
                                  full.DirectiveForNode(name).ShortDebugString(), "\ninstead of ",
                                  coordinator_.core().DirectiveForNode(name).ShortDebugString()));
  }
}

void AnswerCheck::CheckWoken(const Turn& turn) {
  const Effects& effects = turn.effects;
  if (effects.all_touched || coordinator_.core().IsListening()) return;
  std::set<std::string> jobs = effects.touched_jobs, nodes;
  for (const auto& [event, then] : turn.arrived) {
    if (const auto* trainer = std::get_if<TrainerReported>(&event)) jobs.insert(trainer->report.job_uid());
    if (const auto* node = std::get_if<NodeReported>(&event)) nodes.insert(node->report.node());
  }
  for (const std::string& name : coordinator_.core().NodesOf(jobs)) nodes.insert(name);
  const Answers after = AnswersOf(coordinator_.core());
  for (const auto& [id, revision] : after.trainers) {
    const auto had = before_.trainers.find(id);
    const bool woken = jobs.count(world_.processes.at(id).job->uid) > 0;
    if (woken || had == before_.trainers.end() || had->second == revision) continue;
    journal_.Violate(absl::StrCat(id, " is told something else, and is not woken"));
  }
  for (const auto& [name, revision] : after.nodes) {
    const auto had = before_.nodes.find(name);
    if (nodes.count(name) > 0 || had == before_.nodes.end() || had->second == revision) continue;
    journal_.Violate(absl::StrCat(name, " is told something else, and is not woken"));
  }
}

}  // namespace rekindle::core::simulation
