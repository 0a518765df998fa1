// Helps tests that let another language read a safetensors file: Python reads it with its standard library alone.
#ifndef REKINDLE_CHECKPOINT_TESTING_PYTHON_TESTING_H_
#define REKINDLE_CHECKPOINT_TESTING_PYTHON_TESTING_H_

#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::checkpoint {

// Returns what the Python program `script` prints. The script finds the file's path as sys.argv[1], its header as
// `head` and its tensors' bytes as `data`. `script` must have no single quotes. Returns nothing if python3 is not
// installed. If the script fails, the result is shorter than expected.
inline std::optional<std::string> ReadInPython(const std::string& content, const std::string& script) {
  // The Python code makes the same checks of the format as the reference reader of safetensors does.
  static constexpr char kReader[] = R"(
import json, struct, sys
raw = open(sys.argv[1], "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
head = json.loads(raw[8:8 + n])
data = raw[8 + n:]
spans = sorted(v["data_offsets"] for k, v in head.items() if k != "__metadata__")
assert raw[8:9] == b"{" and spans[0][0] == 0 and spans[-1][1] == len(data)
assert all(a[1] == b[0] for a, b in zip(spans, spans[1:]))
)";
  const common::TemporaryFolder folder;
  const std::string path = folder.path() + "/file.safetensors";
  std::ofstream(path, std::ios::binary) << content;
  std::string out;
  int code = 0;
  if (FILE* pipe = ::popen(("python3 -c '" + (kReader + script) + "' " + path).c_str(), "r")) {
    char line[64];
    while (::fgets(line, sizeof(line), pipe) != nullptr) out += line;
    code = ::pclose(pipe);
  }
  if (WEXITSTATUS(code) == 127) return std::nullopt;
  return out;
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_PYTHON_TESTING_H_
