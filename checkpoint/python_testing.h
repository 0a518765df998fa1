// For tests that have a file read by another language: the safetensors format, with Python's standard library alone.
#ifndef REKINDLE_CHECKPOINT_PYTHON_TESTING_H_
#define REKINDLE_CHECKPOINT_PYTHON_TESTING_H_

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

namespace rekindle::checkpoint {

// What `script` prints, which finds the file's path as sys.argv[1], its header as `head` and its tensors' bytes as
// `data`, and has no single quotes. Nothing where python3 is not installed; less than expected where it fails.
inline std::optional<std::string> ReadInPython(const std::string& content, const std::string& script) {
  // The format as its reference reader takes it.
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
  char folder[] = "/tmp/rekindle-format-XXXXXX";
  const std::string path = std::string(::mkdtemp(folder)) + "/file.safetensors";
  std::ofstream(path, std::ios::binary) << content;
  std::string out;
  int code = 0;
  if (FILE* pipe = ::popen(("python3 -c '" + (kReader + script) + "' " + path).c_str(), "r")) {
    char line[64];
    while (::fgets(line, sizeof(line), pipe) != nullptr) out += line;
    code = ::pclose(pipe);
  }
  ::unlink(path.c_str());
  ::rmdir(folder);
  if (WEXITSTATUS(code) == 127) return std::nullopt;
  return out;
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_PYTHON_TESTING_H_
