#include "cli/help/help_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rekindle::cli {
namespace {

constexpr size_t kColumns = 80;
// A head, such as the names of a flag, that is longer than `kWidestHead` is on a line of its own.
constexpr size_t kWidestHead = 26;

struct Row {
  std::string head;
  std::string text;
};

// Returns one section of a help text as two columns: the heads of the rows, and the texts, which are wrapped beside
// them.
std::string Rows(const std::string& title, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  size_t widest = 0;
  for (const Row& row : rows) {
    if (row.head.size() <= kWidestHead) widest = std::max(widest, row.head.size());
  }
  const size_t indent = widest + 4;
  std::string out = absl::StrCat("\n", title, ":\n");
  for (const Row& row : rows) {
    absl::StrAppend(&out, "  ", row.head);
    if (!row.text.empty()) {
      const bool beside = row.head.size() <= widest;
      absl::StrAppend(&out, beside ? std::string(widest - row.head.size() + 2, ' ') : "\n" + std::string(indent, ' '),
                      Wrapped(row.text, kColumns, indent));
    }
    out += "\n";
  }
  return out;
}

// Replaces the names that CLI11 gives to the group of flags and to that of verbs.
std::string TitleOf(const std::string& group) {
  if (group == "Options") return "Flags";
  return group == "Subcommands" ? "Verbs" : group;
}

std::string FlagsOf(const VerbText& verb) {
  std::string out;
  for (const FlagGroup& group : GroupsOf(verb.flags)) {
    std::vector<Row> rows;
    for (const FlagText* flag : group.flags) rows.push_back({HeadOf(*flag), NotesOf(*flag)});
    out += Rows(TitleOf(group.name), rows);
  }
  return out;
}

std::string VerbsOf(const VerbText& verb) {
  std::string out;
  for (const VerbGroup& group : GroupsOf(verb.verbs)) {
    std::vector<Row> rows;
    for (const VerbText* child : group.verbs) rows.push_back({child->name, child->description});
    out += Rows(TitleOf(group.name), rows);
  }
  return out;
}

}  // namespace

std::string Wrapped(const std::string& text, size_t width, size_t indent) {
  std::string out;
  for (const auto line : absl::StrSplit(text, '\n')) {
    if (!out.empty()) absl::StrAppend(&out, "\n", std::string(indent, ' '));
    size_t at = indent;
    bool first = true;
    for (const auto word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
      if (!first && at + 1 + word.size() > width) {
        absl::StrAppend(&out, "\n", std::string(indent, ' '));
        at = indent;
      } else if (!first) {
        out += ' ';
        ++at;
      }
      absl::StrAppend(&out, word);
      at += word.size();
      first = false;
    }
  }
  return out;
}

std::string HelpText(const VerbText& verb) {
  std::string out = Wrapped(verb.description, kColumns, 0);
  absl::StrAppend(&out, "\n\nUsage: ", Wrapped(UsageOf(verb), kColumns, 7), "\n");
  std::vector<Row> arguments;
  for (const ArgumentText& argument : verb.arguments) arguments.push_back({argument.usage, argument.description});
  out += Rows("Arguments", arguments);
  out += VerbsOf(verb);
  out += FlagsOf(verb);
  if (!verb.footer.empty()) absl::StrAppend(&out, "\n", Wrapped(verb.footer, kColumns, 0), "\n");
  if (verb.path != verb.name) {
    absl::StrAppend(&out, "\nFlags of every verb, as --endpoint and --output: see `rekindle help`.\n");
  }
  return out;
}

void UseHelpText(CLI::App& app) {
  app.formatter_fn([](const CLI::App* verb, std::string, CLI::AppFormatMode) { return HelpText(Describe(*verb)); });
}

}  // namespace rekindle::cli
