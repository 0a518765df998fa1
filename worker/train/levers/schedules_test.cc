// Checks every schedule against the values that torch's scheduler of the same formula computed (torch 2.11).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/train/levers/learning_rate.h"
#include "worker/train/levers/schedule.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {
namespace {

const OptimizerSpec kOptimizer{.learning_rate = 1};

std::vector<double> Rates(const ScheduleSpec& schedule, int steps) {
  std::vector<double> rates;
  for (int step = 0; step < steps; ++step) rates.push_back(LearningRate(kOptimizer, schedule, step, steps, {}));
  return rates;
}

void ExpectRates(const std::vector<double>& rates, const std::vector<double>& expected) {
  ASSERT_EQ(rates.size(), expected.size());
  for (size_t i = 0; i < rates.size(); ++i) EXPECT_NEAR(rates[i], expected[i], 1e-14) << "step " << i;
}

TEST(SchedulesTest, NamesAreUniqueAndFound) {
  std::string before;
  for (const ScheduleKind* kind : Schedules()) {
    EXPECT_LT(before, kind->name);
    EXPECT_EQ(FindSchedule(kind->name), kind);
    before = kind->name;
  }
  EXPECT_EQ(FindSchedule("step"), nullptr);
}

TEST(SchedulesTest, LinearIsTorchsLinearLR) {
  ExpectRates(Rates({.kind = "linear", .final_ratio = 0.1}, 10),
              {0.91, 0.82, 0.73, 0.64, 0.55, 0.46, 0.37, 0.28, 0.19, 0.1});
}

TEST(SchedulesTest, CosineIsTorchsCosineAnnealingLR) {
  ExpectRates(Rates({.kind = "cosine", .final_ratio = 0.1}, 10),
              {0.9779754323328191, 0.9140576474687263, 0.8145033635316129, 0.6890576474687263, 0.55,
               0.41094235253127376, 0.2854966364683872, 0.18594235253127372, 0.12202456766718092, 0.1});
}

TEST(SchedulesTest, RestartsAreTorchsCosineAnnealingWarmRestarts) {
  ExpectRates(Rates({.kind = "cosine_restarts", .final_ratio = 0.1, .cycle_steps = 4, .cycle_growth = 2}, 16),
              {1.0, 0.8681980515339464, 0.55, 0.23180194846605365, 1.0, 0.9657457896300791, 0.8681980515339464,
               0.7222075445642904, 0.55, 0.3777924554357096, 0.23180194846605365, 0.13425421036992097, 1.0,
               0.9913533761814537, 0.9657457896300791, 0.9241613255361454});
  ExpectRates(Rates({.kind = "cosine_restarts", .final_ratio = 0.1, .cycle_steps = 5}, 8),
              {1.0, 0.9140576474687263, 0.6890576474687263, 0.41094235253127376, 0.18594235253127372, 1.0,
               0.9140576474687263, 0.6890576474687263});
}

TEST(SchedulesTest, WarmupStableDecayIsTorchsConstantThenLinear) {
  ExpectRates(Rates({.kind = "warmup_stable_decay", .final_ratio = 0.1, .decay_steps = 4}, 10),
              {1, 1, 1, 1, 1, 1, 0.775, 0.55, 0.325, 0.1});
  ExpectRates(Rates({.kind = "warmup_stable_decay", .warmup_steps = 2, .decay_steps = 2}, 5), {0.5, 1, 1, 0.5, 0});
  // The decay takes all steps, so the schedule has no stable part.
  ExpectRates(Rates({.kind = "warmup_stable_decay", .decay_steps = 4}, 4), {0.75, 0.5, 0.25, 0});
}

// Returns what the plateau lever says about an evaluation at `step`.
std::string ShowEvaluation(const ScheduleSpec& schedule, int64_t step, double loss, LeverState* state) {
  TrainSpec spec{.steps = 100};
  spec.schedule = schedule;
  const ParameterLayout layout;
  std::string said;
  for (const StepLever* lever : StepLevers()) {
    said +=
        lever
            ->advise({.spec = spec, .layout = layout, .step = step, .loss = 1, .maxima = {}, .validation_loss = loss},
                     state)
            .text;
  }
  return said;
}

TEST(SchedulesTest, PlateauIsTorchsReduceLROnPlateau) {
  const ScheduleSpec schedule{.kind = "plateau", .final_ratio = 0.1, .factor = 0.5, .patience = 1, .min_delta = 1e-4};
  const std::vector<double> losses{2, 1.9, 1.9, 1.8999, 1.8, 1.81, 1.82, 1.83, 1.84, 1.85, 1.7, 1.7, 1.7, 1.7};
  const std::vector<double> torch{1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125, 0.125, 0.125, 0.1, 0.1};
  LeverState state;
  for (size_t i = 0; i < losses.size(); ++i) {
    const std::string said = ShowEvaluation(schedule, static_cast<int64_t>(i), losses[i], &state);
    EXPECT_EQ(LearningRate(kOptimizer, schedule, static_cast<int64_t>(i), 100, state), torch[i]) << i;
    EXPECT_EQ(said.empty(), i == 0 || torch[i] == torch[i - 1]) << said;
  }
  EXPECT_EQ(ShowEvaluation(schedule, 20, 1.7, &state), "");
  // The learning rate is at its lowest value, so further bad evaluations change nothing.
  EXPECT_EQ(ShowEvaluation(schedule, 30, 1.7, &state), "");
}

TEST(SchedulesTest, PlateauDoesNotLookDuringTheWarmUp) {
  const ScheduleSpec schedule{.kind = "plateau", .warmup_steps = 10, .factor = 0.5};
  LeverState state;
  for (int step = 0; step < 10; ++step) EXPECT_EQ(ShowEvaluation(schedule, step, 1 + step, &state), "");
  EXPECT_EQ(LeverValue(state, "plateau.best", -1), -1);
}

}  // namespace
}  // namespace rekindle::train
