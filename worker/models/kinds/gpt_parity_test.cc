// Checks that a GPT has the same loss and gradients as PyTorch for the same weights and text. The test is skipped where
// the wheels' Python has no torch.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "worker/models/testing/parity_testing.h"

namespace rekindle::models {
namespace {

void ExpectGptParity(const ModelSpec& spec, int sequences, float scale) {
  TestModel test(spec);
  for (float& w : test.weights()) w *= scale;
  std::string command = "gpt_parity.py";
  for (int number : {spec.layers, spec.heads, spec.width, spec.context, sequences})
    absl::StrAppend(&command, " ", number);
  ExpectParity(test, test.Batch(3, sequences), command);
}

TEST(GptParityTest, LossAndGradientsArePyTorchs) {
  if (!PythonHasTorch()) GTEST_SKIP() << "no torch in " << REKINDLE_PYTHON;
  ExpectGptParity(SmallSpec(), 3, 3);
  ExpectGptParity({.kind = "gpt", .layers = 4, .heads = 4, .width = 128, .context = 128}, 4, 1);
}

}  // namespace
}  // namespace rekindle::models
