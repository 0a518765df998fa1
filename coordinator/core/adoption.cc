#include "coordinator/core/adoption.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/charged_nodes.h"
#include "coordinator/core/costs.h"
#include "coordinator/core/deaths.h"
#include "coordinator/core/durable.h"
#include "coordinator/core/fence.h"
#include "coordinator/core/looking.h"
#include "coordinator/core/members.h"
#include "coordinator/core/membership_flaws.h"
#include "coordinator/core/newer_record.h"
#include "coordinator/core/out_of_memory.h"
#include "coordinator/core/recovered.h"
#include "coordinator/core/retries.h"
#include "coordinator/core/survey.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

// Whom of that membership nobody has heard of yet.
std::vector<std::string> Unheard(const Job& job, const v1::Membership& membership) {
  std::vector<std::string> unheard;
  for (const v1::Member& member : membership.members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    const bool is_heard = trainer != nullptr && (trainer->reported || !trainer->death.empty());
    if (!is_heard) unheard.push_back(ShortName(member.trainer()));
  }
  return unheard;
}

// What trainers of the highest generation above the record's say of it.
struct Told {
  int generation = 0;
  const v1::Membership* membership = nullptr;  // Sound.
  std::string by;
  std::string flaw;                  // Of one that is not; with who says so.
  std::string differs;               // Who says something else than `by`.
  std::vector<std::string> awaited;  // Those that have not told.
};

// Whoever has not told and is not heard of any more is awaited no longer than the silent are.
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

// Formed by an earlier epoch's coordinator than the record's newest: by one that knew less, and that was cut off with
// its members while this one went on.
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

// Slots that the record gave to the job, or to others, say nothing of who lives there now.
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

// Do all that are heard of stand at a boundary, as they were told?
bool StandStill(const Job& job) {
  return std::all_of(job.ahead.begin(), job.ahead.end(),
                     [&](const std::string& id) { return job.trainers.at(id).report.phase() == v1::TRAINER_QUIESCED; });
}

// Whatever had stopped the job when the record was saved, it went on since; unless it stands still again.
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
  job.giving.clear();
}

void FollowMicroBatch(Job& job, int micro_batch) {
  const int before = SpecOf(job).training().micro_batch();
  if (before > micro_batch) {
    ScaleMicroBatch(job, micro_batch);
  } else if (before < micro_batch) {
    MutableSpec(job)->mutable_training()->set_micro_batch(micro_batch);
  }
}

// A record of before the first membership does not know what the job's data are.
void TakeIdentity(Job& job) {
  for (const std::string& id : job.ahead) {
    const v1::TrainerReport& report = job.trainers.at(id).report;
    if (job.record.data_fingerprint().empty()) job.record.set_data_fingerprint(report.data_fingerprint());
    if (job.record.probe_digest().empty()) job.record.set_probe_digest(report.probe_digest());
  }
  job.record.clear_identities();
}

// No generation begins below what was durable, unless the user let that go after the record was saved. What it saved
// itself comes later than where it began.
void TakeLine(Job& job) {
  const v1::Membership& membership = job.record.membership();
  if (membership.step() >= DurableStep(job) || job.record.checkpoint().generation() >= membership.generation()) return;
  job.record.set_line_generation(membership.generation());
  job.record.clear_checkpoint();
  job.record.mutable_job()->mutable_status()->set_checkpoint_step(-1);
}

// Agents spoke before the membership was known: a machine that booted after it was formed runs none of its members.
void RecordBootedAgain(Turn& turn, Job& job) {
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = turn.state.nodes.find(member.node());
    if (node == turn.state.nodes.end() || !node->second.reported) continue;
    if (!WasBootedAgain(member.process().machine(), node->second.report.machine())) continue;
    if (ListsRunning(node->second, member.trainer())) continue;
    RecordDeath(turn, job, member.trainer(), "node_killed",
                absl::StrCat("died with its node: the machine of ", member.node(), " has booted again"));
  }
}

void TakeOver(Turn& turn, Job& job, const v1::Membership& told) {
  const int before = job.record.membership().generation();
  TakeNewerRecord(job);
  *job.record.mutable_membership() = told;
  const v1::Membership& membership = job.record.membership();
  FollowMicroBatch(job, membership.micro_batch());
  TakeIdentity(job);
  TakeLine(job);
  ForgetStops(job);
  ForgetOld(job);
  RememberDeaths(job);
  TakeSlots(turn.state, job);
  HoldMembers(turn.state, job);
  CountAbsence(turn, job);  // What its nodes cost since that record was made is charged.
  job.forming = {};
  job.active = true;
  job.yielding = false;
  job.formed_at = turn.now;
  job.formed_step = membership.step();
  job.completed_at = turn.now;
  job.silence.clear();
  job.ask_lease_at = -kNever;
  job.ready_since = kNever;
  job.since_step = {};
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_generation(membership.generation());
  status->set_step(membership.step());
  job.completed_step = membership.step();
  RaiseStep(job, DurableStep(job));
  ShowMembers(job);
  const std::string text = absl::StrCat("generation ", membership.generation(), " of ", membership.members_size(),
                                        membership.members_size() == 1 ? " worker" : " workers",
                                        " is taken over from its members, who live: the record ",
                                        before == 0 ? "knew of none" : absl::StrCat("ended with generation ", before));
  job.runs_because = text;
  SetState(job, job.record.has_finishing() ? v1::FINISHING : v1::RUNNING, text);
  status->set_last_event(text);
  turn.Emit(&job, "membership_adopted", text);
  RecordBootedAgain(turn, job);
  StartWaitingAnew(job);
  AskToLook(turn.state, job);
  turn.state.plan_due = true;
  job.must_save = true;
  Touch(job);
}

}  // namespace

void NoteAhead(Job& job, const v1::TrainerReport& report) {
  // Who waits to join is in none, whatever it was in last.
  const bool is_in_one = report.phase() != v1::TRAINER_READY && report.phase() != v1::TRAINER_STARTING;
  // A generation that the store knows a later one of is over.
  const bool is_above = report.generation() > job.record.membership().generation() &&
                        report.generation() >= job.record.store_generation();
  if (job.ahead.empty()) job.ahead_since = kNever;
  if (is_in_one && is_above && job.past.count(report.trainer()) == 0) {
    job.ahead.insert(report.trainer());
  } else {
    job.ahead.erase(report.trainer());
  }
}

bool IsBehind(const Job& job) { return (!job.ahead.empty() || AwaitsOld(job)) && !IsOver(job); }

bool MustTell(const Job& job, const std::string& trainer) { return IsBehind(job) && job.ahead.count(trainer) > 0; }

void StartWaitingAnew(Job& job) {
  if (IsOver(job)) return;
  std::vector<std::string> waiting;
  for (const auto& [id, trainer] : job.trainers) {
    const bool waits = trainer.reported && trainer.death.empty() && trainer.report.phase() == v1::TRAINER_READY;
    if (waits && FindMember(job, id) == nullptr) waiting.push_back(id);
  }
  for (const std::string& id : waiting) {
    RecordRelease(job, id, "starts anew to look into the store again: the coordinator's records were brought back");
  }
}

void ConsiderAdoption(Turn& turn, Job& job) {
  ForgetPast(job);
  if (job.ahead.empty()) return ShowAwaitedOld(job);
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
    return SetState(job, job.record.job().status().state(),
                    absl::StrCat("asks for ", number, ": ",
                                 told.awaited.empty() ? "nobody in it is heard of any more; `rekindle nodes gone NODE` "
                                                        "where its machine does not run"
                                                      : JoinWords(told.awaited)));
  } else if (const std::vector<std::string> unheard = Unheard(job, *told.membership);
             !unheard.empty() && turn.now < job.ahead_since + turn.state.tunables.node_lost_seconds) {
    // Whoever is not heard of when it is taken over is soon given up; all of them find their way at the same time.
    turn.Wake(job, job.ahead_since + turn.state.tunables.node_lost_seconds);
    return SetState(job, job.record.job().status().state(),
                    absl::StrCat("waits some seconds for the other members of ", number, ": ", JoinWords(unheard)));
  } else {
    TakeOver(turn, job, v1::Membership(*told.membership));
    std::erase_if(job.ahead, [&](const std::string& id) {
      return job.trainers.at(id).report.generation() <= job.record.membership().generation();
    });
    return;
  }
  if (job.record.job().status().reason() != why) turn.Emit(&job, "memberships_differ", why);
  SetState(job, job.record.job().status().state(), why);
}

}  // namespace rekindle::core
