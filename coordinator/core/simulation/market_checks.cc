#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/simulation/market.h"
#include "coordinator/core/testing/status_check.h"

namespace rekindle::core::simulation {
namespace {

// A job may starve for this many seconds. It takes time to find out that a machine is lost, to give up what the machine
// might have saved, to end trainers and to start others.
constexpr double kPatience = 45;
// An event in the world, such as a fault, has no more consequences after this many seconds.
constexpr double kSettled = 300;
constexpr double kSoon = 60;
constexpr size_t kOften = 5;

bool IsOver(const v1::JobRecord& record) { return record.job().status().state() > v1::PAUSED; }

}  // namespace

void Market::Violate(const std::string& what) {
  for (const auto& [name, machine] : machines_) {
    const auto job = machine.jobs.find(0);
    Note(absl::StrCat(name, " serves ", job == machine.jobs.end() ? "nobody" : job->second));
  }
  for (const auto& [id, process] : processes_) {
    const v1::TrainerReport& report = process.report;
    const v1::TrainerDirective told = cluster_->DirectiveForTrainer(report.job_uid(), id);
    Note(absl::StrCat(id, " of ", report.job_uid(), " is ", v1::TrainerPhase_Name(report.phase()), " in generation ",
                      report.generation(), " at step ", report.step(), ", told ",
                      v1::TrainerDirective::Action_Name(told.action()), " ", told.membership().generation(), ": ",
                      told.reason()));
  }
  Note("VIOLATION: " + what);
  if (violation_.empty()) violation_ = absl::StrCat("at ", now_, " s: ", what);
}

bool Market::Wants(const std::string& uid) const {
  const v1::JobRecord* record = cluster_->FindJob(uid);
  return record != nullptr && !IsOver(*record) && !record->want_paused();
}

// Checks that no job is stopped for other jobs too often, or when nothing has changed in the world that could be the
// cause. Both would show that the coordinator's plans do not settle.
void Market::CheckEvent(const v1::Event& event) {
  if (event.kind() == "succeeded") changed_at_ = now_;
  if (event.kind() == "pool_retried") retried_at_ = now_;
  if (event.kind() != "preempted" || event.text().find(" of priority ") == std::string::npos) return;
  ++preemptions_;
  // A job that hopes for machines of a pool that may be tried again leaves what it has to other jobs. So a retried pool
  // is a cause for a stop, too.
  const bool has_cause = now_ <= changed_at_ + kSettled || now_ <= retried_at_ + kPatience;
  if (!has_cause) Violate(absl::StrCat(event.job(), " is stopped without a cause"));
  std::deque<double>& stops = wishes_[event.job()].stops;
  stops.push_back(now_);
  while (stops.front() < now_ - kSoon) stops.pop_front();
  if (stops.size() > kOften) Violate(absl::StrCat(event.job(), " is stopped again and again"));
}

int Market::SlotsOf(const std::string& uid) const {
  return static_cast<int>(std::count_if(machines_.begin(), machines_.end(), [&](const auto& machine) {
    const auto job = machine.second.jobs.find(0);
    return job != machine.second.jobs.end() && job->second == uid;
  }));
}

// Returns whether a job waits behind another. Free nodes are kept for the first job that waits, even while they are too
// few for it.
bool Market::WaitsBehind(const std::string& uid) const {
  const auto submitted = [&](const std::string& job) { return cluster_->FindJob(job)->job().status().submitted_at(); };
  return std::any_of(wishes_.begin(), wishes_.end(), [&](const auto& other) {
    const auto& [name, wish] = other;
    if (name == uid || !Wants(name) || SlotsOf(name) >= wish.min) return false;
    const int priority = wishes_.at(uid).priority;
    return wish.priority > priority || (wish.priority == priority && submitted(name) < submitted(uid));
  });
}

// Returns whether a job could run on the nodes that it has, on free ones and on those of jobs of lower priority. A gang
// is in one pool that takes orders, or on nodes that belong to no pool.
bool Market::CouldRun(const std::string& uid) const {
  const Wish& wish = wishes_.at(uid);
  const bool gang = wish.min == wish.max && wish.min > 1;
  std::map<std::string, int> slots;
  bool below = false;
  for (const auto& [name, machine] : machines_) {
    if (machine.ready_at > now_) continue;
    const auto job = machine.jobs.find(0);
    const bool is_free = job == machine.jobs.end();
    const bool is_below = !is_free && job->second != uid && wishes_.at(job->second).priority < wish.priority;
    below = below || is_below;
    if (is_free || is_below || job->second == uid) ++slots[gang ? machine.pool : ""];
  }
  return below && std::any_of(slots.begin(), slots.end(), [&](const auto& s) { return s.second >= wish.min; });
}

void Market::Check() {
  for (auto& [uid, wish] : wishes_) {
    const v1::JobRecord* record = cluster_->FindJob(uid);
    if (record == nullptr || IsOver(*record)) continue;
    const v1::JobStatus& status = record->job().status();
    if (const std::string untruth = FindUntruth(*record); !untruth.empty()) Violate(untruth);
    const int has = SlotsOf(uid);
    const bool starves = Wants(uid) && has < wish.min && CouldRun(uid) && !WaitsBehind(uid);
    if (starves && !wish.starved) wish.starved_since = now_;
    wish.starved = starves;
    if (starves && now_ >= wish.starved_since + kPatience) {
      Violate(absl::StrCat(uid, " of priority ", wish.priority, " has ", has, " of ", wish.min,
                           " nodes, and those below have enough: ", status.reason()));
    }
  }
}

}  // namespace rekindle::core::simulation
