// Writes what a job of loss_parity_test.py computes on, so that PyTorch can compute the same. `dump_work TEXT STEPS
// OUT` writes the initial weights as float32, then the tokens of each step's batch as bytes.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "worker/data/kinds/token_windows.h"
#include "worker/models/registry/model_registry.h"

namespace {

// The constants must match the job file of loss_parity_test.py, whose text is small and is read as one file.
constexpr uint64_t kSeed = 3;
constexpr int kGlobalBatch = 8, kMicroBatch = 2;
const rekindle::models::ModelSpec kModel = {.kind = "gpt", .layers = 2, .heads = 2, .width = 64, .context = 64};

int Dump(const char* text, int steps, const char* out) {
  std::ifstream input(text, std::ios::binary);
  const std::vector<uint8_t> tokens((std::istreambuf_iterator<char>(input)), {});
  const auto windows = rekindle::data::TokenWindows::Create(tokens, "",
                                                            {.seed = kSeed,
                                                             .context = kModel.context,
                                                             .global_batch = kGlobalBatch,
                                                             .micro_batch = kMicroBatch,
                                                             .validation_fraction = 0.05});
  const auto model = rekindle::models::MakeModel(kModel);
  if (!windows.ok() || !model.ok()) return 1;
  std::vector<float> weights(static_cast<size_t>((*model)->layout().total));
  if (!(*model)->Initialize(kSeed, weights).ok()) return 1;
  std::ofstream file(out, std::ios::binary);
  file.write(reinterpret_cast<const char*>(weights.data()),
             static_cast<std::streamsize>(weights.size() * sizeof(float)));
  for (int step = 0; step < steps; ++step) {
    for (int index = 0; index < kGlobalBatch / kMicroBatch; ++index) {
      for (uint16_t token : windows->TrainMicroBatch(step, index).tokens) file.put(static_cast<char>(token));
    }
  }
  return file.flush() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4) return Dump(argv[1], std::atoi(argv[2]), argv[3]);
  std::fputs("usage: dump_work TEXT STEPS OUT\n", stderr);
  return 2;
}
