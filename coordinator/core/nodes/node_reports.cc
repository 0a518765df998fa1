#include "coordinator/core/nodes/node_reports.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/certainty/certainty.h"
#include "coordinator/core/charges/charged_nodes.h"
#include "coordinator/core/charges/given_up.h"
#include "coordinator/core/charges/lost_charges.h"
#include "coordinator/core/choices/memory_shortage.h"
#include "coordinator/core/generation/fence.h"
#include "coordinator/core/keeping/forgetting.h"
#include "coordinator/core/machines/directives.h"
#include "coordinator/core/machines/draining.h"
#include "coordinator/core/machines/heartbeat.h"
#include "coordinator/core/machines/name_claims.h"
#include "coordinator/core/members/deaths.h"
#include "coordinator/core/members/faults.h"
#include "coordinator/core/nodes/node_report_check.h"
#include "coordinator/core/nodes/silent_nodes.h"
#include "coordinator/core/planning/planning.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/reports/found.h"
#include "coordinator/core/state/fault_kind.h"
#include "coordinator/core/state/own_code.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr size_t kMaxNodes = 10'000;

// Adds a fault of the node to every job that has a member there, but for paused jobs, of which nothing runs.
void TellMembers(Turn& turn, const std::string& node, FaultKind kind, const std::string& reason) {
  bool told = false;
  for (auto& [uid, job] : turn.state.jobs) {
    if (IsOver(job) || (MustStop(job) && !job.active)) continue;
    for (const v1::Member& member : job.record.membership().members()) {
      if (member.node() != node) continue;
      v1::Fault fault;
      fault.set_kind(WordOf(kind));
      fault.set_reason(reason);
      AddFault(turn, job, std::move(fault), node, /*pausing=*/false, turn.now);
      told = true;
      break;
    }
  }
  if (!told) turn.Emit(nullptr, WordOf(kind), reason, node);
}

// Gives up the trainers that ran on the machine that had the node's name before. Trainers that the new machine reports
// as running stay: they were started by a coordinator that knew this machine.
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
      (booted ? RecordDeath : GiveUp)(turn, job, id, FaultKind::kNodeKilled, death);
    }
  }
}

// Takes the incarnations of the node's agent and checkpoint service into its record, so that a service replaced while
// the coordinator was away is noticed.
void TakeServices(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  const std::string& name = report.node();
  const std::string agent = node.record.agent_incarnation();
  if (agent != report.agent_incarnation()) {
    node.record.set_agent_incarnation(report.agent_incarnation());
    turn.Save(node);
    if (!agent.empty()) (void)node.past_agents.Set(agent, {});
    if (!agent.empty() && !node.record.draining()) {
      TellMembers(turn, name, FaultKind::kAgentKilled,
                  absl::StrCat("the agent of node ", name, " was restarted; its trainers were adopted"));
    }
  }
  const std::string checkpoint = node.record.checkpoint_incarnation();
  if (report.checkpoint_incarnation().empty() || checkpoint == report.checkpoint_incarnation()) return;
  node.record.set_checkpoint_incarnation(report.checkpoint_incarnation());
  turn.Save(node);
  if (!checkpoint.empty()) {
    TellMembers(turn, name, FaultKind::kCheckpointKilled,
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
    turn.Replan();
  }
  if (node.record.incarnation() != report.incarnation()) {
    if (node.record.incarnation().empty())
      turn.Emit(nullptr, "node_ready", absl::StrCat("node ", name, " registered"), name);
    node.record.set_incarnation(report.incarnation());
    ChangeCharged(turn.state, node);
    turn.Save(node);
  }
  if (node.record.home() != report.home()) {
    node.record.set_home(report.home());
    turn.Save(node);
  }
  TakeServices(turn, node, report);
}

// Takes the node's pool and slots into its record, so that a restarted coordinator charges for the node from the
// coordinator's first moment.
void TakePool(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  if (node.reported && node.record.pool() == report.pool() && node.record.slots() == report.slots()) return;
  const bool told = node.record.slots() > 0 && node.record.pool() == report.pool();
  if (!told || node.record.slots() != report.slots()) turn.Save(node);
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

// Tells of slots that have failed since the last report, and of those that are mended.
void TellSlotFaults(Turn& turn, const NodeState& node, const v1::NodeReport& report) {
  for (const v1::SlotFault& fault : report.slot_faults()) {
    const v1::SlotFault* before = node.reported ? FaultOf(node.report, fault.slot()) : nullptr;
    if (before != nullptr) continue;
    turn.Emit(
        nullptr, "slot_failed",
        absl::StrCat("slot ", fault.slot(), " of node ", report.node(), " is out of use: ", Bounded(fault.words())),
        report.node());
  }
  if (!node.reported) return;
  for (const v1::SlotFault& fault : node.report.slot_faults()) {
    if (FaultOf(report, fault.slot()) != nullptr) continue;
    turn.Emit(nullptr, "slot_mended",
              absl::StrCat("slot ", fault.slot(), " of node ", report.node(), " is in use again"), report.node());
  }
}

// Tells of jobs of which the node cannot start a trainer. The reason of a job that waits says it too (WaitForWorkers).
void TellStartTroubles(Turn& turn, const NodeState& node, const v1::NodeReport& report) {
  for (const v1::StartTrouble& trouble : report.start_troubles()) {
    const auto it = turn.state.jobs.find(trouble.job_uid());
    if (it == turn.state.jobs.end() || IsOver(it->second) || !HoldsSlotOf(node, trouble.job_uid())) continue;
    if (node.reported && StartTroubleOf(node.report, trouble.job_uid()) != nullptr) continue;
    turn.Emit(&it->second, "not_started",
              absl::StrCat("node ", report.node(), " cannot start a trainer: ", Bounded(trouble.words())),
              report.node());
  }
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
      // After a restart of the coordinator, a running trainer shows which job its slot serves, unless the job has freed
      // its nodes, so that the trainer has to end.
      const bool serves =
          (!it->second.record.released() || IsBehind(it->second)) && process.slot() >= 0 && process.slot() < kMaxSlots;
      const bool is_member = it->second.active && FindMember(it->second, process.trainer()) != nullptr;
      const bool is_free = !node.slots.count(process.slot()) && FaultOf(report, process.slot()) == nullptr;
      if (serves && (is_member || is_free)) {
        node.slots[process.slot()] = process.job_uid();
      }
      continue;
    }
    (IsCertain(it->second, process, report) ? RecordDeath : GiveUp)(
        turn, it->second, process.trainer(), FaultKind::kTrainerKilled,
        absl::StrCat(DescribeExit(process.exit_code(), process.exit_reason()), " (agent of ", report.node(), ")"));
    if (process.out_of_memory())
      HalveMicroBatch(turn, it->second, process.trainer(), "its process ended for want of memory");
  }
}

bool TakeRecords(Turn& turn, const v1::NodeReport& report) {
  if (turn.state.found.empty() || !TakeStoredJobs(turn, report)) return false;
  TakeProcessesAgain(turn);
  return true;
}

// Returns whether the report says nothing new but that the node lives, and perhaps that the node may be taken away
// soon.
bool IsHeartbeat(const NodeState& node, const v1::NodeReport& report) {
  if (!node.reported || node.lost || node.record.draining() || !node.error.empty() || IsUnanswered(node)) return false;
  return SaysTheSame(node.report, report);
}

// Keeps the node's report, and what every planning cycle reads of it.
void KeepReport(State& state, const v1::NodeReport& report, NodeState& node) {
  node.reported = true;
  node.report = report;
  node.report.clear_logs();
  node.device = std::hash<std::string>()(report.device().kind());
  node.runs = OwnCodeOn(report, state.tunables.takes_code);
  node.code_words = std::hash<std::string>()(
      absl::StrCat(report.allow_code(), "\n", report.interpreter().path(), "\n", report.interpreter().problem()));
  if (report.start_troubles().empty()) {
    state.start_troubles.erase(report.node());
  } else {
    state.start_troubles.insert(report.node());
  }
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
  const bool settles = !is_new && AwaitsConfirmation(turn.state, report.node());
  // The report may change the directive, so the revisions are compared before.
  const bool told = settles && NodeDirectiveFor(turn.state, report.node(), /*known_revision=*/0).revision() ==
                                   report.known_revision();
  if (!is_new && IsHeartbeat(known->second, report)) {
    NodeState& node = known->second;
    node.heard = turn.now;
    RefuseClaims(turn, node);
    node.report.set_known_revision(report.known_revision());
    node.report.set_wait_ms(report.wait_ms());
    if (report.hint() != node.report.hint()) {
      TakeHint(turn, node, report);
      node.report.set_hint(report.hint());
      CheckPlanned(turn, node);
    }
    turn.state.watch_nodes_at = std::min(
        turn.state.watch_nodes_at, turn.now + PollSeconds(report.wait_ms()) + turn.state.tunables.node_lost_seconds);
    // The agent of a draining node is told to leave only while it is heard of. If it was not told yet, it can be told
    // after this report, so the core has to act on the report.
    const bool goes_home = node.record.draining() && node.record.drained_agent() != report.agent_incarnation();
    const bool charged = settles && SettleGivenUp(turn, node, told);
    return TakeRecords(turn, report) || goes_home || charged;
  }
  if (is_new && turn.state.nodes.size() >= kMaxNodes && !ForgetOneNode(turn)) return false;
  NodeState& node = turn.state.nodes[report.node()];
  if (is_new) node.known_since = turn.now;
  node.record.set_name(report.node());
  const std::string error = FindRefusal(report, turn.state.tunables.allow_fake_devices);
  if (!IsTheNode(turn, node, event, error)) return false;
  node.error = error;
  if (node.error.empty()) {
    TakeIncarnations(turn, node, report);
    TakeDraining(turn, node, report);
    TakeHint(turn, node, report);
    TakePool(turn, node, report);
    TellSlotFaults(turn, node, report);
    TellStartTroubles(turn, node, report);
    const bool was_silent = !node.reported || node.lost;
    NoteHeard(turn, node);
    node.ended = false;
    node.heard = turn.now;
    KeepReport(turn.state, report, node);
    if (was_silent) (void)ForgetLostNode(turn, report.node());
    if (settles) (void)SettleGivenUp(turn, node, told);
    TakeProcesses(turn, node, report);
    TakeReportOfFound(turn, node, report);
    (void)TakeRecords(turn, report);
    TakeAbsentTrainers(turn, report);
    RefuseClaims(turn, node);
  }
  CheckPlanned(turn, node);
  return true;
}

void AdoptNode(Turn& turn, const v1::NodeRecord& record) {
  NodeState& node = turn.state.nodes[record.name()];
  node.record = record;
  ChangeCharged(turn.state, node);
  node.known_since = turn.now;
  if (record.silent_since() > 0) node.lost_since = turn.now - std::max(0.0, UnixNow(turn) - record.silent_since());
  if (record.draining() && record.drain_within_seconds() > 0) {
    // If the clock was set back while the coordinator was away, the node still gets no more time than its drain's
    // limit.
    const double within = record.drain_within_seconds();
    const double left = record.drain_until() > 0 ? record.drain_until() - UnixNow(turn) : within;
    node.drain_deadline = turn.now + std::clamp(left, 0.0, within);
  }
}

}  // namespace rekindle::core
