#include "cli/job_file/problems.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/text/safe_text.h"
#include "common/text/problem_list.h"
#include "coordinator/spec/spec_checker.h"

namespace rekindle::cli {
namespace {

struct Place {
  int line = 0;
  std::string flag;
};

// Returns the flag or the line that gives the field. If nothing gives the field, returns the place of the nearest
// section around it.
Place PlaceOf(const JobDocument& document, std::string field) {
  while (true) {
    if (const auto flag = document.flags.find(field); flag != document.flags.end()) return {0, flag->second};
    if (const auto line = document.lines.find(field); line != document.lines.end()) return {line->second, ""};
    const size_t end = field.find_last_of(".[");
    if (end == std::string::npos) return {document.line, ""};
    field.resize(end);
  }
}

// Makes foreign text printable, because it must not control the terminal. Line breaks in the text are kept.
std::string Shown(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) line = Printable(common::OneLine(line));
  return absl::StrJoin(lines, "\n");
}

}  // namespace

void Problems::AddUnread(const JobDocument& document) {
  for (const common::YamlProblem& problem : document.unread) problems_.push_back({problem.line, Shown(problem.what)});
  untold_ += document.unread_left_out;
}

void Problems::Add(const JobDocument& document, const std::string& text) {
  const std::string field = coordinator::FieldOf(text);
  const Place place = field.empty() ? Place() : PlaceOf(document, field);
  problems_.push_back({place.line, (place.flag.empty() ? "" : Printable(place.flag) + ": ") + Shown(text)});
}

void Problems::AddRefusal(const JobDocument& document, const absl::Status& refusal) {
  size_t more = 0;
  for (const std::string& text : common::SplitProblems(std::string(refusal.message()), &more)) Add(document, text);
  untold_ += more;
}

void Problems::AddNamesGivenTwice(const JobDocuments& file) {
  std::map<std::string, int> first;
  for (const JobDocument& document : file.documents) {
    const std::string& name = document.job.name();
    const Place place = PlaceOf(document, "name");
    const auto [other, is_new] = first.emplace(name, place.line);
    if (is_new || name.empty()) continue;
    const std::string has =
        other->second > 0 ? absl::StrCat("the job at line ", other->second, " has") : "another job has";
    Add(document, absl::StrCat("name: ", has, " the name ", name, " too: choose another"));
  }
}

absl::Status Problems::ToStatus() const {
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) { return a.line < b.line; });
  std::vector<std::string> lines;
  std::set<std::string> told;
  for (const Problem& problem : sorted) {
    const std::string at = problem.line > 0 ? absl::StrCat(Printable(source_), ":", problem.line, ": ") : "";
    if (const std::string line = at + problem.text; told.insert(line).second) lines.push_back(line);
  }
  const size_t all = lines.size() + untold_;
  const std::string head = all > 1 ? absl::StrCat(Printable(source_), " has ", all, " problems:\n") : "";
  return absl::InvalidArgumentError(head + common::ListProblems(lines, untold_));
}

bool IsRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
      return true;
    default:
      return false;
  }
}

}  // namespace rekindle::cli
