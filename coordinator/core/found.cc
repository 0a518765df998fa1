#include "coordinator/core/found.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/adoption.h"
#include "coordinator/core/job_control.h"
#include "coordinator/core/progress.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr size_t kMostFound = 1000;    // Jobs; whoever comes after that is left alone as well, and not shown.
constexpr size_t kMostReports = 4096;  // Of one job's trainers.
constexpr size_t kMaxName = 300;       // Bytes.
constexpr size_t kMaxReport = 512 << 10;
constexpr size_t kMaxSpec = 1 << 20;

bool IsName(const std::string& text) { return !text.empty() && text.size() <= kMaxName; }

FoundJob* FindOrAdd(Turn& turn, const std::string& uid) {
  auto& found = turn.state.found;
  const auto known = found.find(uid);
  if (known != found.end()) return &known->second;
  if (!IsName(uid) || found.size() >= kMostFound) return nullptr;
  FoundJob& job = found[uid];
  job.record.mutable_job()->set_uid(uid);
  job.record.mutable_job()->set_name(uid);  // Until an agent says more.
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_state(v1::FOUND);
  status->set_checkpoint_step(-1);
  status->set_submitted_at(turn.now + turn.state.wall_offset);
  return &job;
}

// What is shown of it; tells in an event when its name is known.
void Show(Turn& turn, FoundJob& job) {
  int generation = 0, step = 0;
  std::set<std::string> nodes;
  for (const auto& [id, report] : job.trainers) {
    generation = std::max(generation, report.generation());
    step = std::max(step, report.completed_step());
  }
  for (const std::string& trainer : job.running) nodes.insert(NodeOf(trainer));
  v1::Job* shown = job.record.mutable_job();
  v1::JobStatus* status = shown->mutable_status();
  const std::string where =
      nodes.empty() ? "nothing of it runs any more"
                    : absl::StrCat("its trainers run on ",
                                   Bounded(JoinWords(std::vector<std::string>(nodes.begin(), nodes.end())), 300));
  const std::string reason = absl::StrCat(where, ", and there is no record of it: what runs goes on as it is; `rekindle adopt ",
                                          shown->name(), "` takes it over");
  if (status->generation() == generation && status->step() == step && status->reason() == reason) return;
  status->set_generation(generation);
  status->set_step(step);
  status->set_reason(reason);
  turn.effects.changed_jobs.push_back(shown->uid());
  if (job.told || !status->has_resolved_spec()) return;
  job.told = true;
  v1::Event event;
  event.set_kind("job_found");
  event.set_job(shown->name());
  event.set_text(absl::StrCat("job ", shown->name(), " is found: ", reason));
  turn.effects.events.push_back(std::move(event));
}

// Two agents that differ: the first counts, and trainers of another secret are no trainers of the job.
void TakeWanted(Turn& turn, const v1::DesiredTrainer& wanted) {
  const auto found = turn.state.found.find(wanted.job_uid());
  if (found == turn.state.found.end() || !found->second.record.secret().empty()) return;
  if (!IsName(wanted.job_name()) || !IsName(wanted.job_secret()) || wanted.spec().ByteSizeLong() > kMaxSpec) return;
  v1::JobRecord& record = found->second.record;
  record.set_secret(wanted.job_secret());
  record.mutable_job()->set_name(wanted.job_name());
  *record.mutable_job()->mutable_spec() = wanted.spec();
  *record.mutable_job()->mutable_status()->mutable_resolved_spec() = wanted.spec();
}

}  // namespace

void TakeFound(Turn& turn, const v1::TrainerReport& report) {
  if (!IsName(report.trainer()) || report.ByteSizeLong() > kMaxReport) return;
  FoundJob* job = FindOrAdd(turn, report.job_uid());
  if (job == nullptr) return;
  const auto known = job->trainers.find(report.trainer());
  if (known == job->trainers.end()) {
    if (job->trainers.size() >= kMostReports) return;
    job->trainers[report.trainer()] = report;
  } else if (report.sequence() > known->second.sequence()) {
    known->second = report;
  }
  Show(turn, *job);
}

void TakeFound(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  std::set<std::string> ended;  // Of this node, as far as it does not list them.
  for (const auto& [uid, job] : turn.state.found) {
    for (const std::string& trainer : job.running) {
      if (NodeOf(trainer) == report.node()) ended.insert(trainer);
    }
  }
  std::set<std::string> changed;
  for (const v1::TrainerProcess& process : report.trainers()) {
    if (!process.running() || turn.state.jobs.count(process.job_uid()) > 0 || !IsName(process.trainer())) continue;
    FoundJob* job = FindOrAdd(turn, process.job_uid());
    if (job == nullptr) continue;
    ended.erase(process.trainer());
    if (job->running.size() < kMostReports && job->running.insert(process.trainer()).second) {
      changed.insert(process.job_uid());
    }
    if (process.slot() >= 0 && process.slot() < report.slots()) node.slots[process.slot()] = process.job_uid();
  }
  for (auto& [uid, job] : turn.state.found) {
    for (const std::string& trainer : ended) {
      if (job.running.erase(trainer) > 0) changed.insert(uid);
    }
  }
  for (const v1::DesiredTrainer& wanted : report.left_alone()) {
    TakeWanted(turn, wanted);
    if (turn.state.found.count(wanted.job_uid()) > 0) changed.insert(wanted.job_uid());
  }
  for (const std::string& uid : changed) Show(turn, turn.state.found.at(uid));
}

bool IsLeftAlone(const State& state, const NodeState& node, int slot) {
  const auto held = node.slots.find(slot);
  if (held == node.slots.end() || state.found.count(held->second) == 0) return false;
  return std::any_of(node.report.trainers().begin(), node.report.trainers().end(),
                     [&](const v1::TrainerProcess& process) {
                       return process.running() && process.slot() == slot && process.job_uid() == held->second;
                     });
}

const FoundJob* FindFound(const State& state, const std::string& name_or_uid) {
  const auto by_uid = state.found.find(name_or_uid);
  if (by_uid != state.found.end()) return &by_uid->second;
  for (const auto& [uid, job] : state.found) {
    if (job.record.job().name() == name_or_uid) return &job;
  }
  return nullptr;
}

void AdoptFound(Turn& turn, const std::string& uid) {
  const auto at = turn.state.found.find(uid);
  if (at == turn.state.found.end()) {
    turn.effects.status = absl::NotFoundError(
        absl::StrCat("no job of the uid ", Bounded(uid, 64), " is FOUND; `rekindle jobs` lists all"));
    return;
  }
  const FoundJob found = at->second;
  const std::string& name = found.record.job().name();
  if (found.record.secret().empty()) {
    turn.effects.status = absl::FailedPreconditionError(
        absl::StrCat("no agent has said what was wanted of job ", name, ": let the agent of one of its nodes run"));
    return;
  }
  const auto same_name = turn.state.newest.find(name);
  if (same_name != turn.state.newest.end() && !IsOver(turn.state.jobs.at(same_name->second))) {
    turn.effects.status = absl::FailedPreconditionError(
        absl::StrCat("another job has the name ", name, ": `rekindle cancel ", name, "` it first"));
    return;
  }
  turn.state.found.erase(at);
  Job& job = AddFound(turn, found.record);
  turn.Emit(&job, "job_adopted", absl::StrCat("job ", name, " is taken over from its trainers, as its user asked"));
  turn.state.taking_in = true;
  for (const auto& [id, report] : found.trainers) (void)AcceptReport(turn, job, report);
  turn.state.taking_in = false;
  if (IsBehind(job)) ConsiderAdoption(turn, job);
}

}  // namespace rekindle::core
