#include "cli/help/usage_error.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/text/safe_text.h"
#include "common/text/nearest.h"

namespace rekindle::cli {
namespace {

// Returns the verb that the words of the command line have named so far.
const CLI::App& VerbOf(const CLI::App& app) {
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().back();
  return *verb;
}

std::string DidYouMean(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = common::Nearest(name, known);
  return nearest.empty() ? "" : absl::StrCat("; did you mean `", nearest, "`?");
}

// Returns the flags of the verb, including those that every verb takes.
std::vector<std::string> FlagsOf(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::App* at = &verb; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      if (option->get_group().empty()) continue;
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

bool TakesArguments(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_positional()) return true;
  }
  return false;
}

std::string DescribeLeftover(const CLI::App& verb, const std::string& word) {
  const std::string shown = Printable(word.substr(0, word.find('=')));
  if (absl::StartsWith(word, "-") && word.size() > 1) {
    return absl::StrCat("`", PathOf(verb), "` has no flag ", shown, DidYouMean(shown, FlagsOf(verb)));
  }
  if (!verb.get_subcommands({}).empty() && !TakesArguments(verb)) return NoSuchVerb(verb, word);
  return absl::StrCat("`", PathOf(verb), "` takes no ", TakesArguments(verb) ? "further argument" : "argument", ": '",
                      Printable(word), "'");
}

}  // namespace

std::string PathOf(const CLI::App& verb) {
  const CLI::App* parent = verb.get_parent();
  return parent == nullptr ? verb.get_name() : absl::StrCat(PathOf(*parent), " ", verb.get_name());
}

std::string NoSuchVerb(const CLI::App& verb, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* child : verb.get_subcommands({})) {
    if (!child->get_group().empty()) known.push_back(child->get_name());
  }
  return absl::StrCat("`", PathOf(verb), "` has no verb '", Printable(name), "'", DidYouMean(name, known));
}

UsageError DescribeUsageError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = VerbOf(app);
  // A word that no verb takes is reported first, and not what is missing on the command line, because the user probably
  // meant this word to be the missing part.
  for (const std::string& word : app.remaining(/*recurse=*/true)) {
    if (word != "--") return {DescribeLeftover(verb, word), &verb};
  }
  const bool lacks_verb = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                          verb.get_require_subcommand_min() > 0 && verb.get_subcommands().empty();
  return {lacks_verb ? "" : error.what(), &verb};
}

}  // namespace rekindle::cli
