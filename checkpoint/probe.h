// A program that a test drives: a JSON command a line on stdin, a JSON answer a line on stdout, which has the command's
// own fields and code, message, seconds.
#ifndef REKINDLE_CHECKPOINT_PROBE_H_
#define REKINDLE_CHECKPOINT_PROBE_H_

#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "checkpoint/testing.h"
#include "common/clock.h"

namespace rekindle::checkpoint {

using Json = nlohmann::json;

// What a probe saves as `step`, and compares with what it loads.
inline TestState StateOf(int step, int64_t elements) {
  return TestState::Random(elements, static_cast<uint64_t>(step));
}

// Until stdin ends. A command without a field that it needs ends the program.
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

#endif  // REKINDLE_CHECKPOINT_PROBE_H_
