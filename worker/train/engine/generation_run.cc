#include "worker/train/engine/generation_run.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "worker/contract/out_of_memory.h"
#include "worker/train/engine/standstill.h"
#include "worker/train/levers/learning_rate.h"
#include "worker/train/state/optimizer.h"
#include "worker/train/step/buffers.h"

namespace rekindle::train {
namespace {

using Verdict = Judgement::Verdict;

std::vector<StepRange> RangesOf(const Membership& membership) {
  std::vector<StepRange> ranges;
  for (const Member& member : membership.members) ranges.push_back({member.begin, member.end});
  return ranges;
}

// Counts what travels in 16 bits if the exchange does so. Late buffers do not.
int64_t ElementsInSixteenBits(const ParameterLayout& layout) {
  int64_t elements = 0;
  for (const ParameterInfo& info : layout.parameters) {
    if (!layout.late_buffers || !info.is_buffer()) elements += info.size;
  }
  return elements;
}

}  // namespace

GenerationRun::GenerationRun(const Membership& membership, device::Exchange& exchange, const GenerationParts& parts)
    : membership_(membership),
      exchange_(exchange),
      communicator_(exchange.communicator()),
      parts_(parts),
      ranges_(RangesOf(membership)),
      stragglers_(communicator_.rank(), parts.speed.straggling) {}

absl::Status GenerationRun::Run() {
  parts_.reporter.Assign(Assigned());
  parts_.teller.Joined(Now());
  while (!membership_.finishing && parts_.state.scalars.step < parts_.spec.steps) {
    if (absl::Status status = OneStep(); !status.ok()) return status;
    if (yielded_) return absl::OkStatus();
    if (!stop_reason_.empty()) break;
    if (parts_.stopping()) return absl::AbortedError("this trainer was told to stop");
  }
  return Finish();
}

std::set<int> GenerationRun::Assigned() const {
  std::set<int> assigned;
  const int64_t step = parts_.state.scalars.step;
  if (membership_.finishing || step >= parts_.spec.steps) return assigned;
  if (membership_.interrupted && step == membership_.step) {
    const Member& self = membership_.members[static_cast<size_t>(communicator_.rank())];
    assigned.insert(self.holds.begin(), self.holds.end());
    assigned.insert(self.adds.begin(), self.adds.end());
  } else {
    const StepRange& range = ranges_.of(communicator_.rank());
    for (int index = range.begin; index < range.end; ++index) assigned.insert(index);
  }
  return assigned;
}

Moment GenerationRun::Now() const {
  return {membership_.generation, parts_.state.scalars.step, communicator_.world_size()};
}

// Runs `compute` and turns what the model throws into a status. Such an error leaves the state alone, because nothing
// of a step is applied before all of it is reduced. The gradients of all micro-batches that the rank holds are
// forgotten.
absl::Status GenerationRun::Computed(const std::function<absl::Status()>& compute) {
  absl::Status status;
  try {
    status = compute();
  } catch (const std::exception& error) {
    status = FromException(error);
    parts_.steps.Forget();
  }
  out_of_memory_ = absl::IsResourceExhausted(status);
  if (out_of_memory_) parts_.steps.Forget();
  return status;
}

StepExtras GenerationRun::Extras() {
  StepExtras extras;
  const Directive directive = parts_.control.directives().Latest();
  extras.yield =
      directive.action == Directive::Action::kYield && directive.membership.generation <= membership_.generation;
  extras.yield_with_checkpoint = extras.yield && directive.checkpoint;
  if (extras.yield_with_checkpoint && directive.checkpoint_until > 0 && flush_until_ == 0) {
    flush_until_ = directive.checkpoint_until;
  }
  extras.range = ranges_.of(communicator_.rank());
  extras.lease = &parts_.control.lease();
  parts_.saver.Announce(parts_.state.scalars.step, parts_.speed.times.step_seconds(), communicator_.world_size(),
                        &extras);
  return extras;
}

absl::Status GenerationRun::OneStep() {
  const double start = parts_.clock();
  if (absl::Status status = parts_.saver.CheckNotRefused(); !status.ok()) return status;
  communicator_.SetDeadlines({.progress_seconds = parts_.speed.StepDeadline()});
  const StateScalars& scalars = parts_.state.scalars;
  StepOutcome outcome;
  absl::Status status =
      Computed([&] { return parts_.steps.Run(parts_.state, Assigned(), Extras(), exchange_, &outcome); });
  if (!status.ok()) return status;
  parts_.saver.Gather(outcome.messages);
  FollowSpeeds(outcome);
  if (status = AwaitLease(outcome); !status.ok()) return status;
  const int64_t before = scalars.step;
  if (status = JudgeAndApply(outcome); !status.ok()) return status;
  if (scalars.step == before) return absl::OkStatus();
  // What a rank has lost says nothing about how long a step takes, for this rank or for those that have waited for it.
  const double seconds = std::max(0.0, parts_.clock() - start - outcome.lost_seconds);
  const bool redone = membership_.interrupted && before == membership_.step;
  TellStep(outcome, seconds, redone);
  const bool usual = !redone && outcome.evaluation.micro_batches == 0 && outcome.lost_seconds == 0;
  if (parts_.saver.StepDone(outcome, seconds, usual, parts_.state)) parts_.teller.CheckpointBegan(Now());
  if (!outcome.yield || scalars.step >= parts_.spec.steps) return absl::OkStatus();
  return Yield(outcome.yield_with_checkpoint);
}

// Fits the ranges of micro-batches to the measured speeds. This must come before the step is applied, because the
// report of an applied step already announces the next step's ranges. Every rank has the same step messages of all
// ranks, so all ranks choose the same ranges.
void GenerationRun::FollowSpeeds(const StepOutcome& outcome) {
  const int rank = communicator_.rank();
  RankSpeed& speed = parts_.speed;
  std::vector<StepCost> costs;
  for (const StepMessage& message : outcome.messages) costs.push_back(message.cost);
  parts_.teller.SavedByRanges(std::max(0.0, ranges_.seconds_saved()));
  if (const auto recut = ranges_.Add(costs)) {
    parts_.teller.Recut(parts_.state.scalars.step, membership_, ranges_, *recut, parts_.spec.micro_batches());
  }
  speed.straggling = stragglers_.Add(costs);
  parts_.teller.SlowAt(membership_, rank, speed.straggling);
  // `micro_batch_seconds` is this rank's time for one micro-batch, from which the coordinator chooses the next
  // generation's ranges. The median of `ranges_` is used as soon as there is one, because the present ranges are based
  // on it, too.
  const double measured = ranges_.seconds(rank);
  const StepCost& mine = costs[static_cast<size_t>(rank)];
  if (measured > 0) {
    speed.micro_batch_seconds = measured;
  } else if (speed.micro_batch_seconds == 0 && mine.micro_batches > 0) {
    speed.micro_batch_seconds = (mine.data_seconds + mine.compute_seconds) / mine.micro_batches;
  }
  parts_.teller.ShareIs(ranges_.of(rank).size());
}

// Lets this rank go on if the lease of some rank holds, and otherwise makes it wait at the step boundary. All ranks
// have the same messages about the leases, so they stop or go on at the same boundary. A rank whose machine slept after
// the exchange finds that the messages are too old.
absl::Status GenerationRun::AwaitLease(const StepOutcome& outcome) {
  return outcome.lease_holds ? CheckFresh(parts_.control.lease(), membership_, outcome.sent)
                             : StandStill(membership_, communicator_, parts_);
}

absl::Status GenerationRun::JudgeAndApply(const StepOutcome& outcome) {
  Judgement judgement;
  absl::Status status =
      parts_.judge.Judge(parts_.state.scalars, outcome, parts_.speed.times.step_seconds(), &judgement);
  for (LeverNote& note : judgement.notes) parts_.teller.Lever(std::move(note));
  stop_reason_ = judgement.stop_reason;
  if (!status.ok() || judgement.verdict == Verdict::kStop) return status;
  if (judgement.verdict != Verdict::kRedo) status = PlanAndPrepare(outcome, judgement);
  if (!status.ok()) return status;
  parts_.teller.WaitedForCopy(parts_.saver.WaitCopied());
  if (!parts_.reporter.BeginApply()) return absl::AbortedError("interrupted before the step was applied");
  return Apply(outcome, std::move(judgement));
}

absl::Status GenerationRun::PlanAndPrepare(const StepOutcome& outcome, const Judgement& judgement) {
  const TrainSpec& spec = parts_.spec;
  const StateScalars& scalars = parts_.state.scalars;
  std::optional<PlannedUpdate> update;
  learning_rate_.reset();
  if (judgement.verdict == Verdict::kApply) {
    learning_rate_ = LearningRate(spec.optimizer, spec.schedule, scalars.step, spec.steps, judgement.scalars.levers);
    update = PlanUpdate(*outcome.gradient, outcome.squares, outcome.record.tokens, spec.optimizer, *learning_rate_,
                        spec.clip_norm, scalars, outcome.record.has_gradient);
  }
  if (update && update->result.found_inf) {
    return absl::InvalidArgumentError("step " + std::to_string(scalars.step + 1) +
                                      ": the gradient's norm is not finite; lower optimizer.learning_rate");
  }
  const double start = parts_.clock();
  const absl::Status status = parts_.placement.Prepare(std::move(update), outcome.gradient, exchange_, parts_.state);
  parts_.teller.Prepared(parts_.clock() - start);
  return status;
}

// Applies, skips or redoes the step, as `judgement` says, and reports it. REQUIRES: Reporter::BeginApply() has agreed.
absl::Status GenerationRun::Apply(const StepOutcome& outcome, Judgement judgement) {
  const double start = parts_.clock();
  StateScalars& scalars = parts_.state.scalars;
  const bool redo = judgement.verdict == Verdict::kRedo;
  if (!redo) {
    if (absl::Status status = parts_.placement.Apply(parts_.state); !status.ok()) return status;
  }
  if (judgement.verdict == Verdict::kApply) {
    UpdateBuffers(parts_.device, parts_.layout, *outcome.gradient, parts_.spec.micro_batches(), parts_.state);
  }
  scalars = std::move(judgement.scalars);
  const bool goes_on = redo || !outcome.yield;
  parts_.reporter.EndApply(scalars.step, scalars.attempt, goes_on ? Assigned() : std::set<int>());
  if (!redo) parts_.teller.Applied(parts_.clock() - start);
  return absl::OkStatus();
}

void GenerationRun::TellStep(const StepOutcome& outcome, double seconds, bool redone) {
  parts_.speed.times.AddStep(seconds);
  parts_.teller.Step({.moment = Now(),
                      .outcome = outcome,
                      .scalars = parts_.state.scalars,
                      .times = parts_.speed.times,
                      .learning_rate = learning_rate_,
                      .micro_batch_seconds = parts_.speed.micro_batch_seconds,
                      .computed = parts_.steps.computed(),
                      .redone = redone});
  TellBytesSaved();
}

// Reports once, after the first step, how many bytes sharding and 16-bit exchanges save. By then all the memory that
// the generation needs is in use.
void GenerationRun::TellBytesSaved() {
  if (communicator_.rank() != 0 || std::exchange(told_bytes_saved_, true)) return;
  if (std::optional<LeverNote> note = parts_.placement.Saved(parts_.state)) parts_.teller.Lever(*std::move(note));
  if (parts_.spec.sixteen_bit && communicator_.world_size() > 1) {
    parts_.teller.SmallerReduce(Now(), ElementsInSixteenBits(parts_.layout));
  }
}

absl::Status GenerationRun::Yield(bool with_checkpoint) {
  yielded_ = true;
  if (with_checkpoint) {
    absl::Status status = parts_.saver.SaveNow(communicator_, parts_.state, flush_until_);
    if (!status.ok()) return status;
  }
  communicator_.Close();
  parts_.reporter.Leave(Phase::kQuiesced, parts_.state.scalars.step);
  return absl::OkStatus();
}

// Ends the job with the last evaluation and the final checkpoint, which may take several generations.
absl::Status GenerationRun::Finish() {
  const int64_t step = parts_.state.scalars.step;
  if (absl::Status status = EvaluateFinal(); !status.ok()) return status;
  if (!membership_.finishing) parts_.teller.AllSavedByRanges(step);
  if (parts_.saver.SavesFinal()) {
    parts_.teller.KeepsFinalState(true);
    // The ranks keep the final state until a store has taken it, so a failure of the store is no error here.
    absl::Status status = parts_.saver.SaveFinal(communicator_, parts_.state, flush_until_, membership_.final_store);
    if (!status.ok()) return status;
  }
  if (absl::Status status = NoteFinal(); !status.ok()) return status;
  const absl::StatusOr<std::string> digest = parts_.placement.Digest(exchange_, parts_.state);
  if (!digest.ok()) return digest.status();
  communicator_.Close();
  parts_.teller.Finished(step, *digest, stop_reason_);
  parts_.reporter.Leave(Phase::kFinished, step);
  return absl::OkStatus();
}

absl::Status GenerationRun::EvaluateFinal() {
  const bool anyone_new = std::any_of(membership_.members.begin(), membership_.members.end(),
                                      [](const Member& member) { return member.needs_state; });
  // Members that took part in the last step have got the final evaluation with it.
  if (membership_.finishing && !anyone_new) return absl::OkStatus();
  StepRecord evaluation;
  absl::Status status = Computed([&] {
    return parts_.steps.Evaluate(parts_.state, ranges_.of(communicator_.rank()), communicator_, &evaluation);
  });
  if (!status.ok()) return status;
  parts_.teller.Evaluation(evaluation);
  if (evaluation.micro_batches > 0) parts_.saver.Evaluated(evaluation.MeanLoss());
  return absl::OkStatus();
}

// Finds out whether the final state is durable, which rank 0 knows. Until it is, no member's machine may shut itself
// down. The call is collective.
absl::Status GenerationRun::NoteFinal() {
  const uint8_t mine = !parts_.saver.SavesFinal() || parts_.saver.IsDurable(parts_.state.scalars.step);
  std::vector<uint8_t> all(static_cast<size_t>(communicator_.world_size()));
  if (absl::Status told = communicator_.AllGather(&mine, all.data(), 1).Wait(); !told.ok()) return told;
  parts_.teller.KeepsFinalState(std::find(all.begin(), all.end(), 1) == all.end());
  return absl::OkStatus();
}

}  // namespace rekindle::train
