#include "coordinator/core/taken_over/adoption.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/certainty/certainty.h"
#include "coordinator/core/charges/absence.h"
#include "coordinator/core/charges/charged_nodes.h"
#include "coordinator/core/choices/memory_shortage.h"
#include "coordinator/core/generation/membership_flaws.h"
#include "coordinator/core/generation/retries.h"
#include "coordinator/core/members/deaths.h"
#include "coordinator/core/members/durable.h"
#include "coordinator/core/members/members.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/record/newer_record.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/record/store_search.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/taken_over/fresh_start.h"
#include "coordinator/core/taken_over/recovered.h"

namespace rekindle::core {
namespace {

// Returns the members of the membership that have not reported yet and are not known to be dead.
std::vector<std::string> Unheard(const Job& job, const v1::Membership& membership) {
  std::vector<std::string> unheard;
  for (const v1::Member& member : membership.members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    const bool is_heard = trainer != nullptr && (trainer->reported || !trainer->death.empty());
    if (!is_heard) unheard.push_back(ShortName(member.trainer()));
  }
  return unheard;
}

// Told holds what the trainers of the highest generation above the record's say of that generation.
struct Told {
  int generation = 0;
  // `membership` is the first sound membership that was reported, or null. `by` is the trainer that reported it.
  const v1::Membership* membership = nullptr;
  std::string by;
  // `flaw` says what is wrong with a membership that is not sound, and who reported it.
  std::string flaw;
  // `differs` is a trainer that reports another membership than `by`.
  std::string differs;
  // `awaited` are the trainers that have not reported their membership yet.
  std::vector<std::string> awaited;
};

// Gathers what the trainers that are ahead of the record say. A trainer that has not reported its membership and is not
// heard of any more is awaited no longer than silent members are.
Told Listen(Turn& turn, Job& job) {
  Told told;
  for (const std::string& id : job.ahead) {
    told.generation = std::max(told.generation, job.trainers.at(id).report.generation());
  }
  for (const std::string& id : job.ahead) {
    const Trainer& trainer = job.trainers.at(id);
    const v1::TrainerReport& report = trainer.report;
    if (report.generation() != told.generation) continue;
    if (report.membership().generation() != told.generation) {
      const double gone_at = GoneAt(turn.state, job, &trainer);
      if (turn.now >= gone_at) continue;
      turn.Wake(job, gone_at);
      told.awaited.push_back(ShortName(id));
      continue;
    }
    const std::string flaw = FindFlawIn(report.membership(), job);
    if (!flaw.empty()) {
      told.flaw = absl::StrCat(ShortName(id), ": ", flaw);
    } else if (told.membership == nullptr) {
      told.membership = &report.membership();
      told.by = ShortName(id);
    } else if (report.membership().digest() != told.membership->digest()) {
      told.differs = ShortName(id);
    }
  }
  return told;
}

// Returns whether the membership that a trainer was told is of an earlier epoch than the record's newest one. The
// coordinator of that epoch knew less, and was cut off with its members while the coordinator that wrote the record
// went on.
bool IsPast(const Job& job, const v1::Membership& told) {
  const v1::Membership& newest = job.record.membership();
  return std::pair(told.epoch(), told.epoch_tag()) < std::pair(newest.epoch(), newest.epoch_tag());
}

void ForgetPast(Job& job) {
  for (auto at = job.ahead.begin(); at != job.ahead.end();) {
    const v1::TrainerReport& report = job.trainers.at(*at).report;
    const bool told = report.membership().generation() == report.generation();
    if (told && IsPast(job, report.membership())) {
      job.past.insert(*at);
      at = job.ahead.erase(at);
    } else {
      ++at;
    }
  }
}

bool RunsAnother(const NodeState& node, int slot, const std::string& uid) {
  return std::any_of(node.report.trainers().begin(), node.report.trainers().end(), [&](const v1::TrainerProcess& p) {
    return p.running() && p.slot() == slot && p.job_uid() != uid;
  });
}

// Gives the job the slots of its living members. What the record says of the slots, of this job or of others, does not
// show who lives there now.
void TakeSlots(State& state, const Job& job) {
  const std::string& uid = job.record.job().uid();
  for (auto& [name, node] : state.nodes) {
    std::erase_if(node.slots, [&](const auto& slot) { return slot.second == uid; });
  }
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = state.nodes.find(member.node());
    const Trainer* trainer = FindTrainer(job, member.trainer());
    const bool is_dead = trainer != nullptr && !trainer->death.empty();
    const int slot = SlotOf(member.trainer());
    if (node == state.nodes.end() || is_dead || RunsAnother(node->second, slot, uid)) continue;
    node->second.slots[slot] = uid;
  }
}

// Returns whether all trainers that are ahead of the record have stopped at a step boundary, as they were told to.
bool StandStill(const Job& job) {
  return std::all_of(job.ahead.begin(), job.ahead.end(),
                     [&](const std::string& id) { return job.trainers.at(id).report.phase() == v1::TRAINER_QUIESCED; });
}

// Forgets what had stopped the job when its record was saved, because the job has gone on since. A paused job whose
// trainers stand still stays paused.
void ForgetStops(Job& job) {
  v1::JobRecord& record = job.record;
  if (record.want_paused() && StandStill(job)) return;
  record.set_want_paused(false);
  record.clear_budget_stop();
  record.clear_halt();
  ForgetRetries(record);
  record.set_released(false);
  if (!record.membership().finishing()) {
    record.clear_finishing();
    record.mutable_job()->mutable_status()->clear_finishing();
  }
  job.giving_up.clear();
}

void FollowMicroBatch(Job& job, int micro_batch) {
  const int before = SpecOf(job).training().micro_batch();
  if (before > micro_batch) {
    ScaleMicroBatch(job, micro_batch);
  } else if (before < micro_batch) {
    MutableSpec(job)->mutable_training()->set_micro_batch(micro_batch);
  }
}

// Takes the identity of the data and the arithmetic from the trainers, because a record from before the first
// membership does not have it.
void TakeIdentity(Job& job) {
  for (const std::string& id : job.ahead) {
    const v1::TrainerReport& report = job.trainers.at(id).report;
    if (job.record.data_fingerprint().empty()) job.record.set_data_fingerprint(report.data_fingerprint());
    if (job.record.probe_digest().empty()) job.record.set_probe_digest(report.probe_digest());
  }
  job.record.clear_identities();
}

// Begins a new line if the membership began below the step that is durable in the record. That happens only where the
// user gave up the later steps after the record was saved, or where their checkpoint was found damaged. A checkpoint
// that the membership's own generation saved does not count, because it is later than where the generation began.
void TakeLine(Job& job) {
  const v1::Membership& membership = job.record.membership();
  if (membership.step() >= DurableStep(job) || job.record.checkpoint().generation() >= membership.generation()) return;
  job.record.set_line_generation(membership.generation());
  job.record.clear_checkpoint();
  // While no member has restored the checkpoint that the line begins with, the job has nothing else.
  const std::optional<v1::Checkpointed> source = ParseManifestName(membership.source().checkpoint());
  if (source) *job.record.mutable_checkpoint() = *source;
  job.record.mutable_job()->mutable_status()->set_checkpoint_step(DurableStep(job));
}

// Records the deaths of members whose machines have booted after the membership was formed, because nothing of them
// runs any more. Agents spoke before the membership was known, so nobody has noticed these deaths yet.
void RecordBootedAgain(Turn& turn, Job& job) {
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = turn.state.nodes.find(member.node());
    if (node == turn.state.nodes.end() || !node->second.reported) continue;
    if (!WasBootedAgain(member.process().machine(), node->second.report.machine())) continue;
    if (ListsRunning(node->second, member.trainer())) continue;
    RecordDeath(turn, job, member.trainer(), FaultKind::kNodeKilled,
                absl::StrCat("died with its node: the machine of ", member.node(), " has booted again"));
  }
}

void TakeMembersOver(Turn& turn, Job& job, const v1::Membership& told) {
  const int before = job.record.membership().generation();
  TakeNewerRecord(turn, job);
  *job.record.mutable_membership() = told;
  const v1::Membership& membership = job.record.membership();
  FollowMicroBatch(job, membership.micro_batch());
  TakeIdentity(job);
  TakeLine(job);
  ForgetStops(job);
  ForgetOld(turn, job);
  RememberDeaths(turn, job);
  TakeSlots(turn.state, job);
  HoldMembers(turn.state, job);
  // The job is charged for what its nodes cost since its record was saved.
  CountAbsence(turn, job);
  job.regroup.forming = {};
  job.active = true;
  job.regroup.yielding = false;
  job.formed_at = turn.now;
  job.formed_step = membership.step();
  job.completed_at = turn.now;
  job.regroup.silence.clear();
  job.regroup.ask_lease_at = -kNever;
  job.regroup.ready_since = kNever;
  job.account.since_step = {};
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_generation(membership.generation());
  status->set_step(membership.step());
  job.completed_step = membership.step();
  RaiseStep(turn, job, DurableStep(job));
  ShowMembers(job);
  status->set_exchange(membership.transport() == v1::TRANSPORT_NCCL ? "by NCCL" : "");
  const std::string text = absl::StrCat("generation ", membership.generation(), " of ", membership.members_size(),
                                        membership.members_size() == 1 ? " worker" : " workers",
                                        " is taken over from its members, who live: the record ",
                                        before == 0 ? "knew of none" : absl::StrCat("ended with generation ", before));
  job.runs_because = text;
  SetState(turn, job, job.record.has_finishing() ? v1::FINISHING : v1::RUNNING, text);
  status->set_last_event(text);
  turn.Emit(&job, "membership_adopted", text);
  RecordBootedAgain(turn, job);
  StartWaitingAnew(turn, job);
  AskToLook(turn, job);
  turn.Replan();
  turn.Save(job);
  turn.Changed(job);
}

}  // namespace

void ConsiderAdoption(Turn& turn, Job& job) {
  ForgetPast(job);
  if (job.ahead.empty()) return ShowAwaitedOld(turn, job);
  if (job.ahead_since == kNever) job.ahead_since = turn.now;
  const Told told = Listen(turn, job);
  const std::string number =
      absl::StrCat("generation ", told.generation, ", above the record's ", job.record.membership().generation());
  std::string why;
  if (!told.differs.empty()) {
    why = absl::StrCat(told.by, " and ", told.differs, " are in two memberships of ", number,
                       ": nothing is decided until one of them ends; `rekindle nodes gone NODE` where it has");
  } else if (!told.flaw.empty()) {
    why = absl::StrCat("a trainer is in ", number, ", and what it tells of it cannot be: ", told.flaw);
  } else if (!told.awaited.empty() || told.membership == nullptr) {
    const std::string awaited = told.awaited.empty()
                                    ? "nobody in it is heard of any more; `rekindle nodes gone NODE` where its machine "
                                      "does not run"
                                    : JoinWords(told.awaited);
    SetState(turn, job, job.record.job().status().state(), absl::StrCat("asks for ", number, ": ", awaited));
    return;
  } else if (const std::vector<std::string> unheard = Unheard(job, *told.membership);
             !unheard.empty() && turn.now < job.ahead_since + turn.state.tunables.node_lost_seconds) {
    // A member that is not heard of when its membership is taken over is soon given up. So the coordinator first waits
    // for such members. Some seconds are enough, because all members look for the coordinator at the same time.
    turn.Wake(job, job.ahead_since + turn.state.tunables.node_lost_seconds);
    SetState(turn, job, job.record.job().status().state(),
             absl::StrCat("waits some seconds for the other members of ", number, ": ", JoinWords(unheard)));
    return;
  } else {
    TakeMembersOver(turn, job, v1::Membership(*told.membership));
    std::erase_if(job.ahead, [&](const std::string& id) {
      return job.trainers.at(id).report.generation() <= job.record.membership().generation();
    });
    return;
  }
  if (SetState(turn, job, job.record.job().status().state(), why)) turn.Emit(&job, "memberships_differ", why);
}

}  // namespace rekindle::core
