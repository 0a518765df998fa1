#include "worker/agent/program/interpreter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/log/log.h"
#include "common/process/command.h"
#include "common/text/printable.h"

namespace rekindle::agent {
namespace {

using Version = std::pair<int, int>;

constexpr double kLimitSeconds = 5;
constexpr size_t kMaxBytes = 64 << 10;
constexpr Version kLeastPython{3, 10};
constexpr Version kLeastTorch{2, 4};

// Packages' versions are read from their metadata, because importing PyTorch takes seconds. Only a PyTorch without
// metadata is imported. The line begins with a word of its own, because what the interpreter imports by itself may
// write lines, too.
constexpr char kAnswer[] = "rekindle-interpreter";
constexpr char kProgram[] = R"(
import importlib.metadata as metadata, importlib.util as util, sys
try:
    torch = metadata.version("torch")
except metadata.PackageNotFoundError:
    torch = __import__("torch").__version__ if util.find_spec("torch") else ""
print("\nrekindle-interpreter", sys.version.split()[0], torch, "yes" if util.find_spec("rekindle") else "no", sep="\t")
)";

// Returns the first two numbers of a version such as "2.11.0+cpu", or nothing if it does not begin with two.
std::optional<Version> ParseVersion(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '.');
  Version version;
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &version.first)) return std::nullopt;
  const std::string digits = parts[1].substr(0, parts[1].find_first_not_of("0123456789"));
  if (!absl::SimpleAtoi(digits, &version.second)) return std::nullopt;
  return version;
}

std::string Spell(const Version& version) { return absl::StrCat(version.first, ".", version.second); }

std::string ProblemOf(const v1::Interpreter& found, bool has_package) {
  const std::optional<Version> python = ParseVersion(found.version()), torch = ParseVersion(found.torch());
  if (!python || *python < kLeastPython) {
    return absl::StrCat("is Python ", found.version(), ", and own models need Python ", Spell(kLeastPython),
                        " or newer: name another one by --python");
  }
  if (found.torch().empty()) {
    return absl::StrCat("has no PyTorch: install torch ", Spell(kLeastTorch), " or newer for it");
  }
  if (!torch || *torch < kLeastTorch) {
    return absl::StrCat("has torch ", found.torch(), ", and own models need torch ", Spell(kLeastTorch),
                        " or newer: install it");
  }
  return has_package ? "" : "has no package rekindle: install it, or set PYTHONPATH to its folder for the agent";
}

}  // namespace

v1::Interpreter ReadInterpreter(const std::string& path, const std::string& output) {
  v1::Interpreter found;
  found.set_path(path);
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(output, '\n'))) {
    constexpr size_t kParts = 4, kLongest = 100;
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    if (parts.size() != kParts || parts[0] != kAnswer) continue;
    found.set_version(common::Printable(parts[1], kLongest));
    found.set_torch(common::Printable(parts[2], kLongest));
    found.set_problem(ProblemOf(found, parts[3] == "yes"));
    return found;
  }
  found.set_problem("does not say its version: name a Python by --python");
  return found;
}

v1::Interpreter AskInterpreter(const std::string& path) {
  const absl::StatusOr<std::string> output = common::RunCommand({.argv = {path, "-c", kProgram},
                                                                 .environment = common::OwnEnvironment(),
                                                                 .limit_seconds = kLimitSeconds,
                                                                 .max_bytes = kMaxBytes,
                                                                 .keep_stderr = true});
  v1::Interpreter found;
  if (output.ok()) {
    found = ReadInterpreter(path, *output);
  } else {
    constexpr size_t kLongest = 300;
    found.set_path(path);
    found.set_problem(
        absl::StrCat("does not work: ", common::Printable(std::string(output.status().message()), kLongest)));
  }
  if (found.problem().empty()) {
    log::Info("users' own models run here", {{"python", path}, {"version", found.version()}, {"torch", found.torch()}});
  } else {
    log::Warning("users' own models cannot run here", {{"why", absl::StrCat(path, " ", found.problem())}});
  }
  return found;
}

}  // namespace rekindle::agent
