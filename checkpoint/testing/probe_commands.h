// Runs a program that a test drives. The program reads one JSON command per line from stdin and writes one JSON answer
// per line to stdout. An answer has the command's own fields and `code`, `message` and `seconds`.
#ifndef REKINDLE_CHECKPOINT_TESTING_PROBE_COMMANDS_H_
#define REKINDLE_CHECKPOINT_TESTING_PROBE_COMMANDS_H_

#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "checkpoint/testing/testing.h"
#include "common/time/clock.h"

namespace rekindle::checkpoint {

using Json = nlohmann::json;

// Returns the state that a probe saves for `step`, and with which it compares the state that it loads.
inline TestState StateOf(int step, int64_t elements) {
  return TestState::Random(elements, static_cast<uint64_t>(step));
}

// Runs commands until stdin ends. A command without a field that it needs ends the program.
inline int RunProbe(const std::function<absl::Status(const Json& command, Json& answer)>& run) {
  for (std::string line; std::getline(std::cin, line);) {
    const Json command = Json::parse(line);
    Json answer;
    const double start = common::SteadySeconds();
    const absl::Status status = run(command, answer);
    answer["seconds"] = common::SteadySeconds() - start;
    answer["code"] = absl::StatusCodeToString(status.code());
    answer["message"] = std::string(status.message());
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_PROBE_COMMANDS_H_
