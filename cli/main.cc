// rekindle: the user's command.
#include <CLI/CLI.hpp>
#include <ctime>
#include <string>

#include "cli/context.h"
#include "cli/run.h"
#include "cli/verbs.h"
#include "common/release.h"
#include "common/version.h"

namespace {

// The day of the commit. Where that is not known, a manual page is as old as the day on which it was made.
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
