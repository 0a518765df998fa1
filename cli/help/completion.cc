#include "cli/help/completion.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace rekindle::cli {
namespace {

// A `Kind` says what the value of an argument or flag is: a name, a file or a folder. The help text's name for the
// value, such as JOB, decides which kind it is.
struct Kind {
  std::optional<Names> names;
  bool file = false;
  bool folder = false;
};

Kind KindOf(const std::string& value) {
  static const auto* kinds = new std::map<std::string, Kind>{
      {"JOB", {.names = Names::kJobs}},
      {"NODE", {.names = Names::kNodes}},
      {"POOL", {.names = Names::kPools}},
      {"CONTEXT", {.names = Names::kContexts}},
      {"FILE", {.file = true}},
      {"JOB.yaml", {.file = true}},
      {"SET", {.file = true}},
      {"DIR", {.folder = true}},
  };
  const auto found = kinds->find(value);
  return found == kinds->end() ? Kind{} : found->second;
}

// Returns whether the shell reads the candidate as one word. A shell puts candidates on the command line without
// quoting, so any other one is left out.
bool IsPlainWord(const std::string& word) {
  static constexpr char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@:+-";
  return !word.empty() && word.front() != '-' && word.find_first_not_of(kPlain) == std::string::npos;
}

// Reads a command line up to the word that is being completed.
class Walk {
 public:
  Walk(const VerbText& root, const NamesOf& names_of) : chain_{&root}, names_of_(names_of) {}

  void Take(const std::string& word) {
    if (awaits_ != nullptr) {
      given_[awaits_->names.back()] = word;
      awaits_ = nullptr;
    } else if (!flags_end_ && word == "--") {
      flags_end_ = true;
    } else if (!flags_end_ && word.size() > 1 && word[0] == '-') {
      TakeFlag(word);
    } else if (const VerbText* verb = arguments_ == 0 ? ChildOf(*chain_.back(), word) : nullptr) {
      chain_.push_back(verb);
    } else {
      if (is_help()) path_.push_back(word);
      ++arguments_;
    }
  }

  Completion Finish(const std::string& word) {
    Completion out;
    const size_t equals = word.find('=');
    if (awaits_ != nullptr) {
      AddValues(*awaits_, "", word, &out);
    } else if (!flags_end_ && absl::StartsWith(word, "--") && equals != std::string::npos) {
      const FlagText* flag = FindFlag(word.substr(0, equals));
      if (flag != nullptr) AddValues(*flag, word.substr(0, equals + 1), word, &out);
    } else if (!flags_end_ && absl::StartsWith(word, "-")) {
      AddFlags(word, &out);
    } else {
      AddWords(word, &out);
    }
    return out;
  }

 private:
  bool is_help() const { return chain_.size() == 2 && chain_[1]->name == "help"; }

  static const VerbText* ChildOf(const VerbText& verb, const std::string& name) { return FindVerb(verb, {name}); }

  const FlagText* FindFlag(const std::string& name) const {
    for (auto verb = chain_.rbegin(); verb != chain_.rend(); ++verb) {
      for (const FlagText& flag : (*verb)->flags) {
        if (std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end()) return &flag;
      }
    }
    return nullptr;
  }

  void TakeFlag(const std::string& word) {
    const size_t equals = word.find('=');
    const FlagText* flag = FindFlag(word.substr(0, equals));
    if (flag == nullptr || flag->value.empty()) return;
    if (equals == std::string::npos) {
      awaits_ = flag;
    } else {
      given_[flag->names.back()] = word.substr(equals + 1);
    }
  }

  // Adds `prefix` and `value` together as a candidate if they begin with the typed `word`. `prefix` is what precedes
  // the value in the same word, such as "--output=".
  static void Add(const std::string& prefix, const std::string& value, const std::string& description,
                  const std::string& word, Completion* out) {
    const std::string whole = prefix + value;
    if (absl::StartsWith(whole, word)) out->candidates.push_back({whole, description});
  }

  void AddKind(const Kind& kind, const std::string& prefix, const std::string& word, Completion* out) const {
    out->files |= kind.file;
    out->folders |= kind.folder;
    if (!kind.names) return;
    for (const std::string& name : names_of_(*kind.names, given_)) {
      if (IsPlainWord(name)) Add(prefix, name, "", word, out);
    }
  }

  void AddValues(const FlagText& flag, const std::string& prefix, const std::string& word, Completion* out) const {
    for (const std::string& choice : flag.choices) Add(prefix, choice, "", word, out);
    AddKind(KindOf(flag.value), prefix, word, out);
  }

  // Adds the flags of the verb and those of every verb above it.
  void AddFlags(const std::string& word, Completion* out) const {
    for (auto verb = chain_.rbegin(); verb != chain_.rend(); ++verb) {
      for (const FlagText& flag : (*verb)->flags) {
        const bool own = FindFlag(flag.names.back()) == &flag;
        if (own) Add("", flag.names.back(), flag.description, word, out);
      }
    }
  }

  void AddWords(const std::string& word, Completion* out) const {
    const VerbText& verb = *chain_.back();
    if (is_help()) {
      const VerbText* asked = FindVerb(*chain_.front(), path_);
      if (asked != nullptr) AddVerbs(*asked, word, out);
      return;
    }
    if (arguments_ == 0) AddVerbs(verb, word, out);
    std::vector<std::string> names;
    for (const ArgumentText& argument : verb.arguments) {
      names.insert(names.end(), argument.names.begin(), argument.names.end());
    }
    const bool goes_on = !verb.arguments.empty() && verb.arguments.back().repeated;
    if (names.empty() || (arguments_ >= names.size() && !goes_on)) return;
    const std::string& name = names[std::min(arguments_, names.size() - 1)];
    for (const ArgumentText& argument : verb.arguments) {
      if (argument.names.front() != name) continue;
      for (const std::string& choice : argument.choices) Add("", choice, "", word, out);
    }
    AddKind(KindOf(name), "", word, out);
  }

  static void AddVerbs(const VerbText& verb, const std::string& word, Completion* out) {
    for (const VerbText& child : verb.verbs) Add("", child.name, child.description, word, out);
  }

  // `chain_` holds the command and the verbs that were given.
  std::vector<const VerbText*> chain_;
  const NamesOf& names_of_;
  // `awaits_` is the flag that takes the next word as its value, or null.
  const FlagText* awaits_ = nullptr;
  bool flags_end_ = false;
  size_t arguments_ = 0;
  // `path_` is the path of the verb that the words after `help` name.
  std::vector<std::string> path_;
  GivenFlags given_;
};

// Shortens a description to one line for a list of candidates.
std::string Short(const std::string& description) {
  constexpr size_t kMost = 60;
  std::string line = description.substr(0, description.find('\n'));
  if (line.size() > kMost) line = line.substr(0, line.rfind(' ', kMost)) + " ...";
  return absl::StrReplaceAll(line, {{"\t", " "}});
}

}  // namespace

Completion Complete(const VerbText& root, const std::vector<std::string>& words, const NamesOf& names_of) {
  Walk walk(root, names_of);
  for (size_t i = 0; i + 1 < words.size(); ++i) walk.Take(words[i]);
  return walk.Finish(words.empty() ? "" : words.back());
}

std::string ToLines(const Completion& completion) {
  std::string out;
  for (const Candidate& candidate : completion.candidates) {
    absl::StrAppend(&out, candidate.word, candidate.description.empty() ? "" : "\t", Short(candidate.description),
                    "\n");
  }
  if (completion.files) out += ":files\n";
  if (completion.folders) out += ":folders\n";
  return out;
}

}  // namespace rekindle::cli
