#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "worker/contract/spec.h"
#include "worker/train/levers/step_lever.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

using ::testing::HasSubstr;

const ParameterLayout& Layout() {
  static const auto* layout = new ParameterLayout(testing::MakeLayout({4, 4, 4}));
  return *layout;
}

// Shows one step to every lever, as the engine does, and returns the advice of the lever `name`.
StepAdvice Show(const std::string& name, StepView view, LeverState* state) {
  StepAdvice advice;
  for (const StepLever* lever : StepLevers()) {
    const StepAdvice given = lever->advise(view, state);
    if (name == lever->name) advice = given;
  }
  return advice;
}

StepAdvice ShowLoss(const TrainSpec& spec, int64_t step, double loss, LeverState* state) {
  static const std::vector<float> kMaxima(3, 1);
  return Show("loss_spike",
              {.spec = spec, .layout = Layout(), .step = step, .loss = loss, .maxima = kMaxima, .validation_loss = {}},
              state);
}

StepAdvice ShowEvaluation(const TrainSpec& spec, int64_t step, double loss, LeverState* state) {
  return Show("early_stop",
              {.spec = spec, .layout = Layout(), .step = step, .loss = 1, .maxima = {}, .validation_loss = loss},
              state);
}

TEST(EarlyStopTest, StopsAfterPatienceEvaluationsWithoutAGain) {
  const TrainSpec spec{.steps = 100, .levers = {{"early_stop", {{"patience", 3}, {"min_delta", 0.01}}}}};
  LeverState state;
  // An evaluation that gains 0.01 or less counts as one without a gain.
  const std::vector<double> losses{2, 1.5, 1.495, 1.6, 1.48, 1.48, 1.475};
  for (size_t i = 0; i < losses.size(); ++i) {
    EXPECT_EQ(ShowEvaluation(spec, 10 * static_cast<int64_t>(i), losses[i], &state).action, StepAdvice::Action::kGoOn);
  }
  const StepAdvice advice = ShowEvaluation(spec, 70, 1.471, &state);
  EXPECT_EQ(advice.action, StepAdvice::Action::kStop);
  EXPECT_EQ(advice.steps_saved, 30);
  EXPECT_EQ(advice.text,
            "stopped early at step 70 of 100: 3 evaluations in a row were not better than 1.48 of step 40 by 0.01; "
            "saved 30 steps");
}

TEST(EarlyStopTest, OffByDefaultAndAtTheLastStep) {
  LeverState state;
  const TrainSpec off{.steps = 100};
  for (int step = 0; step < 50; ++step) {
    EXPECT_EQ(ShowEvaluation(off, step, 1, &state).action, StepAdvice::Action::kGoOn);
  }
  const TrainSpec on{.steps = 2, .levers = {{"early_stop", {{"patience", 1}}}}};
  ShowEvaluation(on, 1, 1, &state);
  EXPECT_EQ(ShowEvaluation(on, 2, 1, &state).action, StepAdvice::Action::kGoOn);
}

TEST(LossSpikeTest, TellsAJumpOnceAndNoNoise) {
  const TrainSpec spec{.steps = 1000};
  LeverState state;
  const auto loss = [](int step) { return 3 - 0.002 * step + 0.05 * ((step * 7) % 11 - 5) / 5; };
  int64_t step = 0;
  for (; step < 200; ++step) EXPECT_EQ(ShowLoss(spec, step, loss(static_cast<int>(step)), &state).text, "") << step;
  const StepAdvice advice = ShowLoss(spec, step++, 9, &state);
  EXPECT_EQ(advice.action, StepAdvice::Action::kGoOn);
  EXPECT_THAT(advice.text, HasSubstr("the loss jumped to 9 at step 201, from a median of 2.6"));
  // The loss of 12 comes right after the loss of 9 that was reported, so it belongs to the same spike.
  EXPECT_EQ(ShowLoss(spec, step++, 12, &state).text, "");
  for (; step < 240; ++step) EXPECT_EQ(ShowLoss(spec, step, loss(static_cast<int>(step)), &state).text, "") << step;
  // The loss of 9 after many normal losses is a new spike.
  EXPECT_NE(ShowLoss(spec, step, 9, &state).text, "");
}

TEST(LossSpikeTest, NeedsAHistoryAndEndsTheJobByPolicy) {
  const TrainSpec spec{.steps = 1000, .on_divergence = TrainSpec::OnDivergence::kFail};
  LeverState state;
  for (int step = 0; step < 16; ++step) EXPECT_EQ(ShowLoss(spec, step, step == 5 ? 50 : 2, &state).text, "") << step;
  // The median deviation of the losses is 0, but the rise to 2.05 is below 5 % of the median.
  EXPECT_EQ(ShowLoss(spec, 16, 2.05, &state).text, "");
  EXPECT_EQ(ShowLoss(spec, 17, 2.2, &state).action, StepAdvice::Action::kDiverged);
}

TEST(LossSpikeTest, ANearlyPerfectModelMayErr) {
  const TrainSpec spec{.steps = 1000, .on_divergence = TrainSpec::OnDivergence::kFail};
  LeverState state;
  for (int step = 0; step < 100; ++step) {
    EXPECT_EQ(ShowLoss(spec, step, 2.3 * std::pow(0.8, step), &state).text, "") << step;
  }
  EXPECT_EQ(ShowLoss(spec, 100, 0.02, &state).text, "");
  EXPECT_EQ(ShowLoss(spec, 101, 0.03, &state).action, StepAdvice::Action::kDiverged);
}

TEST(StepLeversTest, ABatchThatIsNotFiniteHidesNoEvaluation) {
  const TrainSpec spec{.steps = 100, .levers = {{"early_stop", {{"patience", 1}}}}};
  LeverState state;
  ShowEvaluation(spec, 0, 1, &state);
  EXPECT_EQ(Show("early_stop", {.spec = spec, .layout = Layout(), .step = 9, .validation_loss = 2}, &state).action,
            StepAdvice::Action::kStop);
  EXPECT_EQ(Show("no_gradient", {.spec = spec, .layout = Layout(), .step = 9}, &state).text, "");
}

TEST(NoGradientTest, NamesThemOnceAtTheTenthStep) {
  const TrainSpec spec{.steps = 100};
  LeverState state;
  const std::vector<float> maxima{1, 0, 0};
  for (int64_t step = 0; step < 20; ++step) {
    const StepAdvice advice = Show(
        "no_gradient",
        {.spec = spec, .layout = Layout(), .step = step, .loss = 1, .maxima = maxima, .validation_loss = {}}, &state);
    EXPECT_EQ(advice.text, step == 9 ? "2 parameters get no gradient: p1, p2; the loss does not depend on them" : "");
  }
}

TEST(NoGradientTest, OneThatHadAGradientBeforeIsNotNamed) {
  LeverState state;
  const std::vector<float> maxima{1, 0, 0};
  const std::vector<uint8_t> has_gradient{1, 0, 0};
  const auto text = [&](const std::vector<int64_t>& missed, int steps = 100) {
    const TrainSpec spec{.steps = steps};
    return Show("no_gradient",
                {.spec = spec,
                 .layout = Layout(),
                 .step = std::min(9, steps - 1),
                 .loss = 1,
                 .maxima = maxima,
                 .has_gradient = has_gradient,
                 .missed = missed,
                 .validation_loss = {}},
                &state)
        .text;
  };
  EXPECT_EQ(text({0, 8, 9}), "1 parameter gets no gradient: p2; the loss does not depend on it");
  EXPECT_EQ(text({0, 9, 9}), "2 parameters get no gradient: p1, p2; the loss does not depend on them");
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({}, 1), "2 parameters get no gradient: p1, p2; the loss does not depend on them");
}

TEST(NoGradientTest, ABufferHasNone) {
  const TrainSpec spec{.steps = 100};
  ParameterLayout layout = testing::MakeLayout({4, 4, 4});
  layout.parameters[2].momentum = 1;
  LeverState state;
  const std::vector<float> maxima{1, 1, 0};
  EXPECT_EQ(
      Show("no_gradient",
           {.spec = spec, .layout = layout, .step = 9, .loss = 1, .maxima = maxima, .validation_loss = {}}, &state)
          .text,
      "");
}

TEST(StepLeversTest, StateStaysWithinItsBounds) {
  TrainSpec spec{.steps = 1000, .levers = {{"early_stop", {{"patience", 100}}}}};
  spec.schedule.kind = "plateau";
  LeverState state;
  for (int64_t step = 0; step < 100; ++step) {
    for (const StepLever* lever : StepLevers()) {
      lever->advise({.spec = spec, .layout = Layout(), .step = step, .loss = 2, .maxima = {}, .validation_loss = 2.0},
                    &state);
    }
  }
  EXPECT_LE(state.size(), static_cast<size_t>(kMaxLeverValues));
  for (const auto& [name, value] : state) EXPECT_LE(name.size(), static_cast<size_t>(kMaxLeverName));
}

}  // namespace
}  // namespace rekindle::train
