// Tests what is refused of tasks and of model processes, and what is compared before anything is trained.
#include "worker/own_model/model/rehearsal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "worker/contract/user_lines.h"
#include "worker/own_model/model/own_batches.h"
#include "worker/own_model/testing/own_model_testing.h"

namespace rekindle::own_model {
namespace {

using testing::HasSubstr;

TEST_F(OwnModelTest, WhatAProcessHasStartedEndsWithIt) {
  Open("failing:starts_process");
  int pid = 0;
  ASSERT_TRUE(absl::SimpleAtoi(Written("started"), &pid));
  const auto started = common::Identify(pid);
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_TRUE(started->Alive());
  Signal(SIGKILL);
  ASSERT_TRUE(Compute(1).loss.ok());
  EXPECT_TRUE(Await([&] { return !started->Alive(); }));
}

TEST_F(OwnModelTest, NothingIsLeftOfTheFileOfFaults) {
  Open("models:perceptron");
  EXPECT_FALSE(std::filesystem::exists(parts_.process.faults_file));
  ASSERT_TRUE(Compute(1).loss.ok());
  model_.reset();
  EXPECT_FALSE(std::filesystem::exists(parts_.process.faults_file));
}

TEST_F(OwnModelTest, ARehearsalGivesTheSameDigestEachTime) {
  std::string digest;
  for (int run = 0; run < 2; ++run) {
    Open("models:noisy");
    const auto rehearsed = Rehearse(*model_, {.seed = 7, .samples = 4});
    ASSERT_TRUE(rehearsed.ok()) << rehearsed.status();
    if (run > 0) {
      EXPECT_EQ(*rehearsed, digest);
    }
    digest = *rehearsed;
    // The initial values are still known, so that no process has to be started for them.
    const pid_t pid = model_->process().pid;
    std::vector<float> initial(weights_.size());
    ASSERT_TRUE(model_->Initialize(7, initial).ok());
    EXPECT_EQ(model_->process().pid, pid);
    EXPECT_TRUE(std::equal(initial.begin(), initial.end(), weights_.begin()));
    model_->BindWeights(weights_.data());
    EXPECT_TRUE(Compute(1).loss.ok());
  }
  Open("models:perceptron");
  EXPECT_NE(*Rehearse(*model_, {.seed = 7, .samples = 4}), digest);
}

TEST_F(OwnModelTest, ARehearsalFindsWhatTwoProcessesComputeDifferently) {
  Open("failing:draws");
  const auto refused = Rehearse(*model_, {.seed = 7, .samples = 4});
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("the buffer queue"));
  // A job that need not be exact goes on.
  Open("failing:draws");
  EXPECT_TRUE(Rehearse(*model_, {.seed = 7, .samples = 4, .exact = false}).ok());
}

TEST_F(OwnModelTest, ARehearsalFindsWhatAMicroBatchLeavesForTheNextOne) {
  for (const char* task : {"keeping:counter", "keeping:counted_buffer"}) {
    Open(task);
    const auto refused = Rehearse(*model_, {.seed = 7, .samples = 4});
    EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << task << ": " << refused.status();
    const bool is_buffer = task == std::string("keeping:counted_buffer");
    EXPECT_THAT(std::string(refused.status().message()),
                HasSubstr(is_buffer ? "the new value of the buffer queue" : "the gradient of layer.weight"))
        << task;
  }
}

TEST_F(OwnModelTest, ARehearsalTakesFewerSamplesWhereThereIsNoMemory) {
  Open("failing:needs_memory");
  const auto whole = Rehearse(*model_, {.seed = 7, .samples = 4});
  ASSERT_TRUE(whole.ok()) << whole.status();
  Open("failing:needs_memory");
  EXPECT_EQ(*whole, *Rehearse(*model_, {.seed = 7, .samples = 2}));
  // Where the samples have an influence on each other, the micro-batches of the job stay as they are, too.
  Open("failing:huge");
  EXPECT_TRUE(absl::IsResourceExhausted(Rehearse(*model_, {.seed = 7, .samples = 2}).status()));
}

TEST_F(OwnModelTest, SamplesThatDifferGiveAnotherFingerprint) {
  std::vector<std::string> found;
  for (const char* task : {"reading:task", "reading:task", "reading:task_of_other_samples", "reading:shorter"}) {
    Open(task);
    const absl::StatusOr<std::string> fingerprint = FingerprintOf(*model_, 7, true);
    ASSERT_TRUE(fingerprint.ok()) << fingerprint.status();
    found.push_back(*fingerprint);
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_NE(found[0], found[2]) << "one of its 60 samples is another one";
  EXPECT_NE(found[0], found[3]);
}

TEST_F(OwnModelTest, ASampleThatIsAnotherOneWhenItIsReadAgainIsRefusedInAnExactJob) {
  Open("reading:unseeded");
  const absl::Status refused = FingerprintOf(*model_, 7, true).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("is another sample when it is read again"));
  const absl::StatusOr<std::string> sizes = FingerprintOf(*model_, 7, false);
  ASSERT_TRUE(sizes.ok()) << sizes.status();
  EXPECT_EQ(*sizes, *FingerprintOf(*model_, 7, false)) << "their number alone counts";
}

TEST_F(OwnModelTest, AnEvaluationDoesNotBeginWithTheBeginOfTheDataset) {
  Open("models:perceptron");
  std::vector<std::vector<int64_t>> read;
  for (const uint64_t seed : {7, 8}) {
    const auto batches = OwnBatches::Create(*model_, {.seed = seed, .global_batch = 10, .micro_batch = 5}, true);
    ASSERT_TRUE(batches.ok()) << batches.status();
    ASSERT_EQ((*batches)->validation_micro_batches(), 3);
    std::vector<int64_t>& samples = read.emplace_back();
    for (int index = 0; index < 3; ++index) {
      const train::MicroBatch batch = (*batches)->Validation(index);
      EXPECT_EQ(batch.sequences, index < 2 ? 5 : 2);
      samples.insert(samples.end(), batch.samples.begin(), batch.samples.end());
    }
  }
  EXPECT_EQ(read[0], read[1]) << "evaluations of two jobs can be compared";
  EXPECT_FALSE(std::is_sorted(read[0].begin(), read[0].end()));
  std::sort(read[0].begin(), read[0].end());
  for (int64_t sample = 0; sample < 12; ++sample) EXPECT_EQ(read[0][static_cast<size_t>(sample)], sample);
}

TEST_F(OwnModelTest, TwoMicroBatchesOfAStepHashOneSample) {
  Open("reading:task");
  const auto batches = OwnBatches::Create(*model_, {.seed = 7, .global_batch = 12, .micro_batch = 2}, true);
  ASSERT_TRUE(batches.ok()) << batches.status();
  std::set<int64_t> samples;
  for (int64_t step = 0; step < 12; ++step) {
    std::vector<uint64_t> hashes;
    std::vector<int> indices;
    for (int index = 0; index < 6; ++index) {
      const train::MicroBatch batch = (*batches)->Train(step, index);
      const auto loss = model_->Backward(batch, {.seed = 7, .step = step}, 1, [](int, std::span<const float>) {});
      ASSERT_TRUE(loss.ok()) << loss.status();
      EXPECT_EQ(loss->checked_sample != 0, batch.checked.sample >= 0);
      if (batch.checked.sample < 0) continue;
      EXPECT_EQ(batch.checked.sample, (*batches)->CheckedSample(step));
      hashes.push_back(loss->checked_sample);
      indices.push_back(index);
    }
    ASSERT_EQ(hashes.size(), 2u);
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(indices[1] - indices[0], 3) << "two workers have them";
    samples.insert((*batches)->CheckedSample(step));
  }
  EXPECT_GE(samples.size(), 8u) << "each step checks another one";
  const auto unchecked = OwnBatches::Create(*model_, {.seed = 7, .global_batch = 12, .micro_batch = 2}, false);
  EXPECT_EQ((*unchecked)->CheckedSample(0), -1);
  EXPECT_EQ((*unchecked)->Train(0, 0).checked.sample, -1);
}

TEST_F(OwnModelTest, ALossThatIsNoNumberIsRefusedByTheRehearsal) {
  Open("failing:nan_loss");
  const absl::Status refused = Rehearse(*model_, {.seed = 7, .samples = 4}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the loss is NaN"));
  EXPECT_TRUE(Compute(1).loss.ok()) << "later the engine judges it";
}

TEST_F(OwnModelTest, AnotherModuleEachTimeIsRefused) {
  Open("keeping:unseeded_weights");
  Signal(SIGKILL);
  const Outcome outcome = Compute(1);
  EXPECT_TRUE(absl::IsInvalidArgument(outcome.loss.status())) << outcome.loss.status();
  EXPECT_THAT(std::string(outcome.loss.status().message()), HasSubstr("another module each time"));
}

TEST_F(OwnModelTest, UserCodeDoesNotReadTheMessages) {
  Open("failing:reads_input");
  for (int index : {0, 1}) {
    const Outcome outcome = Compute(index);
    ASSERT_TRUE(outcome.loss.ok()) << outcome.loss.status();
    EXPECT_EQ(outcome.loss->sum, 0) << "its input is empty";
  }
}

TEST_F(OwnModelTest, AProcessThatBreaksTheRulesIsRefused) {
  for (const auto& [task, words] : {std::pair{"hostile:announces_twice", "twice"},
                                    {"hostile:announces_nothing", "gradients of nothing"},
                                    {"hostile:hides_buffers", "no value of the buffer"},
                                    {"hostile:counts_much", "malformed"}}) {
    Open(task);
    const Outcome outcome = Compute(0);
    EXPECT_TRUE(absl::IsInvalidArgument(outcome.loss.status())) << task << ": " << outcome.loss.status();
    EXPECT_THAT(std::string(outcome.loss.status().message()), HasSubstr(words)) << task;
    EXPECT_FALSE(model_->process().Alive()) << task;
  }
}

TEST_F(OwnModelTest, AProcessThatOnlySpeaksIsFrozen) {
  parts_.limits.first_seconds = 1;
  Open("hostile:floods");
  const Outcome outcome = Compute(0);
  EXPECT_TRUE(absl::IsInvalidArgument(outcome.loss.status())) << outcome.loss.status();
  EXPECT_THAT(std::string(outcome.loss.status().message()), HasSubstr("takes longer than 1 s"));
}

TEST_F(OwnModelTest, NotesArePassedOnNowAndThenHoweverManyThereAre) {
  const double begun = common::SteadySeconds();
  Open("hostile:notes_much");
  const auto notes = static_cast<double>(std::count(notes_.begin(), notes_.end(), '\n'));
  EXPECT_GE(notes, 1);
  EXPECT_LE(notes, common::SteadySeconds() - begun + 2);
}

TEST_F(OwnModelTest, AModuleThatCannotHaveRoomIsRefused) {
  parts_.process.task = "models:deep";
  parts_.job.memory_bytes = 1 << 20;
  EXPECT_TRUE(absl::IsResourceExhausted(OwnModel::Create(parts_).status()));
}

TEST_F(OwnModelTest, AnExceptionThatComesAgainIsTheJobsFault) {
  Open("failing:raises_on_two");
  const pid_t before = model_->process().pid;
  const Outcome outcome = Compute(0, 0, nullptr, 2);
  EXPECT_TRUE(absl::IsInvalidArgument(outcome.loss.status())) << outcome.loss.status();
  EXPECT_THAT(train::TracebackOf(outcome.loss.status()), HasSubstr("failing.py"));
  EXPECT_NE(model_->process().pid, before) << "it was tried again in a fresh process";
}

TEST_F(OwnModelTest, AWriteToAParameterIsNamedByItsLine) {
  Open("failing:writes_parameter");
  const Outcome outcome = Compute(0, 0, nullptr, 2);
  EXPECT_TRUE(absl::IsInvalidArgument(outcome.loss.status())) << outcome.loss.status();
  EXPECT_THAT(std::string(outcome.loss.status().message()), HasSubstr("failing.py"));
  EXPECT_THAT(std::string(outcome.loss.status().message()), HasSubstr("must not write its parameters"));
}

TEST_F(OwnModelTest, ATaskThatFailsIsRefusedWithItsLines) {
  parts_.process.task = "refused:raises";
  const auto refused = OwnModel::Create(parts_);
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  EXPECT_THAT(train::TracebackOf(refused.status()), HasSubstr("refused.py"));
  parts_.process.interpreter = "/bin/false";
  EXPECT_TRUE(absl::IsUnavailable(OwnModel::Create(parts_).status()));
}

}  // namespace
}  // namespace rekindle::own_model
