#include "coordinator/core/adoption.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/limits.h"
#include "coordinator/core/deaths.h"
#include "coordinator/core/formation.h"
#include "coordinator/core/members.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr size_t kMaxName = 300;

// Each of 0..count-1 once?
bool IsPartition(std::vector<int> numbers, int count) {
  std::sort(numbers.begin(), numbers.end());
  if (static_cast<int>(numbers.size()) != count) return false;
  for (int i = 0; i < count; ++i) {
    if (numbers[i] != i) return false;
  }
  return true;
}

bool IsDuration(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

std::string FindFlawIn(const v1::Member& member, int rank) {
  const std::string& id = member.trainer();
  const bool named = !id.empty() && id.size() <= kMaxName && NodeOf(id) == member.node() && SlotOf(id) >= 0;
  if (!named || member.rank() != rank) return absl::StrCat("rank ", rank, " is no trainer of its node");
  if (member.address().size() > kMaxName || member.host().size() > kMaxName) return "an address is too long";
  return "";
}

std::string FindFlawInWork(const v1::Membership& told, int micro_batches) {
  std::vector<int> added;
  int next = 0;
  for (const v1::Member& member : told.members()) {
    if (member.begin() != next || member.end() <= member.begin() || member.end() > micro_batches) {
      return "its ranges are not each micro-batch once";
    }
    next = member.end();
    added.insert(added.end(), member.holds().begin(), member.holds().end());
    added.insert(added.end(), member.adds().begin(), member.adds().end());
  }
  if (next != micro_batches) return "its ranges are not each micro-batch once";
  if (told.interrupted() && !IsPartition(added, micro_batches)) return "its step is not each micro-batch once";
  return "";
}

// What trainers of the highest generation above the record's say of it.
struct Told {
  int generation = 0;
  const v1::Membership* membership = nullptr;  // Sound.
  std::string by;
  std::string flaw;       // Of one that is not; with who says so.
  std::string differs;    // Who says something else than `by`.
  bool all_told = true;
};

Told Listen(const Job& job) {
  Told told;
  for (const std::string& id : job.ahead) {
    told.generation = std::max(told.generation, job.trainers.at(id).report.generation());
  }
  for (const std::string& id : job.ahead) {
    const v1::TrainerReport& report = job.trainers.at(id).report;
    if (report.generation() != told.generation) continue;
    if (report.membership().generation() != told.generation) {
      told.all_told = false;
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

// Slots that the record gave to the job, or to others, say nothing of who lives there now.
void TakeSlots(State& state, const Job& job) {
  const std::string& uid = job.record.job().uid();
  for (auto& [name, node] : state.nodes) {
    std::erase_if(node.slots, [&](const auto& slot) { return slot.second == uid; });
  }
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = state.nodes.find(member.node());
    if (node != state.nodes.end()) node->second.slots[SlotOf(member.trainer())] = uid;
  }
}

// Whatever had stopped the job when the record was saved, it went on since.
void ForgetStops(Job& job) {
  v1::JobRecord& record = job.record;
  record.set_want_paused(false);
  record.clear_budget_stop();
  record.clear_halt();
  record.clear_retries_stop();
  record.set_retries(0);
  record.set_released(false);
  if (!record.membership().finishing()) {
    record.clear_finishing();
    record.mutable_job()->mutable_status()->clear_finishing();
  }
  job.giving.clear();
}

void TakeOver(Turn& turn, Job& job, const v1::Membership& told) {
  const int before = job.record.membership().generation();
  *job.record.mutable_membership() = v1::Membership(told);
  const v1::Membership& membership = job.record.membership();
  if (SpecOf(job).training().micro_batch() != membership.micro_batch()) {
    MutableSpec(job)->mutable_training()->set_micro_batch(membership.micro_batch());
  }
  ForgetStops(job);
  RememberDeaths(job);
  TakeSlots(turn.state, job);
  job.forming = {};
  job.active = true;
  job.yielding = false;
  job.formed_at = turn.now;
  job.formed_step = membership.step();
  job.completed_at = turn.now;
  job.told_silent = false;
  job.ask_lease_at = -kNever;
  job.ready_since = kNever;
  job.since_step = {};
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_generation(membership.generation());
  status->set_step(std::max(status->step(), membership.step()));
  ShowMembers(job);
  const std::string text = absl::StrCat(
      "generation ", membership.generation(), " of ", membership.members_size(),
      membership.members_size() == 1 ? " worker" : " workers", " is taken over from its members, who live: the record ",
      before == 0 ? "knew of none" : absl::StrCat("ended with generation ", before));
  SetState(job, job.record.has_finishing() ? v1::FINISHING : v1::RUNNING, text);
  status->set_last_event(text);
  turn.Emit(&job, "membership_adopted", text);
  turn.state.plan_due = true;
  job.must_save = true;
  Touch(job);
}

}  // namespace

void NoteAhead(Job& job, const v1::TrainerReport& report) {
  if (report.generation() > job.record.membership().generation()) {
    job.ahead.insert(report.trainer());
  } else {
    job.ahead.erase(report.trainer());
  }
}

bool IsBehind(const Job& job) { return !job.ahead.empty() && !IsOver(job); }

bool MustTell(const Job& job, const std::string& trainer) { return IsBehind(job) && job.ahead.count(trainer) > 0; }

std::string FindFlawIn(const v1::Membership& told, const Job& job) {
  if (told.members_size() < 1 || told.members_size() > common::kMaxWorldSize) return "it has no members, or too many";
  std::set<std::string> trainers;
  for (int rank = 0; rank < told.members_size(); ++rank) {
    if (std::string flaw = FindFlawIn(told.members(rank), rank); !flaw.empty()) return flaw;
    if (!trainers.insert(told.members(rank).trainer()).second) return "one trainer has two ranks";
  }
  const int batch = SpecOf(job).training().global_batch();
  if (told.micro_batch() <= 0 || batch % told.micro_batch() != 0) return "its micro-batch does not divide the batch";
  if (std::string flaw = FindFlawInWork(told, batch / told.micro_batch()); !flaw.empty()) return flaw;
  if (told.step() < 0 || told.step() > SpecOf(job).training().steps() || told.attempt() < 0) {
    return "its step is none of the job's";
  }
  const auto is_rank = [&](int rank) { return rank >= 0 && rank < told.members_size(); };
  if (told.source().has_rank() && !is_rank(told.source().rank())) return "its source is no member";
  for (const v1::ShardHolders& shard : told.shards()) {
    if (!is_rank(shard.first()) || !is_rank(shard.second())) return "a shard's holder is no member";
  }
  if (!IsDuration(told.lease_seconds()) || !IsDuration(told.lease_save_seconds()) ||
      !IsDuration(told.lease_step_seconds())) {
    return "its lease is no time";
  }
  return DigestOf(told) == told.digest() ? "" : "its digest is not that of its content";
}

void StartWaitingAnew(Job& job) {
  if (IsOver(job)) return;
  std::vector<std::string> waiting;
  for (const auto& [id, trainer] : job.trainers) {
    const bool waits = trainer.reported && trainer.death.empty() && trainer.report.phase() == v1::TRAINER_READY;
    if (waits && FindMember(job, id) == nullptr && !MustTell(job, id)) waiting.push_back(id);
  }
  for (const std::string& id : waiting) {
    RecordRelease(job, id, "starts anew to look into the store again: the coordinator's records were brought back");
  }
}

void ConsiderAdoption(Turn& turn, Job& job) {
  const Told told = Listen(job);
  const std::string number = absl::StrCat("generation ", told.generation, ", above the record's ",
                                          job.record.membership().generation());
  std::string why;
  if (!told.differs.empty()) {
    why = absl::StrCat(told.by, " and ", told.differs, " are in two memberships of ", number,
                       ": nothing is decided until one of them ends; `rekindle nodes gone NODE` where it has");
  } else if (!told.flaw.empty()) {
    why = absl::StrCat("a trainer is in ", number, ", and what it tells of it cannot be: ", told.flaw);
  } else if (!told.all_told || told.membership == nullptr) {
    return SetState(job, job.record.job().status().state(), absl::StrCat("asks its trainers for ", number));
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
