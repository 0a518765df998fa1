// Plays every scenario of testdata/*.txt and compares what the cluster decides with what is written there. After each
// command, no job's status may say what is not true.
#include "common/testing/golden_testing.h"
#include "coordinator/core/scenario/scenario.h"

namespace rekindle::core {
namespace {

class Golden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, DecidesAsWritten) {
  Scenario scenario;
  common::CheckGolden(GetParam(), [&](const std::string& line) {
    const std::vector<std::string> said = scenario.Run(line);
    for (const std::string& untruth : scenario.Untruths()) ADD_FAILURE() << "after `" << line << "`: " << untruth;
    return said;
  });
}

INSTANTIATE_TEST_SUITE_P(Testdata, Golden, testing::ValuesIn(common::GoldenFiles("coordinator/core/scenario/testdata")),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace rekindle::core
