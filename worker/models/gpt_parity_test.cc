// The same weights and text give PyTorch's own loss and gradients. Skipped where the wheels' Python has no torch.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "worker/models/test_model.h"

namespace rekindle::models {
namespace {

namespace fs = std::filesystem;

template <typename T>
void WriteAll(std::ofstream& file, std::span<const T> values) {
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

void ExpectParity(const ModelSpec& spec, int sequences, float scale) {
  std::string folder = fs::path(::testing::TempDir()) / "gpt_parity_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  TestModel test(spec);
  for (float& w : test.weights()) w *= scale;
  train::MicroBatch batch = test.Batch(3, sequences);
  {
    std::ofstream file(folder + "/in", std::ios::binary);
    WriteAll<float>(file, test.weights());
    WriteAll<uint8_t>(file, batch.tokens);
  }
  std::string command =
      std::string(REKINDLE_PYTHON) + " worker/models/gpt_parity.py " + folder + "/in " + folder + "/out";
  for (int number : {spec.layers, spec.heads, spec.width, spec.context, sequences})
    command += " " + std::to_string(number);
  ASSERT_EQ(std::system(command.c_str()), 0) << command;

  double loss = 0;
  std::vector<float> theirs(test.weights().size());
  std::ifstream file(folder + "/out", std::ios::binary);
  file.read(reinterpret_cast<char*>(&loss), sizeof(loss));
  file.read(reinterpret_cast<char*>(theirs.data()), static_cast<std::streamsize>(theirs.size() * sizeof(float)));
  ASSERT_TRUE(file.good());
  Gradients ours = test.Backward(batch);
  EXPECT_NEAR(ours.loss.sum, loss, 1e-5 * loss);
  // Errors are measured against the largest gradient of the parameter.
  for (const train::ParameterInfo& info : test.model().layout().parameters) {
    double largest = 0, worst = 0;
    for (int64_t i = info.offset; i < info.offset + info.size; ++i) {
      largest = std::max(largest, std::abs(double{theirs[i]}));
      worst = std::max(worst, std::abs(double{theirs[i]} - ours.values[i]));
    }
    EXPECT_GT(largest, 0) << info.name;
    EXPECT_LE(worst, 1e-4 * largest) << info.name;
  }
  fs::remove_all(folder);
}

TEST(GptParityTest, LossAndGradientsArePyTorchs) {
  std::string probe = std::string(REKINDLE_PYTHON) + " -c 'import torch, numpy' 2>/dev/null";
  if (std::system(probe.c_str()) != 0) GTEST_SKIP() << "no torch in " << REKINDLE_PYTHON;
  ExpectParity(SmallSpec(), 3, 3);
  ExpectParity({.kind = "gpt", .layers = 4, .heads = 4, .width = 128, .context = 128}, 4, 1);
}

}  // namespace
}  // namespace rekindle::models
