// This program is the user's command `rekindle`.
#include <CLI/CLI.hpp>
#include <ctime>
#include <string>

#include "cli/program/command_verbs.h"
#include "cli/program/run.h"
#include "cli/shared/context.h"
#include "common/agreed/release.h"
#include "common/agreed/version.h"

namespace {

// Returns the day of the commit that the program was built from. If it is not known, a manual page has the day on which
// it was made.
std::string Date() {
  if (rekindle::common::kCommitDate[0] != '\0') return rekindle::common::kCommitDate;
  const time_t now = time(nullptr);
  tm parts = {};
  gmtime_r(&now, &parts);
  char text[16];
  strftime(text, sizeof(text), "%Y-%m-%d", &parts);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rekindle;
  cli::Context context;
  CLI::App app;
  cli::AddVerbs(app, context, common::VersionLine("rekindle"), {.version = common::kVersion, .date = Date()});
  return cli::Run(app, context, argc, argv);
}
