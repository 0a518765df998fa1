#include "coordinator/core/reports/trainer_reports.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "coordinator/core/account/elasticity.h"
#include "coordinator/core/account/speeds.h"
#include "coordinator/core/certainty/certainty.h"
#include "coordinator/core/choices/memory_shortage.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/choices/trainer_notes.h"
#include "coordinator/core/keeping/remembered.h"
#include "coordinator/core/members/deaths.h"
#include "coordinator/core/members/durable.h"
#include "coordinator/core/members/faults.h"
#include "coordinator/core/members/identity.h"
#include "coordinator/core/members/members.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/record/store_search.h"
#include "coordinator/core/reports/trainer_report_check.h"
#include "coordinator/core/state/job_end.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/taken_over/recovered.h"
#include "worker/data/declared/data_kind.h"

namespace rekindle::core {
namespace {

constexpr int kMaxCurvePoints = 400;
constexpr size_t kLongestTraceback = common::kLongestTraceback - sizeof("...");

// Remembers that an event has told `what` of the job, and returns whether that is news. Only so many things are
// remembered, but what is told again and again stays among them.
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
  if (curve.size() >= kMaxCurvePoints) {
    // A curve that is full keeps only every other point.
    auto* thin = status->mutable_validation_curve();
    for (int i = 0; 2 * i + 1 < thin->size(); ++i) thin->SwapElements(i, 2 * i + 1);
    thin->DeleteSubrange(thin->size() / 2, thin->size() - thin->size() / 2);
  }
  *status->add_validation_curve() = point;
  status->set_validation_loss(point.value());
  // Only a job that trains on bytes has a loss in bits per byte.
  if (data::IsGiven(status->resolved_spec().data(), data::KindOf(train::SampleForm::kBytes))) {
    status->set_validation_bits_per_byte(point.value() / std::log(2.0));
  }
}

// Adds up the node hours to which the number of interruptions is compared.
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
    RaiseStep(turn, job, job.completed_step);
    if (std::isfinite(report.loss())) status->set_loss(report.loss());
    CountNodeHours(job, turn.now);
    CountStep(turn, job);
    job.completed_at = turn.now;
    job.start_failures.clear();
    TakeStepWork(turn.state, job);
    if (report.completed_step() > job.formed_step) CloseFaults(turn, job, turn.now, status->step_seconds());
  }
  turn.Changed(job);
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
  TakeDurableCheckpoint(turn, job, report);
  const int more = report.checkpoints_failed() - before.checkpoints_failed();
  if (more > 0) {
    status->set_checkpoints_failed(status->checkpoints_failed() + (known ? more : 0));
    const std::string text = absl::StrCat("a checkpoint failed, the job goes on: ", Bounded(report.checkpoint_error()));
    if (known && !IsFinishing(job)) turn.Emit(&job, "checkpoint_failed", text, report.node());
    turn.Changed(job);
  }
}

// Takes the checkpoint interval, and the reason for it, from the report of rank 0, which decides when checkpoints are
// taken.
void TakeInterval(Turn& turn, Job& job, const v1::TrainerReport& report) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  const std::string reason = Bounded(report.checkpoint_interval_reason());
  const bool decides = job.record.membership().members(0).trainer() == report.trainer();
  if (!decides || reason.empty() || reason == status->checkpoint_interval_reason()) return;
  status->set_checkpoint_interval_seconds(report.checkpoint_interval_seconds());
  status->set_checkpoint_interval_reason(reason);
  turn.Emit(&job, "checkpoint_interval", reason, report.node());
  // The job is saved so that a restarted coordinator does not emit the event about this checkpoint interval again.
  turn.Save(job);
}

bool IsCurrent(const Job& job, const v1::TrainerReport& report) {
  return report.generation() > 0 && report.generation() == job.record.membership().generation() &&
         FindMember(job, report.trainer()) != nullptr;
}

bool HasEnded(v1::TrainerPhase phase) {
  return phase == v1::TRAINER_INTERRUPTED || phase == v1::TRAINER_QUIESCED || phase == v1::TRAINER_FINISHED;
}

// Fails the job if a member's data or arithmetic has changed, because what it has added to the sums cannot be taken out
// again.
void CheckMember(Turn& turn, Job& job, const v1::TrainerReport& report) {
  const std::string difference = DescribeDifference(turn.state, job, report);
  if (difference.empty()) return;
  EndJob(turn, job, v1::FAILED, "failed",
         absl::StrCat("member ", ShortName(report.trainer()), " of generation ", report.generation(),
                      " is not what it was: ", difference, "; what it added to the result cannot be taken out"));
}

// Refuses the candidate for `flaw`, and notes that its slot is unfit. An empty `flaw` says that it is fit.
void JudgeCandidate(Turn& turn, Job& job, const v1::TrainerReport& report, const std::string& flaw) {
  if (!flaw.empty()) Refuse(turn, job, report, flaw);
  const std::string slot = ShortName(report.trainer());
  const bool was_unfit = job.unfit.erase(slot);
  if (!flaw.empty()) turn.effects.crowded_out += job.unfit.Set(slot, {});
  const bool news = was_unfit == flaw.empty();
  if (news) turn.Replan();
}

void CheckCandidate(Turn& turn, Job& job, const v1::TrainerReport& report, bool is_new) {
  std::string difference = DescribeDifference(turn.state, job, report);
  if (difference.empty()) difference = DescribeShortage(turn.state, job, report);
  JudgeCandidate(turn, job, report, difference);
  RememberIdentity(turn, job, report, is_new);
}

// Returns whether another trainer shows that the job can be trained: a member of the newest generation that lives.
bool OthersTrain(const Job& job, const std::string& trainer) {
  const auto& members = job.record.membership().members();
  return FindMember(job, trainer) == nullptr && std::any_of(members.begin(), members.end(), [&](const auto& member) {
           const Trainer* other = FindTrainer(job, member.trainer());
           return other != nullptr && other->reported && other->death.empty();
         });
}

// Returns the trainer that the report is from. Null means that the report is refused, or that there is no room to
// remember the trainer.
Trainer* Admit(Turn& turn, Job& job, const v1::TrainerReport& report) {
  TakeOldSecret(turn, job, report.job_secret());
  const bool knows_secret = report.job_secret() == job.record.secret();
  if (AwaitsOld(job) && !knows_secret) {
    NoteStranger(turn, job, report.trainer());
    return nullptr;
  }
  const std::string refusal = FindRefusal(job, report);
  const auto known = job.trainers.find(report.trainer());
  const bool is_known = known != job.trainers.end() && known->second.reported;
  if (!refusal.empty()) {
    // A sender that does not know the job's secret cannot get a true trainer refused by using that trainer's name. A
    // known trainer is refused only if it has always reported this same wrong secret, so that it has never been a true
    // one.
    const bool never_knew = is_known && !knows_secret && known->second.report.job_secret() == report.job_secret();
    if (!is_known || never_knew) Refuse(turn, job, report, refusal);
    return nullptr;
  }
  return Remember(turn, job, report.trainer());
}

// Takes the report of a trainer that has failed.
void TakeFailure(Turn& turn, Job& job, const v1::TrainerReport& report) {
  if (!report.error_is_jobs_fault()) {
    return RecordDeath(turn, job, report.trainer(), FaultKind::kTrainerKilled,
                       absl::StrCat("failed: ", Bounded(report.error())));
  }
  // Where others train, it is its node that cannot, for example because the folder of the code is not there.
  if (OthersTrain(job, report.trainer())) {
    return JudgeCandidate(turn, job, report, report.error().empty() ? "it has failed" : Bounded(report.error()));
  }
  if (IsCurrent(job, report)) TakeProgress(turn, job, report);
  if (IsCurrent(job, report) && report.has_state()) RaiseStep(turn, job, report.step());
  job.record.mutable_job()->mutable_status()->set_traceback(Bounded(report.traceback(), kLongestTraceback));
  EndJob(turn, job, v1::FAILED, "failed",
         absl::StrCat("trainer ", ShortName(report.trainer()), ": ", Bounded(report.error(), 2000)));
}

// Takes the report of a member of the newest generation. The job may be over then.
void TakeMembersReport(Turn& turn, Job& job, const v1::TrainerReport& report) {
  CheckMember(turn, job, report);
  if (IsOver(job)) return;
  TakeProgress(turn, job, report);
  TakeMemoryShortage(turn, job, report);
  if (IsOver(job)) return;
  TakeInterval(turn, job, report);
  TakeNotes(turn, job, report);
  TakeSmokeTest(turn, job, report);
}

}  // namespace

bool AcceptReport(Turn& turn, Job& job, const v1::TrainerReport& report) {
  const auto known = job.trainers.find(report.trainer());
  const bool is_known = known != job.trainers.end() && known->second.reported;
  Trainer* remembered = Admit(turn, job, report);
  if (remembered == nullptr) return false;
  Trainer& trainer = *remembered;
  trainer.heard = turn.now;
  if (is_known && report.sequence() <= trainer.report.sequence()) return true;
  // A trainer that was refused before and still reports is checked anew, so its earlier refusal is forgotten.
  if (report.phase() != v1::TRAINER_FAILED) job.refused.erase(report.trainer());
  const v1::TrainerReport before = std::exchange(trainer.report, report);
  trainer.reported = true;
  if (!trainer.death.empty() && !IsGone(job, trainer)) TakeTrainerBack(turn, job, report.trainer());
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
    TakeFailure(turn, job, report);
    return true;
  }
  if (IsCurrent(job, report)) TakeMembersReport(turn, job, report);
  if (IsOver(job)) return true;
  const bool is_new = !is_known || before.phase() != v1::TRAINER_READY;
  if (report.phase() == v1::TRAINER_READY) CheckCandidate(turn, job, report, is_new);
  return true;
}

}  // namespace rekindle::core
