#include "coordinator/core/nodes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "checkpoint/job_file.h"
#include "common/version.h"
#include "coordinator/core/adoption.h"
#include "coordinator/core/amounts.h"
#include "coordinator/core/charged_nodes.h"
#include "coordinator/core/costs.h"
#include "coordinator/core/deaths.h"
#include "coordinator/core/directives.h"
#include "coordinator/core/draining.h"
#include "coordinator/core/faults.h"
#include "coordinator/core/fence.h"
#include "coordinator/core/forgetting.h"
#include "coordinator/core/found.h"
#include "coordinator/core/heartbeat.h"
#include "coordinator/core/micro_batch.h"
#include "coordinator/core/name_claims.h"
#include "coordinator/core/out_of_memory.h"
#include "coordinator/core/planning.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr size_t kMaxAddress = 256;

constexpr size_t kMaxNodes = 10'000;
constexpr int kMaxSlots = 1024;

// Tells every job with a member there, but those that are paused: nothing of theirs runs.
void TellMembers(Turn& turn, const std::string& node, const std::string& kind, const std::string& reason) {
  bool told = false;
  for (auto& [uid, job] : turn.state.jobs) {
    if (IsOver(job) || (MustStop(job) && !job.active)) continue;
    for (const v1::Member& member : job.record.membership().members()) {
      if (member.node() != node) continue;
      v1::Fault fault;
      fault.set_kind(kind);
      fault.set_reason(reason);
      AddFault(turn, job, std::move(fault), node, /*pausing=*/false, turn.now);
      told = true;
      break;
    }
  }
  if (!told) turn.Emit(nullptr, kind, reason, node);
}

// Of what ran on the machine before; those that run on this one were started by a coordinator that knew it.
void GiveUpTrainersOf(Turn& turn, const v1::NodeReport& report, const std::string& death) {
  const std::string& node = report.node();
  std::set<std::string> running;
  for (const v1::TrainerProcess& process : report.trainers()) {
    if (process.running()) running.insert(process.trainer());
  }
  for (auto& [uid, job] : turn.state.jobs) {
    if (IsOver(job)) continue;
    std::set<std::string> ids;
    for (const auto& [id, trainer] : job.trainers) {
      if (trainer.report.node() == node || NodeOf(id) == node) ids.insert(id);
    }
    for (const v1::Member& member : job.record.membership().members()) {
      if (member.node() == node) ids.insert(member.trainer());
    }
    for (const std::string& id : ids) {
      if (running.count(id) > 0) continue;
      const v1::Member* member = FindMember(job, id);
      const bool booted = member != nullptr && WasBootedAgain(member->process().machine(), report.machine());
      (booted ? RecordDeath : GiveUp)(turn, job, id, "node_killed", death);
    }
  }
}

// Both are in the record: a service that was replaced while the coordinator was away is noticed all the same.
void TakeServices(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  const std::string& name = report.node();
  const std::string agent = node.record.agent_incarnation();
  if (agent != report.agent_incarnation()) {
    node.record.set_agent_incarnation(report.agent_incarnation());
    node.must_save = true;
    if (!agent.empty()) (void)node.past_agents.Set(agent, {});
    if (!agent.empty() && !node.record.draining()) {
      TellMembers(turn, name, "agent_killed",
                  absl::StrCat("the agent of node ", name, " was restarted; its trainers were adopted"));
    }
  }
  const std::string checkpoint = node.record.checkpoint_incarnation();
  if (report.checkpoint_incarnation().empty() || checkpoint == report.checkpoint_incarnation()) return;
  node.record.set_checkpoint_incarnation(report.checkpoint_incarnation());
  node.must_save = true;
  if (!checkpoint.empty()) {
    TellMembers(turn, name, "checkpoint_killed",
                absl::StrCat("the checkpoint service of node ", name, " was restarted; training went on"));
  }
}

void TakeIncarnations(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  const std::string& name = report.node();
  if (IsElsewhere(node.record, report)) {
    (void)node.past_agents.Set(node.record.agent_incarnation(), {});
    GiveUpTrainersOf(turn, report, absl::StrCat("died with its node: ", name, " came back as a new one"));
    turn.Emit(nullptr, "node_replaced", absl::StrCat("node ", name, " came back as a new one"), name);
    v1::NodeRecord fresh;
    fresh.set_name(name);
    node.record = fresh;
    ChangeCharged(turn.state, node);
    node.drain_deadline = kNever;
    node.overdue = false;
    node.reported = false;
    node.slots.clear();
    turn.state.plan_due = true;
  }
  if (node.record.incarnation() != report.incarnation()) {
    if (node.record.incarnation().empty())
      turn.Emit(nullptr, "node_ready", absl::StrCat("node ", name, " registered"), name);
    node.record.set_incarnation(report.incarnation());
    ChangeCharged(turn.state, node);
    node.must_save = true;
  }
  if (node.record.home() != report.home()) {
    node.record.set_home(report.home());
    node.must_save = true;
  }
  TakeServices(turn, node, report);
}

// In the record: what a node costs is counted from the first moment of a restarted coordinator.
void TakePool(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  if (node.reported && node.record.pool() == report.pool() && node.record.slots() == report.slots()) return;
  const bool told = node.record.slots() > 0 && node.record.pool() == report.pool();
  node.must_save = node.must_save || !told || node.record.slots() != report.slots();
  node.record.set_pool(report.pool());
  node.record.set_slots(report.slots());
  ChangeCharged(turn.state, node);
  if (told || turn.state.prices.pools.empty() || FindPool(turn.state.prices, report.pool()) != nullptr) return;
  turn.Emit(nullptr, "node_unpriced",
            absl::StrCat("what node ", report.node(), " costs is not known: ",
                         report.pool().empty() ? "it names no pool"
                                               : absl::StrCat("the fleet file has no pool '", report.pool(), "'"),
                         "; give its worker --pool with one of them"),
            report.node());
}

bool IsCertain(const Job& job, const v1::TrainerProcess& process, const v1::NodeReport& report) {
  const v1::Member* member = FindMember(job, process.trainer());
  if (process.exit_seen() || member == nullptr) return true;
  const v1::Machine& machine = member->process().machine();
  return IsSameMachine(machine, report.machine()) || WasBootedAgain(machine, report.machine());
}

void TakeProcesses(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  for (const v1::TrainerProcess& process : report.trainers()) {
    const auto it = turn.state.jobs.find(process.job_uid());
    if (it == turn.state.jobs.end() || IsOver(it->second)) continue;
    if (process.running()) {
      // After a coordinator restart a running trainer tells whom its slot serves, unless it is on its way out.
      const bool serves =
          (!it->second.record.released() || IsBehind(it->second)) && process.slot() >= 0 && process.slot() < kMaxSlots;
      const bool is_member = it->second.active && FindMember(it->second, process.trainer()) != nullptr;
      if (serves && (is_member || !node.slots.count(process.slot()))) {
        node.slots[process.slot()] = process.job_uid();
      }
      continue;
    }
    (IsCertain(it->second, process, report) ? RecordDeath : GiveUp)(
        turn, it->second, process.trainer(), "trainer_killed",
        absl::StrCat(DescribeExit(process.exit_code(), process.exit_reason()), " (agent of ", report.node(), ")"));
    if (process.out_of_memory())
      HalveMicroBatch(turn, it->second, process.trainer(), "its process ended for want of memory");
  }
}

bool TakeRecords(Turn& turn, const v1::NodeReport& report) {
  if (turn.state.found.empty() || !TakeStored(turn, report)) return false;
  TakeProcessesAgain(turn);
  return true;
}

// Since when, where it was silent before this process began, is in its record.
void NoteSilence(Turn& turn, NodeState& node) {
  if (node.record.silent_since() == 0) {
    node.lost_since = turn.now;
    node.record.set_silent_since(UnixNow(turn));
    node.must_save = true;
  }
  turn.state.forget_at = std::min(turn.state.forget_at, node.lost_since + turn.state.tunables.keep_lost_seconds);
}

void NoteHeard(NodeState& node) {
  node.lost_since = kNever;
  if (node.record.silent_since() == 0) return;
  node.record.clear_silent_since();
  node.must_save = true;
}

bool Unanswered(const NodeState& node) { return node.reported && node.asked_at > node.heard; }

// Hashed, not ordered: looked up for every trainer.
using ByNode = std::unordered_map<std::string_view, double>;

// When its trainers speak next at the latest. Keys are of the state.
ByNode TrainersSpeakBy(const State& state) {
  ByNode asked;  // Since when, those that do not answer.
  for (const auto& [name, node] : state.nodes) {
    if (Unanswered(node)) asked[name] = node.asked_at;
  }
  ByNode by;
  by.reserve(state.nodes.size());
  for (const auto& [uid, job] : state.jobs) {
    if (IsOver(job)) continue;
    const auto speaks_at = [&](const std::string& node, double at) {
      double& latest = by.try_emplace(node, -kNever).first->second;
      latest = std::max(latest, at);
    };
    if (job.active) {  // A step completes on all members.
      for (const v1::Member& member : job.record.membership().members()) speaks_at(member.node(), job.completed_at);
    }
    for (const auto& [id, trainer] : job.trainers) {
      if (!trainer.reported) continue;
      const auto silent = asked.find(trainer.report.node());
      // A failure lets every trainer of the job speak at once. One that has died since was there when it spoke.
      const bool speaks = trainer.death.empty() && (silent == asked.end() || trainer.heard > silent->second);
      speaks_at(trainer.report.node(), trainer.heard + (speaks ? PollSeconds(trainer.report.wait_ms()) : 0));
    }
  }
  return by;
}

// Says the report nothing but that the node lives, and whether it may be taken?
bool IsHeartbeat(const NodeState& node, const v1::NodeReport& report) {
  if (!node.reported || node.lost || node.record.draining() || !node.error.empty() || Unanswered(node)) return false;
  return SaysTheSame(node.report, report);
}

std::string FindRefusal(const v1::NodeReport& report) {
  if (report.protocol_version() != common::kProtocolVersion) {
    return absl::StrCat("the agent speaks protocol version ", report.protocol_version(), ", the coordinator ",
                        common::kProtocolVersion, "; install the same release on both");
  }
  if (report.checkpoint_address().size() > kMaxAddress || report.zone().size() > kMaxAddress ||
      report.pool().size() > kMaxAddress) {
    return absl::StrCat("malformed report: address, zone and pool have at most ", kMaxAddress, " characters");
  }
  for (const std::string& id :
       {report.incarnation(), report.agent_incarnation(), report.checkpoint_incarnation(), report.home()}) {
    if (id.size() > kMaxAddress)
      return absl::StrCat("malformed report: incarnations and home have at most ", kMaxAddress, " characters");
  }
  if (report.incarnation().empty() || report.agent_incarnation().empty() || report.slots() < 0 ||
      report.slots() > kMaxSlots || report.trainers_size() > 4 * kMaxSlots || report.left_alone_size() > kMaxSlots) {
    return absl::StrCat("malformed report: incarnations must be set and slots between 0 and ", kMaxSlots);
  }
  const v1::Machine& machine = report.machine();
  if (report.absent_trainers_size() > 4 * kMaxSlots || machine.boot().size() > kMaxAddress ||
      machine.processes().size() > kMaxAddress || machine.hardware().size() > kMaxAddress) {
    return absl::StrCat("malformed report: the machine's names have at most ", kMaxAddress, " characters, and at most ",
                        4 * kMaxSlots, " trainers are absent");
  }
  if (report.stored_jobs_size() > checkpoint::kMostStoredJobs) {
    return absl::StrCat("malformed report: at most ", checkpoint::kMostStoredJobs, " jobs were read from their stores");
  }
  if (!IsAmount(report.drain_within_seconds())) {
    return "malformed report: the limit of a drain is a number of seconds, 0 for none";
  }
  return "";
}

}  // namespace

void TakeProcessesAgain(Turn& turn) {
  for (auto& [name, node] : turn.state.nodes) {
    if (node.reported) TakeProcesses(turn, node, node.report);
  }
}

bool AcceptNodeReport(Turn& turn, const NodeReported& event) {
  const v1::NodeReport& report = event.report;
  if (report.node().empty() || report.node().size() > 200) return false;
  const auto known = turn.state.nodes.find(report.node());
  const bool is_new = known == turn.state.nodes.end();
  if (!is_new && IsHeartbeat(known->second, report)) {
    NodeState& node = known->second;
    node.heard = turn.now;
    RefuseClaims(turn, node);
    node.report.set_known_revision(report.known_revision());
    node.report.set_wait_ms(report.wait_ms());
    if (report.hint() != node.report.hint()) {
      TakeHint(turn, node, report);
      node.report.set_hint(report.hint());
      CheckPlanned(turn.state, node);
    }
    turn.state.watch_nodes_at = std::min(
        turn.state.watch_nodes_at, turn.now + PollSeconds(report.wait_ms()) + turn.state.tunables.node_lost_seconds);
    const bool goes_home = node.record.draining() && node.record.drained_agent() != report.agent_incarnation();
    return TakeRecords(turn, report) || goes_home;  // It may have been awaited with that.
  }
  if (is_new && turn.state.nodes.size() >= kMaxNodes && !ForgetOneNode(turn)) return false;
  NodeState& node = turn.state.nodes[report.node()];
  if (is_new) node.known_since = turn.now;
  node.record.set_name(report.node());
  const std::string error = FindRefusal(report);
  if (!IsTheNode(turn, node, event, error)) return false;
  node.error = error;
  if (node.error.empty()) {
    TakeIncarnations(turn, node, report);
    TakeDraining(turn, node, report);
    TakeHint(turn, node, report);
    TakePool(turn, node, report);
    const bool was_silent = !node.reported || node.lost;
    NoteHeard(node);
    node.ended = false;
    node.heard = turn.now;
    node.reported = true;
    node.report = report;
    node.report.clear_logs();
    node.device = std::hash<std::string>()(report.device().kind());
    if (was_silent) (void)ForgetLostNode(turn, report.node());
    TakeProcesses(turn, node, report);
    TakeFound(turn, node, report);
    (void)TakeRecords(turn, report);
    TakeAbsent(turn, report);
    RefuseClaims(turn, node);
  }
  CheckPlanned(turn.state, node);
  return true;
}

void AdoptNode(Turn& turn, const v1::NodeRecord& record) {
  NodeState& node = turn.state.nodes[record.name()];
  node.record = record;
  ChangeCharged(turn.state, node);
  node.known_since = turn.now;
  if (record.silent_since() > 0) node.lost_since = turn.now - std::max(0.0, UnixNow(turn) - record.silent_since());
  if (record.draining() && record.drain_within_seconds() > 0) {
    const double within = record.drain_within_seconds();  // Whatever the clock has done since.
    const double left = record.drain_until() > 0 ? record.drain_until() - UnixNow(turn) : within;
    node.drain_deadline = turn.now + std::clamp(left, 0.0, within);
  }
}

double WatchNodes(Turn& turn) {
  double wake_at = kNever;
  turn.state.any_lost = false;
  std::optional<ByNode> trainers_by;  // Looked up only where the agent alone says too little: there are many.
  for (auto& [name, node] : turn.state.nodes) {
    if (!node.claims.empty()) wake_at = std::min(wake_at, ForgetClaims(node, turn.now));
    const bool overdue = node.record.draining() && turn.now >= node.drain_deadline;
    if (std::exchange(node.overdue, overdue) != overdue) turn.state.plan_due = true;
    if (node.record.draining() && !node.overdue) wake_at = std::min(wake_at, node.drain_deadline);
    const double expected =
        std::max(node.known_since, node.heard + (node.reported ? PollSeconds(node.report.wait_ms()) : 0));
    double patience = turn.state.tunables.node_lost_seconds;
    double lost_at = expected + patience;
    if (turn.now >= lost_at || Unanswered(node)) {
      if (!trainers_by) trainers_by = TrainersSpeakBy(turn.state);
      const auto trainers = trainers_by->find(name);
      const double by_trainer = trainers == trainers_by->end() ? -kNever : trainers->second;
      lost_at = std::max(expected, by_trainer) + patience;
      if (Unanswered(node)) {
        const double at = std::max(node.asked_at, by_trainer) + turn.state.tunables.unanswered_seconds;
        if (at < lost_at) patience = turn.state.tunables.unanswered_seconds;
        lost_at = std::min(lost_at, at);
      }
    }
    const bool lost = turn.now >= lost_at;
    if (!lost) wake_at = std::min(wake_at, lost_at);
    turn.state.any_lost = turn.state.any_lost || lost;
    if (lost != node.lost) {
      node.lost = lost;
      TellHeardOrLost(turn, node, patience);
      if (lost) {
        NoteSilence(turn, node);
      } else {
        NoteHeard(node);
      }
      turn.state.plan_due = true;
      for (const auto& [slot, uid] : node.slots) {  // Who waits for workers counts on slots.
        const auto job = turn.state.jobs.find(uid);
        if (job != turn.state.jobs.end()) turn.Wake(job->second, turn.now);
      }
    }
    const bool goes_home = node.record.drained_agent() != node.report.agent_incarnation();
    if (!node.record.draining() || !node.reported || (!goes_home && node.slots.empty())) continue;
    if (!node.slots.empty() && turn.now > expected) continue;  // It may have started there what it was told last.
    if (!IsDrained(turn.state, name)) continue;
    node.slots.clear();  // Jobs that had them are charged for them until then.
    if (!goes_home) continue;
    // Remembers whom it sent home, so that the node is welcome again when somebody starts a new agent.
    node.record.set_drained_agent(node.report.agent_incarnation());
    node.must_save = true;
    turn.state.plan_due = true;
    turn.Emit(nullptr, "node_drained", absl::StrCat("node ", name, " is drained: nothing of any job is left on it"),
              name);
  }
  return wake_at;
}

}  // namespace rekindle::core
