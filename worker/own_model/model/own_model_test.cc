// Tests the user's own model with real model processes. They need a Python with torch, which REKINDLE_PYTHON names.
#include "worker/own_model/model/own_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "common/process/command.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::own_model {
namespace {

using testing::HasSubstr;

constexpr char kTasks[] = "tests/python/tasks";

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
    model_->Initialize(7, weights_);
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
    EXPECT_THAT(notes_, HasSubstr("replacing the model process"));
    // It ends when it has delivered a part of the gradients. They are not delivered again.
    Compute(0);
    ExpectEqual(wanted, Compute(1, 0, [&] { Signal(signal); }));
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

TEST_F(OwnModelTest, AnExceptionThatComesAgainIsTheJobsFault) {
  Open("failing:raises_on_two");
  const pid_t before = model_->process().pid;
  const Outcome outcome = Compute(0, 0, nullptr, 2);
  EXPECT_TRUE(absl::IsInvalidArgument(outcome.loss.status())) << outcome.loss.status();
  EXPECT_THAT(std::string(outcome.loss.status().message()), HasSubstr("failing.py"));
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
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("refused.py"));
  parts_.process.interpreter = "/bin/false";
  EXPECT_TRUE(absl::IsUnavailable(OwnModel::Create(parts_).status()));
}

TEST_F(OwnModelTest, ATrainerThatHasToEndDoesNotWait) {
  Open("failing:slow");
  parts_.go_on = [] { return false; };
  EXPECT_TRUE(absl::IsCancelled(OwnModel::Create(parts_).status()));
}

}  // namespace
}  // namespace rekindle::own_model
