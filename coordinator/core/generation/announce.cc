#include "coordinator/core/generation/announce.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/check/check.h"
#include "coordinator/core/account/costs.h"
#include "coordinator/core/certainty/generation_lease.h"
#include "coordinator/core/choices/memory_shortage.h"
#include "coordinator/core/generation/membership_flaws.h"
#include "coordinator/core/keeping/remembered.h"
#include "coordinator/core/members/exchange_choice.h"
#include "coordinator/core/members/faults.h"
#include "coordinator/core/members/identity.h"
#include "coordinator/core/members/members.h"
#include "coordinator/core/state/fault_kind.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

struct Change {
  // `left` holds a sentence for each member that left without being asked, and `drained` one for each that was asked to
  // leave.
  std::vector<std::string> left;
  std::vector<std::string> drained;
  // `joined` holds the short names of the trainers that joined.
  std::vector<std::string> joined;
  // `added_nodes` are nodes that were never members before, or whose machines were replaced.
  std::vector<std::string> added_nodes;
  // `kind` is the fault kind of the members that left without being asked.
  std::string kind;
  std::string node;
  std::string drained_node;
  std::set<std::string> silent;
  bool all_gone = false;
  // `all_released` says that the job had given all its nodes up before the change.
  bool all_released = false;
};

bool SeenBefore(const State& state, const Job& job, const std::string& node) {
  const auto it = state.nodes.find(node);
  for (const v1::NodeRecord& seen : job.record.nodes_seen()) {
    if (seen.name() == node) return it == state.nodes.end() || seen.incarnation() == it->second.record.incarnation();
  }
  return false;
}

int Severity(const std::string& word) {
  switch (FaultKindOf(word)) {
    case FaultKind::kNodeKilled:
      return 3;
    case FaultKind::kTrainerFrozen:
      return 2;
    case FaultKind::kTrainerKilled:
      return 1;
    default:
      return 0;
  }
}

Change Compare(const State& state, const Job& job, const v1::Membership& next, const std::vector<MemberView>& views) {
  Change change;
  std::set<std::string> now, before;
  for (const v1::Member& member : next.members()) now.insert(member.trainer());
  bool any_stopped = false;
  size_t released = 0;
  for (const MemberView& view : views) {
    const std::string& trainer = view.member->trainer();
    before.insert(trainer);
    any_stopped = any_stopped || view.standing == Standing::kStopped;
    if (now.count(trainer)) continue;
    const FaultKind kind = FaultKindOf(view.kind);
    // A member that is not needed to keep the final state leaves without an interruption of the job.
    if (IsFinishing(job) && kind == FaultKind::kDrained && !MustLeave(state, job, trainer)) continue;
    if (kind == FaultKind::kDrained || (kind == FaultKind::kNone && MustLeave(state, job, trainer))) {
      const bool told = !view.cause.empty() || !MustLeave(state, job, trainer);
      released += kind == FaultKind::kDrained && !MustLeave(state, job, trainer);
      change.drained.push_back(told ? view.cause : WhyItLeaves(state, job, trainer));
      change.drained_node = view.member->node();
      continue;
    }
    if (view.standing == Standing::kStopped && view.cause.empty() && next.source().has_checkpoint()) {
      change.left.push_back(
          absl::StrCat("trainer ", ShortName(trainer), " cannot restore ", next.source().checkpoint()));
      if (change.kind.empty()) change.kind = WordOf(FaultKind::kExcluded);
      continue;
    }
    change.left.push_back(view.cause.empty() ? absl::StrCat("trainer ", ShortName(trainer), " left") : view.cause);
    if (change.kind.empty() || Severity(view.kind) > Severity(change.kind)) {
      change.kind = view.kind;
      change.node = view.member->node();
    }
    if (view.by_silence) change.silent.insert(trainer);
  }
  change.all_gone = !views.empty() && !any_stopped && !change.left.empty();
  change.all_released = !views.empty() && released == views.size();
  for (const v1::Member& member : next.members()) {
    if (before.count(member.trainer())) continue;
    change.joined.push_back(ShortName(member.trainer()));
    if (!SeenBefore(state, job, member.node())) change.added_nodes.push_back(member.node());
  }
  return change;
}

std::string DescribeOrigin(const v1::Membership& next, const Origin& origin) {
  switch (origin.kind) {
    case Origin::Kind::kInitial:
      return "initial state";
    case Origin::Kind::kCheckpoint:
      return absl::StrCat("checkpoint ", origin.manifest, " of step ", origin.step);
    case Origin::Kind::kRank:
      break;
  }
  return absl::StrCat("live state of ", ShortName(next.members(next.source().rank()).trainer()), " at step ",
                      origin.step);
}

std::string Explain(const Job& job, const v1::Membership& next, const Origin& origin, const Change& change) {
  const int before = job.record.membership().members_size();
  if (before == 0) {
    return absl::StrCat("started with ", next.members_size(),
                        next.members_size() == 1 ? " worker from " : " workers from ", DescribeOrigin(next, origin));
  }
  std::vector<std::string> causes = change.left;
  causes.insert(causes.end(), change.drained.begin(), change.drained.end());
  if (change.all_released) {
    return absl::StrCat("goes on with ", next.members_size(), " from ", DescribeOrigin(next, origin),
                        ", after its nodes had been given up",
                        job.regroup.forming.restarted ? "" : absl::StrCat(": ", job.regroup.forming.reason));
  }
  if (change.all_gone) {
    return absl::StrCat("resumed with ", next.members_size(), " from ", DescribeOrigin(next, origin),
                        " after all had gone: ", Bounded(JoinWords(causes)));
  }
  if (!change.joined.empty()) {
    causes.push_back(absl::StrCat(JoinWords(change.joined), change.joined.size() == 1 ? " joins" : " join"));
  }
  if (causes.empty()) causes.push_back(job.regroup.forming.reason);
  if (SizeHasChanged(job)) {
    causes.push_back(absl::StrCat("from here on in micro-batches of ", SpecOf(job).training().micro_batch()));
  }
  const std::string back =
      origin.lost.empty() ? "" : absl::StrCat("; goes back to ", DescribeOrigin(next, origin), ": ", origin.lost);
  return absl::StrCat(DescribeResize(before, next.members_size()), ": ", Bounded(JoinWords(causes), 1000), back);
}

void RememberNodes(const State& state, Job& job) {
  constexpr int kMaxSeen = 1000;
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = state.nodes.find(member.node());
    const std::string incarnation = node == state.nodes.end() ? "" : node->second.record.incarnation();
    v1::NodeRecord* found = nullptr;
    for (v1::NodeRecord& seen : *job.record.mutable_nodes_seen()) {
      if (seen.name() == member.node()) found = &seen;
    }
    if (found == nullptr) {
      if (job.record.nodes_seen_size() >= kMaxSeen) job.record.mutable_nodes_seen()->DeleteSubrange(0, 1);
      found = job.record.add_nodes_seen();
      found->set_name(member.node());
    }
    found->set_incarnation(incarnation);
  }
}

// Cuts off the part of a loss curve beyond the step that the job goes back to, as these steps will be measured again.
void CutCurve(google::protobuf::RepeatedPtrField<v1::LossPoint>* curve, int step) {
  while (!curve->empty() && curve->Get(curve->size() - 1).step() > step) curve->RemoveLast();
}

void Account(Turn& turn, Job& job, const Change& change, int redone, int steps_redone, double completed_at) {
  const v1::Membership& membership = job.record.membership();
  v1::Fault fault;
  fault.set_reason(membership.reason());
  bool told = false;
  if (!change.left.empty() && FaultKindOf(change.kind) != FaultKind::kExcluded) {
    v1::Fault lost = fault;
    lost.set_kind(change.all_gone ? WordOf(FaultKind::kAllKilled) : change.kind);
    lost.set_micro_batches_redone(redone);
    lost.set_steps_redone(steps_redone);
    AddFault(turn, job, lost, change.node, true, completed_at, change.silent);
    CountRework(job);
    told = true;
  }
  if (!change.drained.empty()) {
    v1::Fault drained = fault;
    drained.set_kind(WordOf(FaultKind::kDrained));
    if (change.left.empty()) drained.set_micro_batches_redone(redone);
    if (change.left.empty()) drained.set_steps_redone(steps_redone);
    AddFault(turn, job, drained, change.drained_node, true, completed_at);
    told = true;
  }
  if (!change.added_nodes.empty() && !change.all_gone) {
    fault.set_kind(WordOf(FaultKind::kNodeAdded));
    AddFault(turn, job, fault, change.added_nodes.front(), true, completed_at);
    told = true;
  }
  if (!told && !IsFinishing(job)) turn.Emit(&job, "resized", membership.reason());
  if (!change.left.empty() || !change.drained.empty()) {
    v1::JobStatus* status = job.record.mutable_job()->mutable_status();
    status->set_interruptions(status->interruptions() + 1);
  }
}

}  // namespace

void Announce(Turn& turn, Job& job, v1::Membership next, const Origin& origin, const std::vector<MemberView>& views) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  const bool first = job.record.membership().members_size() == 0;
  const Change change = Compare(turn.state, job, next, views);
  next.set_reason(Explain(job, next, origin, change));
  const int redone = CountRedone(job, next, views);
  const int steps_redone = std::max(0, status->step() - next.step());
  const double completed_at = std::max(job.regroup.forming.completed_at, job.completed_at);

  next.set_micro_batch(SpecOf(job).training().micro_batch());
  next.set_final_store(job.record.final_store());
  next.set_epoch(turn.state.epoch.number);
  next.set_epoch_tag(turn.state.epoch.tag);
  ForgetNcclFailures(job);
  const TransportChoice choice = TransportOf(turn, job, next);
  next.set_transport(choice.transport);
  *job.record.mutable_membership() = next;
  SetLease(turn.state, job, job.record.mutable_membership());
  job.record.clear_deaths();
  job.active = true;
  job.runs_because.clear();
  job.regroup.yielding = false;
  job.formed_at = turn.now;
  job.formed_step = next.step();
  job.regroup.silence.clear();
  job.regroup.ask_lease_at = -kNever;
  job.account.since_step = {};
  job.regroup.ready_since = kNever;
  status->set_generation(next.generation());
  if (!next.interrupted()) {
    status->set_step(next.step());
    job.completed_step = next.step();
  }
  CutCurve(status->mutable_loss_curve(), next.step());
  CutCurve(status->mutable_validation_curve(), next.step());
  RecordIdentity(job);
  ShowMembers(job);
  SetState(turn, job, IsFinishing(job) ? v1::FINISHING : v1::RUNNING, next.reason());
  status->set_last_event(next.reason());
  if (first) {
    turn.Emit(&job, "started", next.reason());
  } else {
    Account(turn, job, change, redone, steps_redone, completed_at);
  }
  ShowExchange(turn, job, choice);
  job.record.mutable_membership()->set_interruptions(status->interruptions());
  job.record.mutable_membership()->set_node_hours(status->node_hours());
  // The digest tells this membership from another one of the same number, which another coordinator may form on an old
  // copy of the records.
  job.record.mutable_membership()->set_digest(DigestOf(job.record.membership()));
  common::Check(FindFlawInDeal(job.record.membership(), job).empty(),
                "a new membership gives each micro-batch and each shard to members of its own");
  RememberNodes(turn.state, job);
  ForgetTrainers(job, turn.now);
  turn.Save(job);
  turn.Changed(job);
}

}  // namespace rekindle::core
