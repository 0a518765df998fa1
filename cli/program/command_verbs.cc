#include "cli/program/command_verbs.h"

#include <array>

#include "cli/help/help_text.h"
#include "cli/help/help_verbs.h"
#include "common/spec/flag_values.h"

namespace rekindle::cli {
namespace {

struct Group {
  const char* name;
  std::array<const char*, 9> verbs;
};
// The groups of verbs are in the order in which `rekindle --help` shows them.
constexpr Group kGroups[] = {
    {"Start", {"up", "submit", "validate", "simulate", "synthetic-trace"}},
    {"Jobs", {"jobs", "get", "watch", "events", "logs", "pause", "resume", "cancel", "rm"}},
    {"Money", {"cost", "savings", "market"}},
    {"Nodes", {"nodes", "drain", "undrain"}},
    {"State", {"checkpoint", "backup", "restore", "recover", "adopt"}},
    {"The command itself", {"help", "context", "completion"}},
};

}  // namespace

void AddVerbs(CLI::App& app, Context& context, const std::string& version_line, const ManFacts& facts) {
  app.name("rekindle");
  app.description(
      "Trains models on machines that may vanish.\n"
      "Start with `rekindle up`, then `rekindle submit JOB.yaml --wait`.");
  // The help text is set before any verb is added, because verbs inherit it.
  UseHelpText(app);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  AddUpVerb(app, context);
  AddJobVerbs(app, context);
  AddPauseVerb(app, context);
  AddListVerbs(app, context);
  AddCostVerbs(app, context);
  AddWatchVerb(app, context);
  AddStreamVerbs(app, context);
  AddNodeVerbs(app, context);
  AddMarketVerb(app, context);
  AddCheckpointVerbs(app, context);
  AddBackupVerbs(app, context);
  AddRecoverVerb(app, context);
  AddSimulateVerb(app, context);
  AddContextVerbs(app, context);
  AddHelpVerbs(app, context, facts);
  for (const Group& group : kGroups) {
    for (const char* verb : group.verbs) {
      if (verb != nullptr) app.get_subcommand(verb)->group(group.name);
    }
  }
  // The flags and the footer of the command are added after the verbs, because verbs would inherit some of them.
  app.set_version_flag("--version", version_line, "Print version, commit and protocol, and exit");
  app.footer(
      "Exit codes: 0 ok, 1 failed, 2 wrong use, 3 coordinator unreachable. With -o json errors are JSON, too:\n"
      "{\"error\": {\"code\": \"NOT_FOUND\", \"message\": \"...\"}} on stderr.");
  AddConnectionFlags(app, &context.flags);
  app.add_option("-o,--output", context.output, "wide: text that is not cut to the terminal")
      ->check(common::OneOf({"text", "wide", "json"}))
      ->capture_default_str()
      ->group("Flags of every verb");
}

}  // namespace rekindle::cli
