// Runs a fuzz target without libFuzzer: over every file of a corpus, and then over mutants of them from a fixed seed.
// The driver bounds the memory that a run allocates. If a run aborts, its input is in the file whose name was printed
// first.
//
//   TARGET CORPUS-FOLDER
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "checkpoint/testing/fuzz_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace rekindle::checkpoint {
namespace {

// A run of a fuzz target may allocate `kFactor` times the size of its input. JSON needs so much: a value of two bytes
// takes 16 bytes and spare room in the array that contains it, and the parser makes some copies of it.
constexpr size_t kFactor = 512;
constexpr size_t kSlack = 1 << 18;

// Keeps the input of a fuzz target in a file while the target runs. The file stays if the run aborts or allocates too
// much.
class Input {
 public:
  Input()
      : path_(std::filesystem::temp_directory_path() / ("rekindle-fuzz-" + std::to_string(std::random_device()()))) {
    std::printf("input: %s\n", path_.c_str());
    std::fflush(stdout);
  }

  bool Run(const std::string& input) {
    file_.seekp(0);
    file_ << input << std::flush;
    std::filesystem::resize_file(path_, input.size());
    const size_t before = AllocatedBytes();
    LLVMFuzzerTestOneInput(AsBytes(input).data(), input.size());
    const size_t took = AllocatedBytes() - before;
    if (took <= kFactor * input.size() + kSlack) return true;
    std::printf("%zu bytes of input allocate %zu\n", input.size(), took);
    return false;
  }
  void Remove() { std::filesystem::remove(path_); }

 private:
  const std::filesystem::path path_;
  // The file of the input stays open all the time, because some file systems sync at each close, which is slow.
  std::ofstream file_{path_, std::ios::binary};
};

int Run(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) {
    std::printf("%s is empty\n", folder.c_str());
    return 1;
  }
  Input input;
  for (const std::string& text : corpus) {
    if (!input.Run(text)) return 1;
  }
  std::mt19937_64 random(kFuzzSeed);
  for (int i = 0; i < kFuzzIterations; ++i) {
    if (!input.Run(Mutate(corpus[random() % corpus.size()], random))) return 1;
  }
  input.Remove();
  std::printf("%zu inputs of the corpus and %d mutants of them (seed %llu) did no harm\n", corpus.size(),
              kFuzzIterations, static_cast<unsigned long long>(kFuzzSeed));
  return 0;
}

}  // namespace
}  // namespace rekindle::checkpoint

int main(int argc, char** argv) {
  if (argc != 2) {
    std::printf("usage: %s CORPUS-FOLDER\n", argv[0]);
    return 2;
  }
  return rekindle::checkpoint::Run(argv[1]);
}
