#include "cli/help/verb_text.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace rekindle::cli {
namespace {

// The choices of a flag, joined by "|", are shown as its value if they are at most `kLongestValue` long. Otherwise they
// are shown behind its description.
constexpr size_t kLongestValue = 24;

bool IsRepeated(const CLI::Option& option) {
  return option.get_expected_max() == CLI::detail::expected_max_vector_size;
}

// Returns the name of an option's value. CLI11 joins the names that the type and each check give to the value:
// "TEXT:{text,json}". The last one is returned, because it is the most specific.
std::string ValueType(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  // A list of choices is what follows ":{". The last colon may be inside of the list, because choices may contain
  // colons.
  const size_t brace = type.find(":{");
  if (brace != std::string::npos) return type.substr(brace + 1);
  const std::string last = type.substr(type.rfind(':') + 1);
  if (last == "INT" || last == "UINT") return "N";
  return last == "FLOAT" ? "NUMBER" : last;
}

std::vector<std::string> ChoicesOf(const std::string& type) {
  if (type.size() < 2 || type.front() != '{' || type.back() != '}') return {};
  return absl::StrSplit(type.substr(1, type.size() - 2), ',');
}

std::string NamesOf(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  // The names of the options are sorted, because CLI11's set has them in the order of their addresses.
  std::sort(names.begin(), names.end());
  return absl::StrJoin(names, ", ");
}

FlagText DescribeFlag(const CLI::Option& option) {
  FlagText flag{.description = option.get_description(),
                .needs = NamesOf(option.get_needs()),
                .excludes = NamesOf(option.get_excludes()),
                .group = option.get_group(),
                .required = option.get_required(),
                .repeated = IsRepeated(option)};
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  if (option.get_type_size() == 0) return flag;
  flag.value = ValueType(option);
  flag.choices = ChoicesOf(flag.value);
  if (!flag.choices.empty()) flag.value = absl::StrJoin(flag.choices, "|");
  if (!flag.choices.empty() && flag.value.size() > kLongestValue)
    flag.value = absl::AsciiStrToUpper(option.get_lnames().front());
  flag.default_value = option.get_default_str();
  return flag;
}

ArgumentText DescribeArgument(const CLI::Option& option) {
  ArgumentText argument{.usage = option.get_option_text(),
                        .choices = ChoicesOf(ValueType(option)),
                        .description = option.get_description(),
                        .repeated = IsRepeated(option)};
  if (argument.usage.empty()) {
    argument.usage = absl::StrCat(option.get_name(true, false), argument.repeated ? "..." : "");
    if (!option.get_required()) argument.usage = absl::StrCat("[", argument.usage, "]");
  }
  const std::string plain = absl::StrReplaceAll(argument.usage, {{"[", ""}, {"]", ""}, {"...", ""}});
  argument.names = absl::StrSplit(plain, ' ', absl::SkipEmpty());
  return argument;
}

template <typename Group, typename Item, typename List>
std::vector<Group> GroupBy(const std::vector<Item>& items, List Group::*list) {
  std::vector<Group> groups;
  for (const Item& item : items) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == item.group; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{.name = item.group});
    ((*group).*list).push_back(&item);
  }
  return groups;
}

}  // namespace

VerbText Describe(const CLI::App& app) {
  VerbText verb{.path = app.get_name(),
                .name = app.get_name(),
                .group = app.get_group(),
                .description = app.get_description(),
                .footer = app.get_footer(),
                .needs_verb = app.get_require_subcommand_min() > 0};
  for (const CLI::App* parent = app.get_parent(); parent != nullptr; parent = parent->get_parent()) {
    verb.path = absl::StrCat(parent->get_name(), " ", verb.path);
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->nonpositional()) {
      verb.flags.push_back(DescribeFlag(*option));
    } else {
      verb.arguments.push_back(DescribeArgument(*option));
    }
  }
  for (const CLI::App* child : app.get_subcommands({})) {
    if (!child->get_group().empty()) verb.verbs.push_back(Describe(*child));
  }
  return verb;
}

const VerbText* FindVerb(const VerbText& root, const std::vector<std::string>& path) {
  const VerbText* at = &root;
  for (const std::string& name : path) {
    const auto next =
        std::find_if(at->verbs.begin(), at->verbs.end(), [&](const VerbText& verb) { return verb.name == name; });
    if (next == at->verbs.end()) return nullptr;
    at = &*next;
  }
  return at;
}

std::string UsageOf(const VerbText& verb) {
  std::string usage = verb.path;
  if (!verb.flags.empty()) usage += " [FLAGS]";
  for (const ArgumentText& argument : verb.arguments) absl::StrAppend(&usage, " ", argument.usage);
  if (!verb.verbs.empty()) usage += verb.needs_verb ? " VERB ..." : " [VERB ...]";
  return usage;
}

std::string HeadOf(const FlagText& flag) {
  // The long names of all flags begin in the same column, whether or not a flag has a short name.
  const bool indented = flag.names.size() == 1 && flag.names[0].size() > 2;
  return absl::StrCat(indented ? "    " : "", absl::StrJoin(flag.names, ", "), flag.value.empty() ? "" : " ",
                      flag.value);
}

std::string NotesOf(const FlagText& flag) {
  std::vector<std::string> notes;
  if (!flag.choices.empty() && absl::StrJoin(flag.choices, "|") != flag.value)
    notes.push_back(absl::StrJoin(flag.choices, ", "));
  if (flag.required) notes.push_back("required");
  if (flag.repeated) notes.push_back("may be repeated");
  if (!flag.needs.empty()) notes.push_back("with " + flag.needs);
  if (!flag.excludes.empty()) notes.push_back("not with " + flag.excludes);
  if (!flag.default_value.empty()) notes.push_back("default: " + flag.default_value);
  if (notes.empty()) return flag.description;
  return absl::StrCat(flag.description, flag.description.empty() ? "" : " ", "(", absl::StrJoin(notes, "; "), ")");
}

std::vector<FlagGroup> GroupsOf(const std::vector<FlagText>& flags) { return GroupBy(flags, &FlagGroup::flags); }
std::vector<VerbGroup> GroupsOf(const std::vector<VerbText>& verbs) { return GroupBy(verbs, &VerbGroup::verbs); }

}  // namespace rekindle::cli
