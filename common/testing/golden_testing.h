// Runs golden scenarios for tests. A golden scenario is a text file of commands, each followed by indented lines that
// say what was decided. Only tests include this file. REKINDLE_UPDATE_GOLDEN=1 writes the files again, and the
// difference must be read before it is committed.
#ifndef REKINDLE_COMMON_TESTING_GOLDEN_TESTING_H_
#define REKINDLE_COMMON_TESTING_GOLDEN_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace rekindle::common {

inline std::vector<std::filesystem::path> GoldenFiles(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Runs the commands of the golden file at `path`, and compares the output with that in the file. `run` answers each
// command with lines, and an unknown one with "error: no ...".
inline void CheckGolden(const std::filesystem::path& path,
                        const std::function<std::vector<std::string>(const std::string&)>& run) {
  // Lines of output are indented in a golden file, and commands are not.
  constexpr char kMark[] = "    ";
  std::stringstream text, in, played;
  text << std::ifstream(path).rdbuf();
  in << text.str();
  EXPECT_FALSE(text.str().empty()) << path << " tells nothing";
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind(kMark, 0) == 0) continue;
    played << line << "\n";
    if (line.empty() || line[0] == '#') continue;
    for (const std::string& said : run(line)) played << kMark << said << "\n";
  }
  EXPECT_EQ(played.str().find("error: no "), std::string::npos) << "a command is misspelt in " << path;
  if (std::getenv("REKINDLE_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path) << played.str();
  else
    EXPECT_EQ(played.str(), text.str()) << "run again with REKINDLE_UPDATE_GOLDEN=1 and read the difference";
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TESTING_GOLDEN_TESTING_H_
