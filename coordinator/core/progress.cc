#include "coordinator/core/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/job_file.h"
#include "common/version.h"
#include "coordinator/core/adoption.h"
#include "coordinator/core/amounts.h"
#include "coordinator/core/costs.h"
#include "coordinator/core/deaths.h"
#include "coordinator/core/durable.h"
#include "coordinator/core/elasticity.h"
#include "coordinator/core/faults.h"
#include "coordinator/core/fence.h"
#include "coordinator/core/forming.h"
#include "coordinator/core/identity.h"
#include "coordinator/core/levers.h"
#include "coordinator/core/looking.h"
#include "coordinator/core/members.h"
#include "coordinator/core/micro_batch.h"
#include "coordinator/core/out_of_memory.h"
#include "coordinator/core/recovered.h"
#include "coordinator/core/remembered.h"
#include "coordinator/core/speeds.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr int kMaxCurvePoints = 400;

// Was it not told before? What is told again and again stays known.
bool Tell(Turn& turn, Job& job, const std::string& what) {
  const bool is_news = !job.told.contains(what);
  turn.effects.crowded_out += job.told.Set(what, {});
  return is_news;
}

void Refuse(Turn& turn, Job& job, const v1::TrainerReport& report, const std::string& error) {
  turn.effects.crowded_out += job.refused.Set(report.trainer(), error);
  const std::string node = Bounded(report.node(), 100);
  if (Tell(turn, job, node + ":" + error)) {
    turn.Emit(&job, "refused",
              absl::StrCat("trainer ", Bounded(ShortName(report.trainer()), 100), " is refused: ", error), node);
  }
}

// Empty, or why a report cannot be meant.
std::string FindFlaw(const Job& job, const v1::TrainerReport& report) {
  constexpr size_t kMaxName = 300, kMaxText = 64 << 10;
  if (report.trainer().empty() || report.trainer().size() > kMaxName || report.node().empty() ||
      report.node().size() > kMaxName || report.address().size() > kMaxName || report.host().size() > kMaxName) {
    return "trainer, node, address or host is missing or longer than 300 bytes";
  }
  const v1::Machine& machine = report.process().machine();
  if (machine.boot().size() > kMaxName || machine.processes().size() > kMaxName ||
      machine.hardware().size() > kMaxName) {
    return "boot, processes or hardware of its machine are longer than 300 bytes";
  }
  if (report.held_blocks_size() > 2 * static_cast<int>(kMaxTrainers) || report.held_blocks_size() % 2 != 0 ||
      report.total_blocks() < 0) {
    return "held_blocks are no pairs of at most 4096 ranges";
  }
  constexpr size_t kMaxMembership = 256 << 10;
  if (report.generation() - int64_t{job.record.membership().generation()} > kMostAhead) {
    return absl::StrCat("its generation is more than ", kMostAhead, " above the newest");
  }
  if (report.job_file().size() > checkpoint::kMaxJobFileBytes) return "its job's file is too large";
  if (report.membership().ByteSizeLong() > kMaxMembership) return "its membership is too large";
  // Of a generation that the record does not know the micro-batch is not known either.
  const bool is_ahead = report.generation() > job.record.membership().generation();
  if (report.assigned_size() > (is_ahead ? SpecOf(job).training().global_batch() : MicroBatches(job))) {
    return "assigned names more micro-batches than the job has";
  }
  if (report.accusations_size() > 1000 || report.losses_size() > 100'000 || report.error().size() > kMaxText) {
    return "too many accusations or losses, or too long an error";
  }
  if (!IsAmount(report.micro_batch_seconds()) || !IsAmount(report.step_seconds()) ||
      !IsAmount(report.step_seconds_p99()) || !IsAmount(report.tokens_per_second()) ||
      !IsAmount(report.learning_rate()) || !IsAmount(report.checkpoint_interval_seconds())) {
    return "a time or rate is negative or not finite";
  }
  constexpr double kShortest = 1e-7, kLongest = 1e6;  // Of a micro-batch.
  if (report.micro_batch_seconds() != 0 &&
      (report.micro_batch_seconds() < kShortest || report.micro_batch_seconds() > kLongest)) {
    return "micro_batch_seconds cannot be meant";
  }
  if (report.step() < 0 || report.attempt() < 0 || report.generation() < 0 || report.completed_step() < 0) {
    return "step, attempt or generation is negative";
  }
  if (report.micro_batch() < kSearching || !IsAmount(report.micro_batch_search_seconds())) {
    return "its micro-batch size or the seconds of its search are negative";
  }
  return "";
}

std::string FindRefusal(const Job& job, const v1::TrainerReport& report) {
  if (report.job_secret() != job.record.secret()) {
    return absl::StrCat("the job secret is wrong for job ", job.record.job().name(),
                        "; trainers get it from their agent only");
  }
  if (report.protocol_version() != common::kProtocolVersion) {
    return absl::StrCat("the trainer speaks protocol version ", report.protocol_version(), ", the coordinator ",
                        common::kProtocolVersion, "; install the same release on both");
  }
  const std::string flaw = FindFlaw(job, report);
  return flaw.empty() ? "" : absl::StrCat("malformed report: ", flaw);
}

void AddLossPoint(google::protobuf::RepeatedPtrField<v1::LossPoint>* curve, int step, double value, int stride) {
  if (!std::isfinite(value) || step <= 0 || step % stride != 0) return;
  const auto later = [](const v1::LossPoint& point, int wanted) { return point.step() < wanted; };
  const auto found = std::lower_bound(curve->begin(), curve->end(), step, later);
  if (found != curve->end() && found->step() == step) return;
  const int at = static_cast<int>(found - curve->begin());
  v1::LossPoint* point = curve->Add();
  point->set_step(step);
  point->set_value(value);
  for (int i = curve->size() - 1; i > at; --i) curve->SwapElements(i, i - 1);
}

void TakeValidation(Job& job, const v1::TrainerReport& report) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  if (report.unigram_bits_per_byte() > 0 && std::isfinite(report.unigram_bits_per_byte())) {
    status->set_unigram_bits_per_byte(report.unigram_bits_per_byte());
  }
  if (report.epoch_steps() > 0 && std::isfinite(report.epoch_steps())) status->set_epoch_steps(report.epoch_steps());
  const v1::LossPoint& point = report.validation();
  if (point.step() == 0 && point.value() == 0) return;
  const auto& curve = status->validation_curve();
  if (!curve.empty() && curve.Get(curve.size() - 1).step() >= point.step()) return;
  if (curve.size() >= kMaxCurvePoints) {  // Keeps every other point.
    auto* thin = status->mutable_validation_curve();
    for (int i = 0; 2 * i + 1 < thin->size(); ++i) thin->SwapElements(i, 2 * i + 1);
    thin->DeleteSubrange(thin->size() / 2, thin->size() - thin->size() / 2);
  }
  *status->add_validation_curve() = point;
  status->set_validation_loss(point.value());
  if (status->resolved_spec().data().text_size() > 0) {
    status->set_validation_bits_per_byte(point.value() / std::log(2.0));
  }
}

// What interruptions are counted against.
void CountNodeHours(Job& job, double now) {
  constexpr double kHour = 3600;
  const double since = std::max(job.completed_at, job.formed_at);
  if (since == -kNever) return;
  std::set<std::string> nodes;
  for (const v1::Member& member : job.record.membership().members()) nodes.insert(member.node());
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_node_hours(status->node_hours() + static_cast<double>(nodes.size()) * (now - since) / kHour);
}

void TakeProgress(Turn& turn, Job& job, const v1::TrainerReport& report) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  const int stride = std::max(1, (SpecOf(job).training().steps() + kMaxCurvePoints - 1) / kMaxCurvePoints);
  for (const v1::LossPoint& point : report.losses()) {
    if (point.step() <= report.step()) AddLossPoint(status->mutable_loss_curve(), point.step(), point.value(), stride);
  }
  TakeValidation(job, report);
  if (report.loss_scale() > 0 && std::isfinite(report.loss_scale())) status->set_loss_scale(report.loss_scale());
  status->set_skipped_steps(std::max(status->skipped_steps(), report.skipped_steps()));
  if (report.step_seconds() > 0) status->set_step_seconds(report.step_seconds());
  if (report.tokens_per_second() > 0) status->set_tokens_per_second(report.tokens_per_second());
  if (report.learning_rate() > 0) status->set_learning_rate(report.learning_rate());
  TakeMember(turn, job, report);
  if (report.completed_step() > job.completed_step) {
    job.completed_step = report.completed_step();
    RaiseStep(job, job.completed_step);
    if (std::isfinite(report.loss())) status->set_loss(report.loss());
    CountNodeHours(job, turn.now);
    CountStep(turn, job);
    job.completed_at = turn.now;
    job.start_failures.clear();
    TakeStepWork(turn.state, job);
    if (report.completed_step() > job.formed_step) CloseFaults(job, turn.now, status->step_seconds());
  }
  Touch(job);
}

void TakeCheckpoints(Turn& turn, Job& job, const v1::TrainerReport& before, const v1::TrainerReport& report,
                     bool known) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  if (!report.restored().empty() && Tell(turn, job,
                                         absl::StrCat("restored:", report.trainer(), ":", report.generation(), ":",
                                                      Bounded(report.restored(), 200)))) {
    turn.Emit(&job, "checkpoint_restored", absl::StrCat(ShortName(report.trainer()), " ", Bounded(report.restored())),
              report.node());
  }
  if (!report.flush().empty() &&
      Tell(turn, job, absl::StrCat("flush:", report.generation(), ":", Bounded(report.flush(), 200)))) {
    turn.Emit(&job, "checkpoint_flush", Bounded(report.flush()), report.node());
  }
  for (const std::string& skipped : report.skipped_checkpoints()) {
    if (Tell(turn, job, "skipped:" + Bounded(skipped, 200))) {
      turn.Emit(&job, "checkpoint_skipped", absl::StrCat("checkpoint not used: ", Bounded(skipped)), report.node());
    }
  }
  TakeDurable(turn, job, report);
  const int more = report.checkpoints_failed() - before.checkpoints_failed();
  if (more > 0) {
    status->set_checkpoints_failed(status->checkpoints_failed() + (known ? more : 0));
    const std::string text = absl::StrCat("a checkpoint failed, the job goes on: ", Bounded(report.checkpoint_error()));
    if (known && !IsFinishing(job)) turn.Emit(&job, "checkpoint_failed", text, report.node());
    Touch(job);
  }
}

// Rank 0 decides when checkpoints are taken, and why.
void TakeInterval(Turn& turn, Job& job, const v1::TrainerReport& report) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  const std::string reason = Bounded(report.checkpoint_interval_reason());
  const bool decides = job.record.membership().members(0).trainer() == report.trainer();
  if (!decides || reason.empty() || reason == status->checkpoint_interval_reason()) return;
  status->set_checkpoint_interval_seconds(report.checkpoint_interval_seconds());
  status->set_checkpoint_interval_reason(reason);
  turn.Emit(&job, "checkpoint_interval", reason, report.node());
  job.must_save = true;  // So that a restarted coordinator does not tell it again.
}

bool IsCurrent(const Job& job, const v1::TrainerReport& report) {
  return report.generation() > 0 && report.generation() == job.record.membership().generation() &&
         FindMember(job, report.trainer()) != nullptr;
}

bool HasEnded(v1::TrainerPhase phase) {
  return phase == v1::TRAINER_INTERRUPTED || phase == v1::TRAINER_QUIESCED || phase == v1::TRAINER_FINISHED;
}

// What a member has added to the sums cannot be taken out again.
void CheckMember(Turn& turn, Job& job, const v1::TrainerReport& report) {
  const std::string difference = DescribeDifference(job, report);
  if (difference.empty()) return;
  EndJob(turn, job, v1::FAILED, "failed",
         absl::StrCat("member ", ShortName(report.trainer()), " of generation ", report.generation(),
                      " is not what it was: ", difference, "; what it added to the result cannot be taken out"));
}

void CheckCandidate(Turn& turn, Job& job, const v1::TrainerReport& report, bool is_new) {
  const std::string difference = DescribeDifference(job, report);
  if (!difference.empty()) Refuse(turn, job, report, difference);
  const std::string slot = ShortName(report.trainer());
  const bool was_unfit = job.unfit.erase(slot);
  if (!difference.empty()) turn.effects.crowded_out += job.unfit.Set(slot, {});
  const bool news = was_unfit == difference.empty();
  turn.state.plan_due = turn.state.plan_due || news;
  RememberIdentity(turn, job, report, is_new);
}

}  // namespace

bool AcceptReport(Turn& turn, Job& job, const v1::TrainerReport& report) {
  TakeOldSecret(job, report.job_secret());
  const bool knows_secret = report.job_secret() == job.record.secret();
  if (AwaitsOld(job) && !knows_secret) {
    NoteStranger(job, report.trainer());
    return false;
  }
  const std::string refusal = FindRefusal(job, report);
  const auto known = job.trainers.find(report.trainer());
  const bool is_known = known != job.trainers.end() && known->second.reported;
  if (!refusal.empty()) {  // Whoever does not know the secret cannot get a true trainer refused.
    // A trainer that was started with another secret, before the true one was known again, has never been a true one.
    const bool never_knew = is_known && !knows_secret && known->second.report.job_secret() == report.job_secret();
    if (!is_known || never_knew) Refuse(turn, job, report, refusal);
    return false;
  }
  Trainer* remembered = Remember(turn, job, report.trainer());
  if (remembered == nullptr) return false;
  Trainer& trainer = *remembered;
  trainer.heard = turn.now;
  if (is_known && report.sequence() <= trainer.report.sequence()) return true;
  if (report.phase() != v1::TRAINER_FAILED) job.refused.erase(report.trainer());  // It is looked at anew.
  const v1::TrainerReport before = std::exchange(trainer.report, report);
  trainer.reported = true;
  if (!trainer.death.empty() && !IsGone(job, trainer)) TakeBack(job, report.trainer());
  if (!trainer.death.empty() || IsOver(job)) return true;
  NoteAhead(job, report);
  if (job.ahead.count(report.trainer()) == 0) {
    trainer.report.clear_membership();
    trainer.report.clear_job_file();
  }
  if (!is_known || before.generation() != report.generation() || !HasEnded(before.phase()))
    trainer.stopped_at = turn.now;
  TakeCheckpoints(turn, job, before, report, is_known);
  NoteLook(turn, job, before, report);
  trainer.report.clear_stored_job_file();
  if (IsOver(job)) return true;
  TakeMicroBatch(turn, job, report);
  if (report.phase() == v1::TRAINER_FAILED) {
    if (report.error_is_jobs_fault()) {
      if (IsCurrent(job, report)) TakeProgress(turn, job, report);
      if (IsCurrent(job, report) && report.has_state()) RaiseStep(job, report.step());
      EndJob(turn, job, v1::FAILED, "failed",
             absl::StrCat("trainer ", ShortName(report.trainer()), ": ", Bounded(report.error(), 2000)));
    } else {
      RecordDeath(turn, job, report.trainer(), "trainer_killed", absl::StrCat("failed: ", Bounded(report.error())));
    }
    return true;
  }
  if (IsCurrent(job, report)) {
    CheckMember(turn, job, report);
    if (IsOver(job)) return true;
    TakeProgress(turn, job, report);
    TakeOutOfMemory(turn, job, report);
    if (IsOver(job)) return true;
    TakeInterval(turn, job, report);
    TakeLevers(turn, job, report);
    TakeSmokeTest(turn, job, report);
  }
  const bool is_new = !is_known || before.phase() != v1::TRAINER_READY;
  if (report.phase() == v1::TRAINER_READY) CheckCandidate(turn, job, report, is_new);
  return true;
}

}  // namespace rekindle::core
