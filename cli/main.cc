// rekindle: the user's command.
#include <CLI/CLI.hpp>

#include "cli/context.h"
#include "common/version.h"

int main(int argc, char** argv) {
  using namespace rekindle;
  cli::Context context;
  CLI::App app(
      "rekindle: trains models on machines that may vanish.\n"
      "Start with `rekindle up`, then `rekindle submit JOB.yaml --wait`.");
  app.set_version_flag("--version", common::kVersion);
  app.require_subcommand(1);
  app.add_option("--endpoint", context.endpoint, "host:port of the coordinator")
      ->envname("REKINDLE_ENDPOINT")
      ->capture_default_str();
  app.add_option("-o,--output", context.output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.footer("Exit codes: 0 ok, 1 failed, 2 wrong use, 3 coordinator unreachable.");
  cli::AddUpVerb(app, context);
  cli::AddJobVerbs(app, context);
  cli::AddCostVerbs(app, context);
  cli::AddWatchVerb(app, context);
  cli::AddStreamVerbs(app, context);
  cli::AddNodeVerbs(app, context);
  cli::AddMarketVerb(app, context);
  cli::AddCheckpointVerbs(app, context);
  cli::AddBackupVerbs(app, context);
  cli::AddRecoverVerb(app, context);
  cli::AddSimulateVerb(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::kOk : cli::kWrongUse;
  }
  return context.exit_code;
}
