// Follows jobs that were submitted after the copy was made from which the coordinator's records were brought back. The
// coordinator has no record of them. A job that still lives is found, goes on, and is taken over. Any other is
// submitted anew.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/record/job_json.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kLookSeconds = 1;
// Most users wait `kPatience` seconds before they ask for a found job to be taken over.
constexpr double kPatience = 20;
// A found job is taken over within `kProofSeconds` if its store says whose job it is.
constexpr double kProofSeconds = 10;
// Everything that was sent before the copy was brought back has arrived after `kUnderWay` seconds.
constexpr double kUnderWay = 0.1;

}  // namespace

bool SimCluster::HasRecord(const SimJob& job) const {
  const auto record = records_.find(job.uid);
  return record != records_.end() && !record->second.job().uid().empty();
}

// Keeps the job file that the coordinator gives to trainers, which write it to the job's store.
void SimCluster::KeepFile(SimJob& job, const v1::JobRecord& record) {
  if (options_.copies == 0) return;
  v1::JobFile& told = job.lost.told;
  told.set_job_uid(job.uid);
  told.mutable_identity()->set_cluster(kCluster);
  told.mutable_identity()->set_epoch(epoch_);
  *told.mutable_record() = record;
  told.set_written_at(queue_.now() + wall_offset_);
  if (job.bill.over) StoreFile(job);
}

void SimCluster::StoreFile(SimJob& job) {
  if (options_.copies > 0) job.lost.stored = job.lost.told;
}

// Returns whether the coordinator hears all of the job's processes, each of them can read the job's store, and at least
// one is in a generation.
bool SimCluster::IsProvable(const SimJob& job) const {
  if (!CanCommit() || database_slow_until_ > queue_.now() || job.lost.stored.job_uid().empty()) return false;
  bool any = false;
  for (const auto& [id, process] : processes_) {
    if (!process.alive || process.job != &job) continue;
    const SimNode& node = nodes_.at(process.node);
    const bool is_heard = node.agent && node.unheard_until <= queue_.now() && process.frozen_until <= queue_.now();
    if (!is_heard || !CanRead(process) || node.draining) return false;
    any = any || In(process, process.report.generation());
  }
  return any;
}

// Kills the nodes on which the job runs, so that nothing of it is left there.
void SimCluster::KillNodesOf(const SimJob& job) {
  for (auto& [name, node] : nodes_) {
    const std::vector<Process*> running = Running(node);
    const bool is_of = std::any_of(running.begin(), running.end(), [&](const Process* p) { return p->job == &job; });
    if (is_of) KillNode(node, false);
  }
}

// Looks for a lost job again and again, as a user who misses it does.
void SimCluster::LookForLost(SimJob& job) {
  job.lost.found = false;
  job.lost.provable_for = 0;
  queue_.At(queue_.now() + kLookSeconds, [this, &job, epoch = epoch_] {
    if (epoch == epoch_) FollowFound(job);
  });
}

void SimCluster::FollowFound(SimJob& job) {
  if (!job.submitted) return;
  if (HasRecord(job)) {
    // If the job's record was recovered from its store, the coordinator still waits to hear from the job's earlier
    // processes.
    if (records_[job.uid].has_recovered()) LookForOld(job);
    return;
  }
  queue_.At(queue_.now() + kLookSeconds, [this, &job, epoch = epoch_] {
    if (epoch == epoch_) FollowFound(job);
  });
  if (!coordinator_up_ || cluster_->IsListening()) {
    job.lost.provable_for = 0;
    return;
  }
  const bool lives = std::any_of(processes_.begin(), processes_.end(),
                                 [&](const auto& entry) { return entry.second.alive && entry.second.job == &job; });
  const v1::JobRecord* known = cluster_->FindJob(job.uid);
  if (known == nullptr) {
    job.lost.provable_for = 0;
    if (!lives) Forsake(job);
    return;
  }
  // If the coordinator has the job again, it is saving the job's record.
  if (known->job().status().state() != v1::FOUND) return;
  if (!job.lost.found) {
    job.lost.found = true;
    job.lost.adopt_at = queue_.now() + (chance_.Happens(0.4) ? 0 : kPatience);
  }
  job.lost.provable_for = IsProvable(job) ? job.lost.provable_for + kLookSeconds : 0;
  if (job.lost.provable_for > kProofSeconds) {
    return Violate(absl::StrCat(
        job.uid, " is found, its store says whose it is, and it is not taken over: ", known->job().status().reason()));
  }
  if (lives && queue_.now() < job.lost.adopt_at) return;
  if (!lives && known->secret().empty()) return GiveUp(job);
  if (AnyIsOther()) return MendNodes();  // The members that are taken over decide which data is right.
  Note(absl::StrCat("the user of ", job.uid, " asks to take it over"));
  Feed(AdoptJob{job.uid});
}

// Gives the job up. All its processes ended before an agent could say what they were, so nobody can take the job over
// and its user does without it.
void SimCluster::GiveUp(SimJob& job) {
  Note(absl::StrCat(job.uid, " is given up"));
  job.submitted = false;
}

// Submits the job anew with another store, because nothing of it is known and nothing of it runs.
void SimCluster::Forsake(SimJob& job) {
  Note(absl::StrCat(job.uid, " is submitted anew"));
  tally_.Count(Fault::kSubmittedAnew);
  job.store.clear();
  job.late.clear();
  job.recorded.clear();
  job.lost = {};
  job.highest_reducing = {};
  job.completed = 0;
  job.paused = false;
  // In the new job the first trainer to report decides which data and arithmetic are right, so all nodes get the right
  // data and arithmetic before.
  MendNodes();
  Submit(job);
}

void SimCluster::NoteAdoption(const v1::Event& event) {
  if (event.kind() != "job_adopted") return;
  const bool is_proven = event.text().find("in its store") != std::string::npos;
  tally_.Count(is_proven ? Fault::kFoundProven : Fault::kFoundAdopted);
}

// Adds to the node's report, for the jobs that the coordinator does not know and that the agent must let run: how the
// agent was last told to run them, and what their checkpoint stores say of those that the coordinator asks about.
void SimCluster::TellOfLeftAlone(const SimNode& node, v1::NodeReport* report) {
  for (const std::string& uid : node.directive.leave_alone()) {
    const auto wanted = node.wanted.find(uid);
    if (wanted != node.wanted.end()) *report->add_left_alone() = wanted->second;
  }
  if (node.store_away_until > queue_.now()) return;
  for (const std::string& uid : node.directive.read_stored()) {
    const SimJob& job = jobs_.at(uid);
    v1::StoredJob* stored = report->add_stored_jobs();
    stored->set_job_uid(uid);
    if (node.unmounted_until > queue_.now() || job.lost.stored.job_uid().empty()) {
      stored->set_problem("there is no job.json");
      continue;
    }
    const v1::JobFile& kept = job.lost.stored;
    const v1::JobFile file = MakeJobFile(kept.record(), kept.identity(), kept.written_at());
    stored->set_job_file(EncodeJobFile(file).value_or(""));
    for (const SavedCheckpoint& saved : job.store) {
      stored->set_generation(std::max(stored->generation(), saved.generation));
    }
  }
}

// Reports a violation if a process is stopped by a coordinator that does not know its job.
void SimCluster::CheckLeftAlone(const Process& process, const std::string& how) {
  const SimJob& job = *process.job;
  if (!job.submitted || HasRecord(job) || !In(process, process.report.generation())) return;
  if (std::max(brought_back_at_, process.frozen_until) + kUnderWay > queue_.now()) return;
  Violate(absl::StrCat(process.id, " is stopped by ", how, " although there is no record of its job"));
}

}  // namespace rekindle::core::simulation
