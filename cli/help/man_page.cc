#include "cli/help/man_page.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/files/file.h"

namespace rekindle::cli {
namespace {

// Escapes text for troff. A dot or an apostrophe at the beginning of a line would be a request to troff.
std::string Escaped(const std::string& text) {
  std::string out = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"~", "\\(ti"}, {"^", "\\(ha"}});
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
  return out;
}

// Formats a paragraph for a manual page, and keeps the line breaks of the paragraph.
std::string Paragraph(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto line : absl::StrSplit(text, '\n')) {
    const std::string stripped(absl::StripAsciiWhitespace(line));
    if (!stripped.empty()) lines.push_back(Escaped(stripped));
  }
  return absl::StrCat(absl::StrJoin(lines, "\n.br\n"), "\n");
}

// Quotes the argument of a troff macro, so that spaces do not end the argument.
std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::StrReplaceAll(Escaped(text), {{"\"", "\\(dq"}}), "\"");
}

std::string Section(const std::string& title) {
  return absl::StrCat(".SH ", Quoted(absl::AsciiStrToUpper(title)), "\n");
}

std::string Tagged(const std::string& head, const std::string& text) {
  return absl::StrCat(".TP\n.B ", Quoted(head), "\n", text.empty() ? "\\&\n" : Paragraph(text));
}

std::string TitleOf(const std::string& group) {
  if (group == "Options") return "Flags";
  return group == "Subcommands" ? "Verbs" : group;
}

std::string Flags(const VerbText& verb) {
  std::string out;
  for (const FlagText& flag : verb.flags) {
    const std::string head(absl::StripLeadingAsciiWhitespace(HeadOf(flag)));
    out += Tagged(head, NotesOf(flag));
  }
  return out;
}

std::string Arguments(const VerbText& verb) {
  std::string out;
  for (const ArgumentText& argument : verb.arguments) out += Tagged(argument.usage, argument.description);
  return out;
}

// Describes a verb below the verb of the page, in one section.
std::string SubVerb(const VerbText& verb) {
  std::string out =
      absl::StrCat(".SS ", Quoted(UsageOf(verb)), "\n", Paragraph(verb.description), Arguments(verb), Flags(verb));
  if (!verb.footer.empty()) absl::StrAppend(&out, ".PP\n", Paragraph(verb.footer));
  return out;
}

std::string SeeAlso(const VerbText& root, const VerbText& verb) {
  if (&root != &verb) return absl::StrCat(".BR ", Escaped(root.name), " (1)\n");
  std::vector<std::string> pages;
  for (const VerbText& child : root.verbs) {
    pages.push_back(absl::StrCat(".BR ", Escaped(absl::StrCat(root.name, "-", child.name)), " (1)"));
  }
  return absl::StrCat(absl::StrJoin(pages, ",\n"), "\n");
}

std::string PageTitle(const VerbText& verb) { return absl::StrReplaceAll(verb.path, {{" ", "-"}}); }

}  // namespace

std::string ManPage(const VerbText& root, const VerbText& verb, const ManFacts& facts) {
  // The first line of a verb's description is its summary.
  const std::string gist = verb.description.substr(0, verb.description.find('\n'));
  std::string out = absl::StrCat(".TH ", Quoted(absl::AsciiStrToUpper(PageTitle(verb))), " 1 \"", facts.date, "\" ",
                                 Quoted("Rekindle " + facts.version), "\n", Section("Name"), Escaped(PageTitle(verb)),
                                 " \\- ", Escaped(gist), "\n", Section("Synopsis"), ".B ", Quoted(UsageOf(verb)), "\n");
  absl::StrAppend(&out, Section("Description"), Paragraph(verb.description));
  if (!verb.arguments.empty()) absl::StrAppend(&out, Section("Arguments"), Arguments(verb));
  if (&root == &verb) {
    for (const VerbGroup& group : GroupsOf(verb.verbs)) {
      out += Section(TitleOf(group.name));
      for (const VerbText* child : group.verbs) out += Tagged(child->name, child->description);
    }
  } else if (!verb.verbs.empty()) {
    out += Section("Verbs");
    for (const VerbText& child : verb.verbs) out += SubVerb(child);
  }
  absl::StrAppend(&out, Section("Flags"), Flags(verb));
  if (!verb.footer.empty()) absl::StrAppend(&out, Section("Notes"), Paragraph(verb.footer));
  absl::StrAppend(&out, Section("See also"), SeeAlso(root, verb));
  return out;
}

std::string ManPageName(const VerbText& verb) { return PageTitle(verb) + ".1"; }

absl::Status WriteManPages(const VerbText& root, const ManFacts& facts, const std::string& folder) {
  const auto write = [&](const VerbText& verb) {
    return common::WriteFileAtomic(*common::PosixFileSystem(), absl::StrCat(folder, "/", ManPageName(verb)),
                                   ManPage(root, verb, facts));
  };
  absl::Status status = write(root);
  for (size_t i = 0; status.ok() && i < root.verbs.size(); ++i) status = write(root.verbs[i]);
  return status;
}

}  // namespace rekindle::cli
