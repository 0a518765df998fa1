// Prints what the trainer's own model answers to the first bytes of TEXT, with the weights of the job's newest
// checkpoint. `trainer_logits STORE UID TEXT LAYERS HEADS WIDTH CONTEXT` does so for 1 byte, half a context and a
// context. It prints a line of 256 numbers for each, which are the logits except for a constant. The model returns only
// losses. The loss of a target is the negative of its logit except for a constant.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "checkpoint/testing/testing.h"
#include "worker/models/registry/model_registry.h"

namespace {

constexpr int kVocabulary = 256;

bool Print(rekindle::train::Model& model, const std::string& text, int length) {
  rekindle::train::MicroBatch batch{.sequences = 1, .context = length};
  batch.tokens.assign(text.begin(), text.begin() + length + 1);
  for (uint16_t& token : batch.tokens) token &= 0xff;
  for (int target = 0; target < kVocabulary; ++target) {
    batch.tokens.back() = static_cast<uint16_t>(target);
    const auto loss = model.Evaluate(batch);
    if (!loss.ok()) return false;
    std::printf("%.9g%c", -loss->sum, target + 1 < kVocabulary ? ' ' : '\n');
  }
  return true;
}

int Run(char** argv) {
  rekindle::checkpoint::Store store(*rekindle::common::PosixFileSystem(), argv[1]);
  const auto newest = store.FindNewest(argv[2]);
  const int context = std::atoi(argv[7]);
  const auto model = rekindle::models::MakeModel({.kind = "gpt",
                                                  .layers = std::atoi(argv[4]),
                                                  .heads = std::atoi(argv[5]),
                                                  .width = std::atoi(argv[6]),
                                                  .context = context});
  if (!newest.ok() || !newest->found || !model.ok()) return 1;
  auto state = rekindle::checkpoint::Load(store, newest->manifest, (*model)->layout().total);
  if (!state.ok()) return 1;
  (*model)->BindWeights(state->weights.data());
  std::ifstream file(argv[3], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  for (int length : {1, context / 2, context}) {
    if (!Print(**model, text, length)) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 8) return Run(argv);
  std::fputs("usage: trainer_logits STORE UID TEXT LAYERS HEADS WIDTH CONTEXT\n", stderr);
  return 2;
}
