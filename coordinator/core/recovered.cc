#include "coordinator/core/recovered.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "coordinator/core/adoption.h"
#include "coordinator/core/job_file.h"
#include "coordinator/core/looking.h"
#include "coordinator/core/retries.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr char kBroughtBack[] = "brought back from its store";
constexpr int kUnseenGenerations = 1000;  // Fewer are formed between two checkpoints.

// For the time since its file was written: nothing else says what its nodes did.
void Estimate(double unix_now, v1::Cost* cost) {
  const double hours = (unix_now - cost->until()) / kHour;
  if (cost->until() <= 0 || hours <= 0) return;
  double nodes = 0;
  for (v1::PoolCost& line : *cost->mutable_pools()) {
    const double node_hours = line.nodes() * hours;
    if (node_hours <= 0) continue;
    const double spent = node_hours * line.price();
    const double on_demand = line.node_hours() > 0 ? line.on_demand() / line.node_hours() * node_hours : spent;
    line.set_node_hours(line.node_hours() + node_hours);
    line.set_spent(line.spent() + spent);
    line.set_on_demand(line.on_demand() + on_demand);
    cost->set_spent(cost->spent() + spent);
    cost->set_estimated(cost->estimated() + spent);
    cost->set_on_demand(cost->on_demand() + on_demand);
    if (line.capacity() == "unpriced") cost->set_unpriced_node_hours(cost->unpriced_node_hours() + node_hours);
    nodes += line.nodes();
  }
  cost->set_node_hours(cost->node_hours() + nodes * hours);
  if (nodes > 0) cost->set_hours(cost->hours() + hours);
  cost->set_until(unix_now);
}

// Why nothing of it runs, and what lets it go on.
std::string DescribeBroughtBack(const std::string& name, bool old_is_gone) {
  return absl::StrCat(
      kBroughtBack, "; `rekindle resume ", name,
      old_is_gone ? "` lets it go on" : " --old-is-gone` where none of its trainers of before runs any more");
}

// Generations that neither began from a checkpoint nor saved one left no trace in the store. Where one of them steps
// after all, the next one has a number above it, so that the store takes nothing of it any more.
void PassUnseen(v1::JobRecord* record) {
  record->set_store_generation(record->store_generation() + kUnseenGenerations);
}

}  // namespace

bool IsBroughtBack(const std::string& reason) { return absl::StartsWith(reason, kBroughtBack); }

v1::JobRecord Revive(const v1::JobFile& file, const Revival& how) {
  v1::JobRecord record = FromJobFile(file);
  record.set_secret(how.secret);
  if (file.over()) return record;
  record.set_store_generation(
      std::max({record.membership().generation(), record.store_generation(), how.store_generation}));
  if (how.old_is_gone) PassUnseen(&record);
  record.clear_membership();  // Its members are not in the file. They tell it, or are gone.
  record.set_ended_generation(0);
  if (how.old_is_gone) record.set_want_paused(!how.runs);  // Else whoever lives goes on as it was told.
  if (how.runs) {                                          // Whatever must stop it now does so anew.
    record.clear_budget_stop();
    ForgetRetries(record);
    record.set_released(false);
  }
  if (!how.old_is_gone) record.mutable_recovered()->set_secret_sha256(file.secret_sha256());
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  Estimate(how.unix_now, status->mutable_cost());
  status->set_state(how.runs ? v1::PENDING : v1::PAUSED);
  status->set_reason(how.runs ? kBroughtBack : DescribeBroughtBack(record.job().name(), how.old_is_gone));
  return record;
}

bool AwaitsOld(const Job& job) { return job.record.has_recovered(); }

void TakeOldSecret(Job& job, const std::string& secret) {
  if (!AwaitsOld(job) || secret == job.record.secret()) return;
  const std::string& awaited = job.record.recovered().secret_sha256();
  if (awaited.empty() || common::Sha256Hex(secret) != awaited) return;
  job.record.set_secret(secret);
  job.record.mutable_recovered()->clear_secret_sha256();
  job.must_save = true;
}

void NoteStranger(Job& job, const std::string& trainer) {
  const std::string& name = job.record.job().name();
  SetState(job, v1::PAUSED,
           absl::StrCat(kBroughtBack, "; trainer ", ShortName(trainer), " was heard of, whose secret is ",
                        "another than the store's: nobody can take it over; where it still runs, end it, then "
                        "`rekindle resume ",
                        name, " --old-is-gone`"));
}

void ShowAwaitedOld(Job& job) {
  const v1::Job& shown = job.record.job();
  if (AwaitsOld(job) && !IsBroughtBack(shown.status().reason())) {
    SetState(job, v1::PAUSED, DescribeBroughtBack(shown.name(), /*old_is_gone=*/false));
  }
}

std::string DescribeAwaitedOld(const Job& job) {
  const std::string& name = job.record.job().name();
  return absl::StrCat("job ", name,
                      " was brought back from its store, and nobody has said that its trainers of before ",
                      "have stopped; they are taken over when they are heard of; `rekindle resume ", name,
                      " --old-is-gone` where none of them runs any more");
}

void ForgetOld(Job& job) {
  if (!AwaitsOld(job)) return;
  job.record.clear_recovered();
  job.must_save = true;
}

absl::Status GiveOldUp(Turn& turn, Job& job) {
  if (!job.ahead.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("trainers of job ", job.record.job().name(),
                                                      " are heard of, and ",
                                                      "are being taken over: ", job.record.job().status().reason()));
  }
  PassUnseen(&job.record);
  job.record.set_want_paused(true);  // It stays paused until its user lets it go on.
  ForgetOld(job);
  StartWaitingAnew(job);
  AskToLook(turn.state, job);
  turn.Emit(&job, "old_given_up", "none of its trainers of before runs any more, its user says");
  return absl::OkStatus();
}

}  // namespace rekindle::core
