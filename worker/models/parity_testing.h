// Holds a model to PyTorch's own loss and gradients: a Python program gets the same weights and the same micro-batch.
#ifndef REKINDLE_WORKER_MODELS_PARITY_TESTING_H_
#define REKINDLE_WORKER_MODELS_PARITY_TESTING_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "worker/models/test_model.h"

namespace rekindle::models {

// Skips where the wheels' Python has no torch.
inline bool PythonHasTorch() {
  return std::system((std::string(REKINDLE_PYTHON) + " -c 'import torch, numpy' 2>/dev/null").c_str()) == 0;
}

// `command`: the program and what it needs to know of the model; it is called with two more, IN and OUT.
// IN: all weights and buffers as float32, then tokens (16 bits), features and targets (float32), each where there are
// any. OUT: the summed loss as float64, then all gradients, and for buffers the statistics, as float32.
// Errors are measured against the largest gradient of the parameter.
inline void ExpectParity(TestModel& test, const train::MicroBatch& batch, const std::string& command,
                         double tolerance = 1e-4) {
  std::string folder = std::filesystem::path(::testing::TempDir()) / "parity_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    std::ofstream file(folder + "/in", std::ios::binary);
    const auto write = [&](const auto& values) {
      file.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(values[0])));
    };
    write(test.weights());
    write(batch.tokens);
    write(batch.features);
    write(batch.targets);
  }
  const std::string line =
      std::string(REKINDLE_PYTHON) + " worker/models/" + command + " " + folder + "/in " + folder + "/out";
  ASSERT_EQ(std::system(line.c_str()), 0) << line;

  double loss = 0;
  std::vector<float> theirs(test.weights().size());
  std::ifstream file(folder + "/out", std::ios::binary);
  file.read(reinterpret_cast<char*>(&loss), sizeof(loss));
  file.read(reinterpret_cast<char*>(theirs.data()), static_cast<std::streamsize>(theirs.size() * sizeof(float)));
  ASSERT_TRUE(file.good());
  Gradients ours = test.Backward(batch);
  EXPECT_NEAR(ours.loss.sum, loss, 1e-5 * loss);
  for (const train::ParameterInfo& info : test.model().layout().parameters) {
    double largest = 0, worst = 0;
    for (int64_t i = info.offset; i < info.offset + info.size; ++i) {
      largest = std::max(largest, std::abs(double{theirs[i]}));
      worst = std::max(worst, std::abs(double{theirs[i]} - ours.values[i]));
    }
    EXPECT_GT(largest, 0) << info.name;
    EXPECT_LE(worst, tolerance * largest) << info.name;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_PARITY_TESTING_H_
