// Plans what goes wrong and when, as a function of the seed.
#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kLongestFreeze = 40;
constexpr double kBelowListening = 7;
constexpr double kShortAbsence = 15, kLongAbsence = 60;

}  // namespace

// Returns a random node that is not gone for good, or null if all are gone.
SimNode* SimCluster::AnyNode() {
  std::vector<SimNode*> there;
  for (auto& [name, node] : nodes_) {
    if (!node.gone) there.push_back(&node);
  }
  if (there.empty()) return nullptr;
  return there[chance_.Pick(static_cast<int>(there.size()))];
}

SimJob& SimCluster::AnyJob() {
  auto it = jobs_.begin();
  if (jobs_.size() > 1) std::advance(it, chance_.Pick(static_cast<int>(jobs_.size())));
  return it->second;
}

std::vector<Process*> SimCluster::Running(const SimNode& node) {
  std::vector<Process*> running;
  for (const SimSlot& slot : node.slots) {
    if (!slot.process.empty()) running.push_back(&processes_[slot.process]);
  }
  return running;
}

// Returns a random process that runs on the node, or null if none does.
Process* SimCluster::AnyOf(const SimNode& node) {
  const std::vector<Process*> running = Running(node);
  if (running.size() > 1) return running[chance_.Pick(static_cast<int>(running.size()))];
  return running.empty() ? nullptr : running[0];
}

void SimCluster::PlanFaults() {
  for (int i = 0; i < options_.faults; ++i) {
    queue_.At(chance_.Uniform(1, options_.chaos_seconds), [this] { OneFault(); });
  }
  for (int i = 0; i < options_.unheard; ++i) {
    queue_.At(chance_.Uniform(1, options_.chaos_seconds / 2), [this] { StopHearing(); });
  }
  for (int i = 0; i < options_.absences; ++i) {
    queue_.At(chance_.Uniform(8, options_.chaos_seconds), [this] {
      if (!coordinator_up_) return;
      tally_.Count(Fault::kCoordinatorKilled);
      Crash(chance_.Uniform(kShortAbsence, kLongAbsence));
    });
  }
  for (int i = 0; i < options_.database; ++i) {
    queue_.At(chance_.Uniform(1, options_.chaos_seconds), [this] { DatabaseFault(); });
  }
  for (int i = 0; i < options_.clocks; ++i) {
    queue_.At(chance_.Uniform(1, options_.chaos_seconds), [this] { StepClock(); });
  }
  for (int i = 0; i < options_.strangers; ++i) {
    queue_.At(chance_.Uniform(1, options_.chaos_seconds), [this] {
      if (SimNode* node = AnyNode(); node != nullptr) ChangeNode(*node);
    });
  }
  for (int i = 0; i < options_.nccl; ++i) {
    queue_.At(chance_.Uniform(1, options_.chaos_seconds), [this] { HangNccl(); });
  }
  for (int i = 0; i < options_.prices; ++i) {
    queue_.At(chance_.Uniform(1, options_.chaos_seconds), [this] { ChangePrice(); });
  }
  PlanCopies();
  for (int i = 0; i < options_.store; ++i) {
    queue_.At(chance_.Uniform(2, options_.chaos_seconds), [this] { StoreFault(); });
  }
}

void SimCluster::KillNode(SimNode& node, bool silent) {
  Note(absl::StrCat("node ", node.name, " is killed", silent ? " silently" : ""));
  tally_.Count(silent ? Fault::kNodeSilent : Fault::kNodeKilled);
  node.up = false;
  node.agent = false;
  for (Process* process : Running(node)) StopTrainer(*process, -9, silent);
  node.exits.clear();
  const std::string name = node.name;
  if (!node.pool.empty()) return EndMachine(name);
  if (options_.renames && chance_.Happens(0.5)) return ReplaceNode(node);
  queue_.At(queue_.now() + chance_.Uniform(0.5, 5), [this, name] { ReturnNode(name); });
}

// Lets a node return. If it was killed, it comes back without its old processes. If only its agent had gone, the node
// is as it was and has a new agent.
void SimCluster::ReturnNode(const std::string& name) {
  SimNode& node = nodes_[name];
  if (!node.up) ++node.incarnation;
  if (node.agent || node.gone) return;
  node.up = true;
  node.agent = true;
  node.draining = false;
  node.last_reply = 0;
  ++node.agent_incarnation;
  Note(absl::StrCat("agent of ", name, " starts"));
  AdoptOn(node);
  AgentLoop(name, node.agent_incarnation);
}

// Takes back the notice of a node that has not left yet.
void SimCluster::Withdraw(const std::string& name) {
  SimNode& node = nodes_[name];
  if (!node.up || !node.agent || !node.draining) return;
  Note(absl::StrCat("the notice of ", name, " is withdrawn"));
  tally_.Count(Fault::kNoticeWithdrawn);
  node.draining = false;
}

void SimCluster::Undrain(const std::string& name) {
  if (!coordinator_up_) return;
  const std::optional<v1::Node> node = cluster_->FindNode(CoreNow(), name);
  if (node && node->state() == "draining" && !nodes_[name].draining) tally_.Count(Fault::kNodeUndrained);
  Note(absl::StrCat("the drain of ", name, " is taken back"));
  Feed(UndrainNode{name});
}

void SimCluster::KillCoordinator() {
  if (!coordinator_up_) return;
  tally_.Count(Fault::kCoordinatorKilled);
  const double away = chance_.Uniform(0.05, options_.longest_away);
  if (away >= 60) tally_.Count(Fault::kCoordinatorLongAway);
  Crash(away);
}

void SimCluster::KillTrainer(Process& process) {
  tally_.Count(Fault::kTrainerKilled);
  StopTrainer(process, -9, false);
}

void SimCluster::Freeze(Process& process) {
  if (process.frozen_until >= queue_.now()) return;
  tally_.Count(Fault::kTrainerFrozen);
  process.frozen_until = queue_.now() + chance_.Uniform(0.1, options_.copies > 0 ? kBelowListening : kLongestFreeze);
  Note(absl::StrCat("trainer ", process.id, " is frozen until ", process.frozen_until));
}

void SimCluster::KillAgent(SimNode& node) {
  Note(absl::StrCat("agent of ", node.name, " is killed"));
  tally_.Count(Fault::kAgentKilled);
  node.agent = false;
  queue_.At(queue_.now() + chance_.Uniform(0.2, 2), [this, name = node.name] { ReturnNode(name); });
}

void SimCluster::Drain(const std::string& name) {
  Note(absl::StrCat("drain ", name));
  tally_.Count(Fault::kNodeDrained);
  Feed(DrainNode{name, chance_.Happens(0.5) ? chance_.Uniform(0.2, 3) : 0, "asked"});
  if (chance_.Happens(0.3)) queue_.At(queue_.now() + chance_.Uniform(0.01, 2), [this, name] { Undrain(name); });
  queue_.At(queue_.now() + chance_.Uniform(3, 8), [this, name] { ReturnNode(name); });
}

// Lets the node's provider say that the node has to leave.
void SimCluster::GiveNotice(SimNode& node) {
  const std::string name = node.name;
  tally_.Count(Fault::kNodeNoticed);
  node.draining = true;
  if (chance_.Happens(0.4)) queue_.At(queue_.now() + chance_.Uniform(0.1, 3), [this, name] { Withdraw(name); });
  queue_.At(queue_.now() + chance_.Uniform(3, 8), [this, name] { ReturnNode(name); });
}

// Cuts the data connection between the node and a random other one for a while.
void SimCluster::CutData(const std::string& name) {
  const std::string other = AnyNode()->name;
  if (other == name) return;
  const std::pair<std::string, std::string> pair{std::min(name, other), std::max(name, other)};
  Note(absl::StrCat("no data between ", pair.first, " and ", pair.second));
  tally_.Count(Fault::kDataCut);
  blocked_.insert(pair);
  queue_.At(queue_.now() + chance_.Uniform(0.5, 8), [this, pair] { blocked_.erase(pair); });
}

void SimCluster::PauseOrResume() {
  SimJob& job = AnyJob();
  if (!job.submitted) return;
  job.paused = !job.paused;
  Note(absl::StrCat(job.paused ? "pause " : "resume ", job.uid));
  tally_.Count(job.paused ? Fault::kJobPaused : Fault::kJobResumed);
  if (job.paused) {
    Feed(PauseJob{job.uid});
  } else {
    Feed(ResumeJob{job.uid});
  }
}

// Kills all trainers at once, or adds a node.
void SimCluster::KillAllOrAddNode() {
  if (chance_.Happens(0.5)) {
    KillHolders(true);
  } else if (static_cast<int>(nodes_.size()) < options_.nodes + 2 && pools_.empty()) {
    tally_.Count(Fault::kNodeAdded);
    AddNode();
  }
}

void SimCluster::OneFault() {
  if (!pools_.empty() && chance_.Happens(0.35)) return MarketFault();
  SimNode* node = AnyNode();
  if (node == nullptr) return;
  Process* process = AnyOf(*node);
  const bool has_agent = node->up && node->agent;
  switch (chance_.Pick(13)) {
    case 0:
    case 1:
      if (process != nullptr) KillTrainer(*process);
      return;
    case 2:
      if (node->up) KillNode(*node, chance_.Happens(0.3));
      return;
    case 3:
      if (process != nullptr) Freeze(*process);
      return;
    case 4:
    case 5:
      return KillCoordinator();
    case 6:
      if (has_agent) KillAgent(*node);
      return;
    case 7:
      if (coordinator_up_) Drain(node->name);
      return;
    case 8:
      if (has_agent) GiveNotice(*node);
      return;
    case 9:
      return CutData(node->name);
    case 10:
      if (coordinator_up_) PauseOrResume();
      return;
    case 11:
      if (has_agent) FailGpu(*node);
      return;
    default:
      KillAllOrAddNode();
  }
}

// Stops the faults and brings back what they broke.
void SimCluster::Heal() {
  Note("the faults stop");
  lossy_ = false;
  blocked_.clear();
  for (auto& [name, node] : nodes_) {
    node.unheard_until = std::min(node.unheard_until, queue_.now());
    node.store_away_until = node.unmounted_until = 0;
    for (SimSlot& slot : node.slots) slot.broken_until = 0;
  }
  for (auto& [uid, job] : jobs_) job.store_full_until = 0;
  database_fails_until_ = database_slow_until_ = 0;
  MendNodes();
  GiveUpGone();
  if (!coordinator_up_) StartCoordinator();
  for (auto& [name, node] : nodes_) ReturnNode(name);
  for (auto& [name, pool] : pools_) {
    pool.offered = pool.options.max;
    pool.says_what_ended = true;
  }
  ResumeAll();
}

// Resumes all paused jobs again and again, as users do, until the coordinator has accepted that. A pause may still be
// under way when ResumeAll begins.
void SimCluster::ResumeAll() {
  if (cluster_->IsListening()) {
    queue_.At(queue_.now() + 1, [this] { ResumeAll(); });
    return;
  }
  std::vector<std::string> wanted;
  for (const auto& [uid, record] : records_) {
    if (jobs_.at(uid).bill.stopped) continue;  // A job stopped by its budget goes on when it may spend more.
    if (jobs_.at(uid).paused || record.want_paused()) wanted.push_back(uid);
  }
  // The coordinator may not know a paused job until it has heard its trainers.
  const bool all_known = std::all_of(jobs_.begin(), jobs_.end(), [&](const auto& entry) {
    const auto record = records_.find(entry.first);
    return !entry.second.submitted || (record != records_.end() && !record->second.job().uid().empty());
  });
  if (wanted.empty() && all_known) return;
  for (const std::string& uid : wanted) {
    jobs_.at(uid).paused = false;
    Feed(ResumeJob{uid});
  }
  queue_.At(queue_.now() + 1, [this] { ResumeAll(); });
}

}  // namespace rekindle::core::simulation
