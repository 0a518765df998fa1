#include "worker/agent/notices/machine_facts.h"

#include <cstdlib>
#include <fstream>

#include "absl/strings/ascii.h"

namespace rekindle::agent {
namespace {

// The longest file that is read is the token of a service account, which has about 1 KiB.
constexpr size_t kMostBytes = 16 << 10;

}  // namespace

std::string Machine::Read(const std::string& path) const {
  std::ifstream file(root + path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  absl::StripTrailingAsciiWhitespace(&text);
  return text;
}

Machine ThisMachine() {
  return {.root = "", .environment = [](const std::string& name) {
            const char* value = std::getenv(name.c_str());
            return std::string(value == nullptr ? "" : value);
          }};
}

}  // namespace rekindle::agent
