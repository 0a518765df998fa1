#include "coordinator/core/machines/directives.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/certainty/certainty.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/machines/name_claims.h"
#include "coordinator/core/record/found_jobs.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/record/store_search.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr uint64_t kHashFactor = 1099511628211ULL;

// Returns the FNV-1a hash of the message's bytes.
uint64_t Hash(const google::protobuf::MessageLite& message, uint64_t hash = 14695981039346656037ULL) {
  for (const char c : message.SerializeAsString()) hash = (hash ^ static_cast<uint8_t>(c)) * kHashFactor;
  return hash;
}

// Returns a directive's revision, which is never 0, from the hash of its content. Such a revision survives a restart of
// the coordinator, and a changed directive does not keep its revision by accident.
int Revision(uint64_t hash) {
  const int revision = static_cast<int>((hash ^ (hash >> 32)) & 0x7fffffff);
  return revision == 0 ? 1 : revision;
}

template <typename Directive>
Directive Revised(Directive directive, int known_revision) {
  const int revision = Revision(Hash(directive));
  if (revision == known_revision) directive.Clear();
  directive.set_revision(revision);
  return directive;
}

v1::TrainerDirective Told(v1::TrainerDirective::Action action, const std::string& reason) {
  v1::TrainerDirective directive;
  directive.set_action(action);
  directive.set_reason(reason);
  return directive;
}

// Returns a directive that lets a trainer go on as it was told before, and asks it to report its membership.
v1::TrainerDirective ToldToTell() {
  v1::TrainerDirective directive;
  directive.set_tell_membership(true);
  return directive;
}

// Tells a trainer to wait. A trainer that waits looks for the checkpoint that the next generation is to restore.
v1::TrainerDirective ToldToWait(const Job& job, const std::string& reason) {
  v1::TrainerDirective directive = Told(v1::TrainerDirective::WAIT, reason);
  if (MustLook(job)) directive.set_look(job.record.look());
  if (job.active || MustStop(job)) return directive;
  directive.set_find_checkpoint(job.regroup.forming.find);
  directive.set_verify_checkpoint(job.regroup.forming.verify);
  return directive;
}

// Returns why a trainer waits. The status of a job that stops names a sum of money and a step, which change often. A
// waiting trainer is not told of each change, so it gets a reason without them.
std::string WhyItWaits(const Job& job, const std::string& otherwise) {
  if (!MustStop(job)) return otherwise;
  return job.record.want_paused() ? "the job is paused" : job.record.halt();
}

v1::TrainerDirective ForMember(const Job& job) {
  if (!job.active) {
    v1::TrainerDirective directive = ToldToWait(job, WhyItWaits(job, job.regroup.forming.reason));
    directive.set_without_store(IsFinishing(job));
    directive.set_ended_generation(job.record.membership().generation());
    return directive;
  }
  v1::TrainerDirective directive = job.regroup.yielding
                                       ? Told(v1::TrainerDirective::YIELD, job.regroup.yield_reason)
                                       : Told(v1::TrainerDirective::RUN, job.record.membership().reason());
  directive.set_checkpoint(job.regroup.yielding && job.regroup.yield_checkpoint);
  if (directive.checkpoint()) directive.set_checkpoint_within_seconds(job.regroup.yield_within_seconds);
  *directive.mutable_membership() = job.record.membership();
  return directive;
}

v1::TrainerDirective ForOther(const State& state, const Job& job, const std::string& id, const Trainer* trainer) {
  const std::string node = trainer != nullptr && trainer->reported ? trainer->report.node() : NodeOf(id);
  if (IsDraining(state, node)) {
    return Told(v1::TrainerDirective::EXIT, absl::StrCat("node ", node, " is draining"));
  }
  if (MustLeave(state, job, id)) return Told(v1::TrainerDirective::EXIT, WhyItLeaves(state, job, id));
  const int generation = job.record.membership().generation();
  if (trainer != nullptr && trainer->report.generation() > 0 && trainer->report.phase() != v1::TRAINER_READY) {
    const std::string reason =
        generation == 0 ? WhyItWaits(job, job.record.job().status().reason())
                        : absl::StrCat("left out of generation ", generation, ": ", job.record.membership().reason());
    v1::TrainerDirective directive = ToldToWait(job, reason);
    // The membership in the directive shows the trainer that it is not a member any more.
    *directive.mutable_membership() = job.record.membership();
    return directive;
  }
  const auto excluded = job.excluded_until.find(node);
  if (excluded != job.excluded_until.end()) {
    return ToldToWait(job, absl::StrCat("node ", node, " is kept out for a while"));
  }
  // A trainer that waits to take the final state over must not depend on the store, because the state is needed most
  // when the store cannot be read.
  if (IsFinishing(job)) {
    v1::TrainerDirective directive = ToldToWait(job, "takes the final state over when a holder leaves");
    directive.set_without_store(true);
    return directive;
  }
  return ToldToWait(job, job.active ? "joins at a step boundary" : WhyItWaits(job, job.record.job().status().reason()));
}

v1::TrainerDirective WithoutRevision(const State& state, const Job& job, const std::string& id) {
  if (const std::string* refused = job.refused.Find(id); refused != nullptr) {
    v1::TrainerDirective directive = Told(v1::TrainerDirective::EXIT, *refused);
    directive.set_error(*refused);
    return directive;
  }
  if (MustTell(job, id)) return ToldToTell();
  const Trainer* trainer = FindTrainer(job, id);
  const bool is_known = trainer != nullptr && (trainer->reported || !trainer->death.empty());
  // The job has no membership yet, and no report of the trainer is known. The coordinator did not know the job when the
  // trainer reported last, so the trainer has to report now which membership it is in.
  if (!is_known && !IsOver(job) && job.record.membership().generation() == 0) return ToldToTell();
  if (IsOver(job)) {
    return Told(v1::TrainerDirective::EXIT,
                absl::StrCat("job ", job.record.job().name(), " is over: ", job.record.job().status().reason()));
  }
  if (trainer != nullptr && IsGone(job, *trainer)) return Told(v1::TrainerDirective::EXIT, trainer->death);
  if (trainer != nullptr) {
    const std::string stale = StaleMicroBatch(job, trainer->report);
    if (!stale.empty()) return Told(v1::TrainerDirective::EXIT, stale);
  }
  if (FindMember(job, id) != nullptr) return ForMember(job);
  return ForOther(state, job, id, trainer);
}

// Returns whether a trainer of the job has to run in the slot. On a node that drains, and in a slot that the job gives
// up, a live member stays, everything else stops, and nothing is started.
bool IsDesired(const State& state, const Job& job, const std::string& name, const NodeState& node, int slot) {
  if (IsOver(job)) return false;
  const bool given = !job.giving_up.empty() && job.giving_up.count(absl::StrCat(name, "/", slot)) > 0;
  if (!IsDraining(state, name) && !given) return true;
  // The time that the node had to drain is over. The agent stops the trainers on the node, and their exits are evidence
  // for the other members.
  if (node.overdue) return false;
  for (const v1::Member& member : job.record.membership().members()) {
    if (member.node() != name || SlotOf(member.trainer()) != slot) continue;
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer != nullptr && !trainer->death.empty()) return false;
    return (trainer != nullptr && trainer->reported) || ListsRunning(node, member.trainer());
  }
  return false;
}

bool NothingLeft(const NodeState& node) {
  for (const v1::TrainerProcess& process : node.report.trainers()) {
    if (process.running()) return false;
  }
  return true;
}

// Returns the part of a node's directive that is for this node alone, without the specs of its trainers.
v1::NodeDirective OwnPart(const State& state, const std::string& name, const NodeState& node) {
  v1::NodeDirective directive;
  directive.set_error(node.error);
  directive.set_probe(node.probe);
  if (!node.claims.empty()) directive.set_name_claimed(DescribeClaims(node));
  for (const auto& [slot, uid] : node.slots) {
    const auto found = state.jobs.find(uid);
    if (!node.error.empty() || found == state.jobs.end()) continue;
    const Job& job = found->second;
    if (!IsDesired(state, job, name, node, slot)) continue;
    v1::DesiredTrainer* desired = directive.add_trainers();
    desired->set_job_uid(uid);
    desired->set_slot(slot);
    if (FindsMicroBatch(job)) desired->set_micro_batch_at_most(job.record.micro_batch_search().at_most());
  }
  // `unknown` holds the jobs that run on the node and have no record, or a record that is older than what runs.
  std::set<std::string> unknown;
  for (const v1::TrainerProcess& process : node.report.trainers()) {
    // An exit in a job without a record must be reported again once there is one, so it is not acknowledged yet.
    if (!process.running() && state.jobs.count(process.job_uid()) > 0) {
      directive.add_acknowledged_exits(process.trainer());
    }
    if (!process.running()) continue;
    const auto job = state.jobs.find(process.job_uid());
    if (job == state.jobs.end() || IsBehind(job->second)) unknown.insert(process.job_uid());
  }
  for (const std::string& uid : unknown) directive.add_leave_alone(uid);
  if (!unknown.empty()) {
    for (const std::string& uid : StoresToRead(state, name)) directive.add_read_stored(uid);
  }
  for (const v1::SoughtTrainer& sought : state.sought) {
    const v1::Machine& machine = sought.process().machine();
    const v1::Machine& here = node.report.machine();
    if (machine.boot() == here.boot() && machine.processes() == here.processes()) *directive.add_look_for() = sought;
  }
  directive.set_drained(node.record.draining() && directive.trainers_size() == 0 && NothingLeft(node));
  return directive;
}

// Returns the revision of a node's whole directive without making the directive, because most polls find nothing new.
int RevisionOf(const State& state, const v1::NodeDirective& own) {
  uint64_t hash = Hash(own, state.surroundings.hash);
  for (const v1::DesiredTrainer& desired : own.trainers()) {
    const Job& job = state.jobs.at(desired.job_uid());
    if (job.spec_hash == 0) job.spec_hash = Hash(SpecOf(job));
    hash = (hash ^ job.spec_hash) * kHashFactor;
  }
  return Revision(hash);
}

void AddRest(const State& state, const std::string& name, v1::NodeDirective* directive) {
  for (v1::DesiredTrainer& desired : *directive->mutable_trainers()) {
    const Job& job = state.jobs.at(desired.job_uid());
    desired.set_job_name(job.record.job().name());
    *desired.mutable_spec() = SpecOf(job);
    desired.set_job_secret(job.record.secret());
  }
  *directive->mutable_live_jobs() = state.surroundings.told.live_jobs();
  for (const v1::CheckpointPeer& peer : state.surroundings.told.checkpoint_peers()) {
    if (peer.node() != name) *directive->add_checkpoint_peers() = peer;
  }
}

// A node is told of at most this many peers whose memory may hold copies of checkpoints.
constexpr int kMaxCheckpointPeers = 256;

}  // namespace

v1::TrainerDirective TrainerDirectiveFor(const State& state, const Job& job, const std::string& trainer,
                                         int known_revision) {
  return Revised(WithoutRevision(state, job, trainer), known_revision);
}

v1::TrainerDirective UnknownJobDirective(int known_revision) { return Revised(ToldToTell(), known_revision); }

v1::NodeDirective NodeDirectiveFor(const State& state, const std::string& name, int known_revision) {
  const auto it = state.nodes.find(name);
  const bool known = it != state.nodes.end();
  v1::NodeDirective directive;
  if (known) directive = OwnPart(state, name, it->second);
  const int revision = RevisionOf(state, directive);
  if (revision == known_revision) {
    directive.Clear();
  } else if (known) {
    AddRest(state, name, &directive);
  }
  directive.set_revision(revision);
  return directive;
}

v1::NodeDirective DirectiveForClaim(const NodeState& node, const std::string& agent, int known_revision) {
  v1::NodeDirective directive;
  const NameClaim* claim = FindClaim(node, agent);
  if (claim == nullptr || AwaitsDecision(node, agent)) {
    directive.set_revision(known_revision);
    return directive;
  }
  directive.set_error(claim->error);
  if (claim->error.empty()) directive.set_name_in_use(claim->refusal);
  return Revised(std::move(directive), known_revision);
}

bool IsDrained(const State& state, const std::string& name) {
  const auto it = state.nodes.find(name);
  return it != state.nodes.end() && OwnPart(state, name, it->second).drained();
}

void RefreshSurroundings(State& state) {
  v1::NodeDirective told;
  size_t active = 0;
  for (const auto& [name, node] : state.nodes) {
    // One peer more than the maximum is listed, because no node is its own peer.
    if (told.checkpoint_peers_size() > kMaxCheckpointPeers) break;
    if (!node.reported || node.lost || !node.error.empty() || node.report.checkpoint_address().empty()) continue;
    v1::CheckpointPeer* peer = told.add_checkpoint_peers();
    peer->set_node(name);
    peer->set_address(node.report.checkpoint_address());
    peer->set_zone(node.report.zone());
  }
  for (const auto& [uid, job] : state.jobs) {
    if (IsOver(job)) continue;
    ++active;
    if (job.record.membership().generation() > 0) told.add_live_jobs(uid);
  }
  for (const auto& [uid, job] : state.found) told.add_live_jobs(uid);
  const uint64_t hash = Hash(told);
  state.surroundings = {.told = std::move(told), .hash = hash, .jobs = state.order.size(), .active = active};
}

}  // namespace rekindle::core
