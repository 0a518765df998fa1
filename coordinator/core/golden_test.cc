// Plays every testdata/*.txt and compares what was decided with what is written there.
// REKINDLE_UPDATE_GOLDEN=1 writes the files anew: read the difference before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "coordinator/core/scenario.h"

namespace rekindle::core {
namespace {

namespace fs = std::filesystem;

const char kFolder[] = "coordinator/core/testdata";
constexpr char kMark[] = "    ";  // Output lines are indented.

std::vector<fs::path> Files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The file as it should be: commands and comments kept, outputs played.
std::string Play(const std::string& text) {
  Scenario scenario;
  std::stringstream in(text), out;
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind(kMark, 0) == 0) continue;
    out << line << "\n";
    if (line.empty() || line[0] == '#') continue;
    for (const std::string& said : scenario.Run(line)) out << kMark << said << "\n";
  }
  return out.str();
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, DecidesAsWritten) {
  const std::string text = Read(GetParam());
  const std::string played = Play(text);
  EXPECT_EQ(played.find("error: no "), std::string::npos) << "a command is misspelt in " << GetParam();
  if (std::getenv("REKINDLE_UPDATE_GOLDEN") != nullptr)
    std::ofstream(GetParam()) << played;
  else
    EXPECT_EQ(played, text) << "run again with REKINDLE_UPDATE_GOLDEN=1 and read the difference";
}

INSTANTIATE_TEST_SUITE_P(Testdata, Golden, testing::ValuesIn(Files()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace rekindle::core
