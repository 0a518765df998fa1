// Tests the user's own model with real model processes, which die or are replaced.
#include "worker/own_model/model/own_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "worker/own_model/testing/own_model_testing.h"

namespace rekindle::own_model {
namespace {

using testing::HasSubstr;

TEST_F(OwnModelTest, GivesTheSameGradientsWhateverCameBefore) {
  Open("models:noisy");
  EXPECT_GT(model_->description().samples, 0);
  const Outcome first = Compute(1, 5);
  ASSERT_TRUE(first.loss.ok()) << first.loss.status();
  EXPECT_EQ(first.loss->count, 4);
  Compute(0, 2);
  ExpectEqual(first, Compute(1, 5));
  // The weights are read where they are.
  for (float& weight : weights_) weight *= 1.5f;
  EXPECT_NE(Compute(1, 5).loss->sum, first.loss->sum);
}

TEST_F(OwnModelTest, ADeathCostsNothingButTheMicroBatch) {
  Open("models:deep");
  const Outcome wanted = Compute(1);
  for (const int signal : {SIGKILL, SIGSEGV, SIGSTOP}) {
    SCOPED_TRACE(signal);
    // The process ends before it is asked.
    const pid_t before = model_->process().pid;
    Signal(signal);
    ExpectEqual(wanted, Compute(1));
    EXPECT_NE(model_->process().pid, before);
    EXPECT_THAT(notes_, HasSubstr("replacing the child"));
    // It ends when it has delivered a part of the gradients. They are not delivered again.
    Compute(0);
    ExpectEqual(wanted, Compute(1, 0, [&] { Signal(signal); }));
  }
}

TEST_F(OwnModelTest, ProcessesThatAreKilledEachTimeHaveNoMemory) {
  Open("failing:killed_for_memory");
  const Outcome killed = Compute(0, 0, nullptr, 4);
  EXPECT_TRUE(absl::IsResourceExhausted(killed.loss.status())) << killed.loss.status();
  EXPECT_TRUE(Compute(0, 0, nullptr, 2).loss.ok());
  // A process that ends by itself each time is the job's fault, also where others were killed before.
  Open("failing:ends_itself");
  Signal(SIGKILL);
  const Outcome ended = Compute(0, 0, nullptr, 4);
  EXPECT_TRUE(absl::IsInvalidArgument(ended.loss.status())) << ended.loss.status();
  EXPECT_THAT(std::string(ended.loss.status().message()), HasSubstr("exit code 3"));
}

TEST_F(OwnModelTest, AnExceptionAfterSomeGradientsIsTriedAgain) {
  Open("failing:raises_when_armed");
  ASSERT_TRUE(Compute(0).loss.ok());
  const Outcome wanted = Compute(1);
  ASSERT_TRUE(Compute(0).loss.ok());
  std::ofstream(folder_.path() + "/armed").put('x');
  const pid_t before = model_->process().pid;
  bool is_early = false;
  ExpectEqual(wanted, Compute(1, 0, [&] { is_early = model_->process().pid == before; }));
  EXPECT_TRUE(is_early) << "the first process has delivered a part";
  EXPECT_NE(model_->process().pid, before);
}

TEST_F(OwnModelTest, WhatASecondProcessComputesDifferentlyIsNotMixedWithTheFirst) {
  parts_.job.exact = false;
  Open("failing:differs_by_process");
  ASSERT_TRUE(Compute(0).loss.ok());
  const Outcome mixed = Compute(1, 0, [&] { Signal(SIGKILL); });
  EXPECT_TRUE(absl::IsAborted(mixed.loss.status())) << mixed.loss.status();
  EXPECT_THAT(std::string(mixed.loss.status().message()), HasSubstr("has another gradient of"));
  // The process that has replaced the first one computes the step again.
  const pid_t second = model_->process().pid;
  const Outcome again = Compute(1);
  EXPECT_TRUE(again.loss.ok()) << again.loss.status();
  EXPECT_EQ(model_->process().pid, second);
}

TEST_F(OwnModelTest, ACallThatIsCancelledLeavesNoAnswerBehind) {
  bool goes_on = true;
  parts_.go_on = [&] { return goes_on; };
  Open("models:deep");
  const Outcome wanted = Compute(1);
  ASSERT_TRUE(Compute(0).loss.ok());
  EXPECT_TRUE(absl::IsCancelled(Compute(1, 0, [&] { goes_on = false; }).loss.status()));
  EXPECT_FALSE(model_->process().Alive());
  goes_on = true;
  ExpectEqual(wanted, Compute(1));
  EXPECT_FALSE(model_->IsHeldUp());
}

TEST_F(OwnModelTest, AProcessThatIsStoppedBeforeItIsReadyIsNotWaitedFor) {
  parts_.process.task = "failing:stops_itself";
  const absl::Status stopped = OwnModel::Create(parts_).status();
  EXPECT_TRUE(absl::IsUnavailable(stopped)) << stopped;
  EXPECT_THAT(std::string(stopped.message()), HasSubstr("a signal has stopped"));
  EXPECT_FALSE(std::filesystem::exists(parts_.process.faults_file));
}

TEST_F(OwnModelTest, ItIsHeldUpWhileItsProcessIsReplaced) {
  std::vector<bool> held_up;
  std::string note;
  parts_.note = [&](const std::string& text) {
    note = text;
    if (model_) held_up.push_back(model_->IsHeldUp());
  };
  Open("models:deep");
  ASSERT_TRUE(Compute(1).loss.ok());
  EXPECT_FALSE(model_->IsHeldUp());
  EXPECT_EQ(model_->LostSeconds(), 0);
  held_up.clear();
  Signal(SIGKILL);
  ASSERT_TRUE(Compute(1).loss.ok());
  ASSERT_GE(held_up.size(), 2u);
  EXPECT_TRUE(held_up.front());
  EXPECT_FALSE(held_up.back());
  EXPECT_EQ(note, "") << "the note is taken back";
  EXPECT_GT(model_->LostSeconds(), 0);
}

TEST_F(OwnModelTest, AReplacementThatNobodyWantsEndsAndIsMadeLater) {
  Open("models:deep");
  const Outcome wanted = Compute(1);
  Signal(SIGKILL);
  model_->SetUnwanted(true);
  EXPECT_TRUE(absl::IsCancelled(Compute(1).loss.status()));
  EXPECT_FALSE(model_->IsHeldUp());
  model_->SetUnwanted(false);
  ExpectEqual(wanted, Compute(1));
}

TEST_F(OwnModelTest, TheInitialValuesCanBeReadAgain) {
  Open("models:deep");
  const std::vector<float> initial(weights_.begin(), weights_.end());
  ASSERT_TRUE(Compute(1).loss.ok());
  for (float& weight : weights_) weight *= 1.5f;
  const Outcome wanted = Compute(1);
  std::vector<float> again(initial.size());
  ASSERT_TRUE(model_->Initialize(7, again).ok());
  EXPECT_EQ(again, initial);
  ExpectEqual(wanted, Compute(1));
}

TEST_F(OwnModelTest, AnotherProcessGetsSlotsOfItsOwn) {
  Open("models:deep");
  ASSERT_TRUE(Compute(1).loss.ok());
  const std::string before = SlotsOfProcess();
  ASSERT_NE(before, "");
  Signal(SIGKILL);
  ASSERT_TRUE(Compute(1).loss.ok());
  EXPECT_NE(SlotsOfProcess(), before) << "what is left of the first process may write there";
}

TEST_F(OwnModelTest, AnotherProcessIsToldWhatIsExpected) {
  Open("failing:notes_reads");
  ASSERT_TRUE(Compute(0).loss.ok());
  Signal(SIGKILL);
  ASSERT_TRUE(Await([&] { return !model_->process().Alive(); }));
  std::vector<Samples> expected;
  for (int index : {1, 2}) {
    expected.push_back({.index = index, .first = 4 * index, .numbers = std::vector<int64_t>(4)});
    std::iota(expected.back().numbers.begin(), expected.back().numbers.end(), 4 * index);
  }
  model_->Expect(0, expected);
  ASSERT_TRUE(Compute(1).loss.ok());
  // Nobody has asked for micro-batch 2, whose samples begin at 8.
  EXPECT_TRUE(Await([&] { return Written("reads").find("\n8\n") != std::string::npos; })) << Written("reads");
}

TEST_F(OwnModelTest, AProcessThatWaitsForAnotherOneIsNotFrozen) {
  parts_.limits.quiet_seconds = 0.7;
  Open("failing:awaits_process");
  const pid_t before = model_->process().pid;
  ASSERT_TRUE(Compute(0).loss.ok());
  EXPECT_EQ(model_->process().pid, before);
}

TEST_F(OwnModelTest, AnExactJobEndsWhereASecondProcessComputesSomethingElse) {
  parts_.job.exact = true;
  Open("failing:differs_by_process");
  ASSERT_TRUE(Compute(0).loss.ok());
  const absl::Status mixed = Compute(1, 0, [&] { Signal(SIGKILL); }).loss.status();
  EXPECT_TRUE(absl::IsInvalidArgument(mixed)) << mixed;
  EXPECT_THAT(std::string(mixed.message()), HasSubstr("set training.reduce to fp32"));
}

TEST_F(OwnModelTest, AProcessThatNoStepWaitsForGetsASmallerShare) {
  Open("failing:notes_nice");
  ASSERT_TRUE(model_->Renew().ok());
  model_->Expect(0, {});
  Signal(SIGKILL);
  ASSERT_TRUE(Compute(0).loss.ok());
  EXPECT_EQ(Written("nice"), "3\n3\n0\n");
}

TEST_F(OwnModelTest, TheTaskDecidesAboutItsDataProcesses) {
  Open("models:helped");
  EXPECT_EQ(Children(), 3);
  parts_.process.data_workers = 2;
  Open("models:helped");
  EXPECT_EQ(Children(), 2) << "the job has decided";
}

TEST_F(OwnModelTest, OnlyTheFirstMicroBatchGivesBuffersOfWholeNumbers) {
  Open("models:memory");
  const auto& parameters = model_->layout().parameters;
  const Outcome first = Compute(0), second = Compute(1);
  ASSERT_TRUE(first.loss.ok() && second.loss.ok());
  EXPECT_EQ(first.loss->whole_buffers, second.loss->whole_buffers) << "all must give the same";
  for (size_t p = 0; p < parameters.size(); ++p) {
    const bool is_whole = parameters[p].name == "pointer" || parameters[p].name == "calls";
    EXPECT_EQ(first.deliveries[p], 1) << parameters[p].name;
    EXPECT_EQ(second.deliveries[p], is_whole ? 0 : 1) << parameters[p].name;
  }
}

TEST_F(OwnModelTest, OtherWeightsAreBoundAnew) {
  Open("models:perceptron");
  const Outcome wanted = Compute(2);
  const auto memory = shares_.Make(weights_.size_bytes(), "other weights");
  ASSERT_TRUE(memory.ok());
  const std::span<float> others(static_cast<float*>(*memory), weights_.size());
  std::fill(others.begin(), others.end(), 0.25f);
  model_->BindWeights(others.data());
  EXPECT_NE(Compute(2).loss->sum, wanted.loss->sum);
  std::copy(weights_.begin(), weights_.end(), others.begin());
  ExpectEqual(wanted, Compute(2));
}

TEST_F(OwnModelTest, ATrainerThatHasToEndDoesNotWait) {
  Open("failing:slow");
  parts_.go_on = [] { return false; };
  EXPECT_TRUE(absl::IsCancelled(OwnModel::Create(parts_).status()));
}

}  // namespace
}  // namespace rekindle::own_model
