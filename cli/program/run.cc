#include "cli/program/run.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cli/help/completion.h"
#include "cli/help/live_names.h"
#include "cli/help/usage_error.h"

namespace rekindle::cli {
namespace {

// Returns whether the words of the command line ask for JSON. Errors of parsing must be JSON too, and nothing has been
// parsed when they occur.
bool AsksForJson(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-ojson" || words[i] == "--output=json") return true;
    const bool flag = words[i] == "-o" || words[i] == "--output";
    if (flag && i + 1 < words.size() && words[i + 1] == "json") return true;
  }
  return false;
}

int WrongUse(const CLI::App& app, const CLI::ParseError& error, const Context& context) {
  const UsageError wrong = DescribeUsageError(app, error);
  const std::string path = PathOf(*wrong.verb);
  const bool general = wrong.verb == &app || wrong.verb->get_name() == "help";
  const std::string help = "`rekindle help" + (general ? "" : path.substr(path.find(' '))) + "`";
  if (!wrong.message.empty()) {
    context.PrintError(kWrongUseCode, wrong.message + (context.json() ? "; see " : "\nsee ") + help);
  } else if (context.json()) {
    context.PrintError(kWrongUseCode, "a verb is missing; see " + help);
  } else {
    // If a script's command line lacks the verb, the script must not take the help for an answer. So the help goes to
    // stderr.
    std::cerr << wrong.verb->help();
  }
  return kWrongUse;
}

int Parse(CLI::App& app, Context& context, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return context.exit_code;
  } catch (const CLI::Success& asked) {
    // CLI11 reports by an exception that the user asked for help or for the version.
    app.exit(asked);
    return kOk;
  } catch (const CLI::ParseError& error) {
    return WrongUse(app, error, context);
  } catch (const std::filesystem::filesystem_error& error) {
    // std::filesystem throws an error for a relative path if the command's current folder has been removed.
    context.PrintError("FAILED_PRECONDITION",
                       std::string(error.what()) + ": is the current folder still there? Change to another");
    return kFailed;
  }
}

int Flushed(const Context& context, int code) {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  const std::string why = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
  context.PrintError("DATA_LOSS", "the output could not be written" + why);
  return code == kOk ? kFailed : code;
}

}  // namespace

int Run(CLI::App& app, Context& context, int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words[0] == "__complete") {
    const std::vector<std::string> asked(words.begin() + 1, words.end());
    std::cout << ToLines(Complete(Describe(app), asked, LiveNames));
    return Flushed(context, kOk);
  }
  if (AsksForJson(words)) context.output = "json";
  return Flushed(context, Parse(app, context, argc, argv));
}

}  // namespace rekindle::cli
