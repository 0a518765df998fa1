// Compares every optimizer, step by step, with torch in Python, where the wheels are installed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "common/testing/temporary_folder_testing.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/state/optimizer.h"
#include "worker/train/testing/host_state.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

constexpr int kMatrix = 4096, kColumns = 32, kVector = 128, kSteps = 30, kCount = 2048;
const std::string kWheels = REKINDLE_WHEELS;
const std::string kPython = kWheels + "/../../../bin/python3";

std::vector<float> ReadFloats(const std::filesystem::path& path, size_t count) {
  std::vector<float> floats(count);
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(floats.data()), count * sizeof(float));
  return floats;
}

// Returns the weights and norms that torch computes from `rows`, or nothing if torch cannot run.
std::vector<float> AskTorch(const std::string& kind, const std::vector<std::vector<float>>& rows) {
  const common::TemporaryFolder temporary;
  const std::string& folder = temporary.path();
  {
    std::ofstream input(folder + "/input", std::ios::binary);
    for (const auto& row : rows) input.write(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
  }
  const std::string command = kPython + " worker/train/state/optimizer_torch_reference.py " + kind + " " + folder +
                              " " + std::to_string(kMatrix) + " " + std::to_string(kVector) + " " +
                              std::to_string(kSteps) + " " + std::to_string(kCount);
  std::vector<float> output;
  if (std::system(command.c_str()) == 0) output = ReadFloats(folder + "/output", kSteps * (kMatrix + kVector + 1));
  return output;
}

class OptimizerTorchTest : public ::testing::TestWithParam<OptimizerSpec> {};

TEST_P(OptimizerTorchTest, SameWeightsAsTorchAfterEachStep) {
  if (!std::filesystem::exists(kWheels + "/torch") || !std::filesystem::exists(kPython)) {
    GTEST_SKIP() << "no torch, or no Python beside it, under REKINDLE_WHEELS='" << kWheels << "'";
  }
  const OptimizerSpec& spec = GetParam();
  // Weight decay applies only to the first parameter.
  ParameterLayout layout = testing::MakeLayout({kMatrix, kVector});
  layout.parameters[0].shape = {kMatrix / kColumns, kColumns};
  std::vector<std::vector<float>> rows{testing::RandomGradient(layout, 0.02, 1)};
  for (int s = 0; s < kSteps; ++s) rows.push_back(testing::RandomGradient(layout, s % 2 ? 500.0 : 5.0, 2 + s));
  const std::vector<float> expected = AskTorch(spec.kind, rows);
  ASSERT_FALSE(expected.empty()) << "torch failed; its output is above";

  const int moments = FindOptimizer(spec.kind)->moments;
  TrainState fixed = ZeroState(layout, moments), values = ZeroState(layout, moments);
  for (TrainState* state : {&fixed, &values}) {
    std::copy(rows[0].begin(), rows[0].end(), FloatsOf(state->weights).begin());
  }
  const auto update = [&](const GradientBuffer& gradient, TrainState* state) {
    return *Update(TestHost(), layout, gradient, kCount, spec, spec.learning_rate, 1.0, state);
  };
  std::vector<int64_t> q(layout.total);
  double worst = 0;
  for (int s = 0; s < kSteps; ++s) {
    const float* torch = expected.data() + s * (layout.total + 1);
    for (int64_t i = 0; i < layout.total; ++i) q[i] = std::llrint(std::ldexp(double{rows[s + 1][i]}, 30));
    const UpdateResult a = update(GradientOf(std::span<const int64_t>(q)), &fixed);
    const UpdateResult b = update(GradientOf(std::span<const float>(rows[s + 1])), &values);
    EXPECT_NEAR(a.grad_norm, torch[layout.total], 1e-6 * a.grad_norm);
    EXPECT_NEAR(b.grad_norm, torch[layout.total], 1e-6 * b.grad_norm);
    fixed.scalars.step = values.scalars.step = s + 1;
    const std::span<float> of_fixed = FloatsOf(fixed.weights), of_values = FloatsOf(values.weights);
    for (int64_t i = 0; i < layout.total; ++i) {
      for (const std::span<float> weights : {of_fixed, of_values}) {
        // The error is relative to the weight, or to the distance that the steps moved it, whichever is larger.
        const double size = std::max<double>(std::abs(torch[i]), kSteps * spec.learning_rate);
        worst = std::max(worst, std::abs(weights[i] - torch[i]) / size);
      }
    }
  }
  EXPECT_LT(worst, 1e-6);
  std::printf("%s: largest relative difference %.2g\n", spec.kind.c_str(), worst);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, OptimizerTorchTest,
    ::testing::Values(OptimizerSpec{.kind = "adamw", .learning_rate = 1e-3, .beta2 = 0.95, .weight_decay = 0.1},
                      OptimizerSpec{.kind = "sgd", .learning_rate = 0.1, .weight_decay = 0.01, .momentum = 0.9},
                      OptimizerSpec{.kind = "lion", .learning_rate = 1e-4, .beta2 = 0.99, .weight_decay = 1},
                      OptimizerSpec{.kind = "muon", .learning_rate = 1e-3, .weight_decay = 0.1, .momentum = 0.95}),
    [](const auto& info) { return info.param.kind; });

}  // namespace
}  // namespace rekindle::train
