// Checks that the models have the same loss, gradients and batch-norm statistics as PyTorch for the same weights and
// samples. The test is skipped where the wheels' Python has no torch.
#include <gtest/gtest.h>

#include "worker/models/testing/parity_testing.h"

namespace rekindle::models {
namespace {

constexpr int kImage = 3 * 32 * 32;

class ModelsParityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PythonHasTorch()) GTEST_SKIP() << "no torch in " << REKINDLE_PYTHON;
  }
};

TEST_F(ModelsParityTest, Mlp) {
  for (int classes : {5, 0}) {
    TestModel test({.kind = "mlp", .layers = 2, .width = 33, .inputs = 7, .classes = classes});
    ExpectParity(test, TestModel::Samples(2, 11, 7, classes),
                 "models_parity.py mlp 2 33 7 " + std::to_string(classes) + " 11");
  }
}

TEST_F(ModelsParityTest, Gpt2) {
  TestModel test({.kind = "gpt2", .layers = 2, .heads = 2, .width = 32, .context = 16, .vocabulary = 300});
  train::MicroBatch batch = test.Batch(3, 3);
  batch.tokens[5] = 299;
  batch.tokens[20] = 256;
  ExpectParity(test, batch, "models_parity.py gpt2 2 2 32 16 300 3");
}

// PyTorch sums over images in another order, so the errors of ResNets are larger. The errors of convolutions are
// largest, because their sums cancel.
TEST_F(ModelsParityTest, Resnet) {
  for (const char* kind : {"resnet18", "resnet50"}) {
    TestModel test({.kind = kind, .width = 8, .classes = 10});
    ExpectParity(test, TestModel::Samples(1, 4, kImage, 10), std::string("models_parity.py ") + kind + " 8 10 4", 2e-3);
  }
}

}  // namespace
}  // namespace rekindle::models
