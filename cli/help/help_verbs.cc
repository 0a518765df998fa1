#include "cli/help/help_verbs.h"

#include <iostream>
#include <memory>

#include "cli/help/completion.h"
#include "cli/help/help_text.h"
#include "cli/help/usage_error.h"
#include "cli/help/verb_text.h"
#include "common/spec/flag_values.h"

namespace rekindle::cli {
namespace {

struct HelpFlags {
  std::vector<std::string> verb;
  bool man = false;
  std::string man_pages;
};

// Finds the verb at `path`. Throws CLI::ValidationError (wrong use) if there is no such verb.
const VerbText& Find(const CLI::App& app, const VerbText& root, const std::vector<std::string>& path) {
  const CLI::App* at = &app;
  for (const std::string& name : path) {
    const auto found = at->get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; });
    if (found.empty()) throw CLI::ValidationError(NoSuchVerb(*at, name));
    at = found.front();
  }
  return *FindVerb(root, path);
}

absl::Status Help(const CLI::App& app, const HelpFlags& flags, const ManFacts& facts) {
  const VerbText root = Describe(app);
  if (!flags.man_pages.empty()) return WriteManPages(root, facts, flags.man_pages);
  const VerbText& verb = Find(app, root, flags.verb);
  std::cout << (flags.man ? ManPage(root, verb, facts) : HelpText(verb));
  return absl::OkStatus();
}

}  // namespace

void AddHelpVerbs(CLI::App& app, Context& context, const ManFacts& facts) {
  auto flags = std::make_shared<HelpFlags>();
  CLI::App* help = app.add_subcommand("help", "What a verb does, and its flags");
  help->add_option("VERB", flags->verb, "As `submit` or `checkpoint ls`; without it: all verbs");
  help->add_flag("--man", flags->man, "As a manual page: rekindle help --man submit | man -l -");
  help->add_option("--man-pages", flags->man_pages, "Write the manual pages of all verbs into this folder")
      ->type_name("DIR");
  context.OnRun(help, [&app, flags, facts] { return Help(app, *flags, facts); });

  auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand("completion", "Print what makes a shell complete the command line");
  completion->footer(
      "For this session: source <(rekindle completion bash), and the same for zsh; in fish: rekindle completion fish | "
      "source. `scripts/bootstrap --install` puts them where the shells look.");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(common::OneOf({"bash", "zsh", "fish"}));
  context.OnRun(completion, [shell]() -> absl::Status {
    std::cout << CompletionScript(*shell);
    return absl::OkStatus();
  });
}

}  // namespace rekindle::cli
