// Compares a model's loss and gradients with those of PyTorch. A Python program gets the same weights and the same
// micro-batch as the model.
#ifndef REKINDLE_WORKER_MODELS_TESTING_PARITY_TESTING_H_
#define REKINDLE_WORKER_MODELS_TESTING_PARITY_TESTING_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "common/testing/temporary_folder_testing.h"
#include "worker/models/testing/test_model.h"

namespace rekindle::models {

// Returns whether the wheels' Python has torch. Tests of parity with PyTorch are skipped without it.
inline bool PythonHasTorch() {
  return std::system((std::string(REKINDLE_PYTHON) + " -c 'import torch, numpy' 2>/dev/null").c_str()) == 0;
}

// Runs the Python program `command` and compares its results with those of the model. `command` names the program and
// its arguments about the model, and gets two more, IN and OUT. IN holds all weights and buffers as float32, then the
// micro-batch's tokens (16 bits), features and targets (float32), each if there are any. OUT holds the summed loss as
// float64, then all gradients, and for buffers the statistics, as float32. Errors are measured against the largest
// gradient of the parameter.
inline void ExpectParity(TestModel& test, const train::MicroBatch& batch, const std::string& command,
                         double tolerance = 1e-4) {
  const common::TemporaryFolder temporary;
  const std::string& folder = temporary.path();
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
      std::string(REKINDLE_PYTHON) + " worker/models/kinds/" + command + " " + folder + "/in " + folder + "/out";
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
}

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_TESTING_PARITY_TESTING_H_
