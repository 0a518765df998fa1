// A fixture for tests of the user's own model with real model processes. They need a Python with torch, which
// REKINDLE_PYTHON names.
#ifndef REKINDLE_WORKER_OWN_MODEL_TESTING_OWN_MODEL_TESTING_H_
#define REKINDLE_WORKER_OWN_MODEL_TESTING_OWN_MODEL_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/process/command.h"
#include "common/process/process.h"
#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"
#include "worker/own_model/model/own_model.h"

namespace rekindle::own_model {

inline constexpr char kTasks[] = "tests/python/tasks";

// Holds what a micro-batch has given.
struct Outcome {
  absl::StatusOr<train::LossSum> loss = train::LossSum{};
  std::vector<float> gradients;
  // `deliveries` counts for each parameter the calls of the sink.
  std::vector<int> deliveries;
};

class OwnModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* python = std::getenv("REKINDLE_PYTHON");
    if (python == nullptr || !std::filesystem::exists(python))
      GTEST_SKIP() << "no Python with torch: set REKINDLE_PYTHON";
    parts_.process.interpreter = python;
    const std::string root = std::filesystem::current_path().string();
    parts_.process.folder = root + "/" + kTasks;
    parts_.process.faults_file = folder_.path() + "/faults";
    parts_.process.seed = 7;
    for (const std::string& entry : common::OwnEnvironment()) parts_.process.environment.push_back(entry);
    parts_.process.environment.push_back("PYTHONPATH=" + root + "/python");
    parts_.process.environment.push_back("PYTHONHASHSEED=0");
    parts_.process.environment.push_back("TEST_SCRATCH=" + folder_.path());
    parts_.weights = &shares_;
    parts_.go_on = [] { return true; };
    parts_.note = [this](const std::string& text) { notes_ += text + "\n"; };
  }
  void Open(const std::string& task) {
    parts_.process.task = task;
    auto model = OwnModel::Create(parts_);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    const auto memory = shares_.Make(static_cast<size_t>(model_->layout().total) * sizeof(float), "the weights");
    ASSERT_TRUE(memory.ok()) << memory.status();
    weights_ = {static_cast<float*>(*memory), static_cast<size_t>(model_->layout().total)};
    ASSERT_TRUE(model_->Initialize(7, weights_).ok());
    model_->BindWeights(weights_.data());
  }
  Outcome Compute(int index = 0, int64_t step = 0, const std::function<void()>& at_first = nullptr, int samples = 4) {
    Outcome outcome;
    outcome.gradients.resize(weights_.size());
    outcome.deliveries.resize(model_->layout().parameters.size());
    bool is_first = true;
    const auto sink = [&](int parameter, std::span<const float> gradient) {
      const train::ParameterInfo& info = model_->layout().parameters[static_cast<size_t>(parameter)];
      ASSERT_EQ(static_cast<int64_t>(gradient.size()), info.size);
      std::copy(gradient.begin(), gradient.end(), outcome.gradients.begin() + info.offset);
      ++outcome.deliveries[static_cast<size_t>(parameter)];
      if (std::exchange(is_first, false) && at_first) at_first();
    };
    train::MicroBatch batch{
        .index = index, .samples = std::vector<int64_t>(static_cast<size_t>(samples)), .first = 4 * index};
    std::iota(batch.samples.begin(), batch.samples.end(), 4 * index);
    outcome.loss = model_->Backward(batch, {.seed = 7, .step = step}, 1, sink);
    return outcome;
  }
  // Returns the content of a file that a task has written.
  std::string Written(const char* name) const {
    std::ifstream file(folder_.path() + "/" + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  // Waits until `holds` returns true, and returns whether it does in time.
  static bool Await(const std::function<bool()>& holds) {
    constexpr double kPatience = 30, kPause = 0.02;
    const double until = common::SteadySeconds() + kPatience;
    while (!holds()) {
      if (common::SteadySeconds() > until) return false;
      common::SleepSeconds(kPause);
    }
    return true;
  }
  // Returns how many processes the model process has started.
  int Children() const {
    int count = 0;
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(model_->process().pid) + "/task")) {
      std::ifstream file(thread.path() / "children");
      for (std::string pid; file >> pid;) ++count;
    }
    return count;
  }
  // Returns the number of the file in memory into which the model process writes gradients.
  std::string SlotsOfProcess() const {
    std::ifstream file("/proc/" + std::to_string(model_->process().pid) + "/maps");
    for (std::string line; std::getline(file, line);) {
      if (line.find("rekindle-gradients") == std::string::npos) continue;
      std::istringstream fields(line);
      std::string place, access, offset, device, inode;
      fields >> place >> access >> offset >> device >> inode;
      return inode;
    }
    return "";
  }
  void Signal(int signal) { ASSERT_TRUE(model_->process().SendSignal(signal).ok()); }
  static void ExpectEqual(const Outcome& one, const Outcome& other) {
    ASSERT_TRUE(one.loss.ok()) << one.loss.status();
    ASSERT_TRUE(other.loss.ok()) << other.loss.status();
    EXPECT_EQ(one.loss->sum, other.loss->sum);
    EXPECT_EQ(one.loss->count, other.loss->count);
    EXPECT_EQ(std::memcmp(one.gradients.data(), other.gradients.data(), one.gradients.size() * sizeof(float)), 0);
    EXPECT_EQ(other.deliveries, one.deliveries);
  }

  const common::TemporaryFolder folder_;
  device::SharedMemories shares_;
  OwnModelParts parts_;
  std::string notes_;
  std::unique_ptr<OwnModel> model_;
  std::span<float> weights_;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_TESTING_OWN_MODEL_TESTING_H_
