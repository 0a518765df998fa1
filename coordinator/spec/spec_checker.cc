#include "coordinator/spec/spec_checker.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/nearest.h"
#include "common/text/problem_list.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kMaxProblems = 1000;
// A message shows at most `kMaxShown` bytes of a wrong value.
constexpr size_t kMaxShown = 100;

// Returns a limit as users write numbers: 2592000, not 2.592e+06.
std::string Limit(double limit) {
  const auto whole = static_cast<int64_t>(limit);
  return static_cast<double>(whole) == limit ? absl::StrCat(whole) : absl::StrCat(limit);
}

// Returns whether the field `inner` is `field` or a part of it.
bool IsIn(const std::string& inner, const std::string& field) {
  if (!absl::StartsWith(inner, field)) return false;
  return inner.size() == field.size() || inner[field.size()] == '.' || inner[field.size()] == '[';
}

bool Overlap(const std::string& a, const std::string& b) { return IsIn(a, b) || IsIn(b, a); }

}  // namespace

std::string FieldOf(const std::string& message) {
  const size_t end = message.find(": ");
  if (end == std::string::npos) return "";
  const std::string field = message.substr(0, end);
  const bool is_path = field.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.[]") == std::string::npos;
  return is_path && (IsIn(field, "spec") || field == "name") ? field : "";
}

void Checker::Refuse(const std::string& field, const std::string& why, Fields reads) {
  if (problems_.size() >= kMaxProblems) return;
  problems_.push_back(
      {.field = field, .text = common::OneLine(absl::StrCat(field, ": ", why)), .reads = std::move(reads)});
}

void Checker::Require(bool holds, const std::string& field, const std::string& why, Fields reads) {
  if (!holds) Refuse(field, why, std::move(reads));
}

void Checker::Range(const std::string& field, double value, double low, double high, Fields reads) {
  // A comparison with NaN is false, so NaN is refused.
  if (value >= low && value <= high) return;
  Refuse(field, absl::StrCat(value, " is out of range: use ", Limit(low), " to ", Limit(high)), std::move(reads));
}

void Checker::Above(const std::string& field, double value, double low, double high, Fields reads) {
  if (value > low && value <= high) return;
  Refuse(field, absl::StrCat(value, " is out of range: use a number above ", low, ", at most ", high),
         std::move(reads));
}

void Checker::Share(const std::string& field, double value, Fields reads) {
  if (value >= 0 && value < 1) return;
  Refuse(field, absl::StrCat(value, " is out of range: use 0 or more, below 1"), std::move(reads));
}

void Checker::OneOf(const std::string& field, const std::string& value, const std::vector<std::string>& known,
                    Fields reads) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  const std::string nearest = common::Nearest(value, known);
  const std::string hint = nearest.empty() ? ";" : absl::StrCat("; did you mean '", nearest, "'?");
  Refuse(field,
         absl::StrCat("'", common::OneLine(value, kMaxShown), "' is not supported", hint,
                      " supported: ", absl::StrJoin(known, ", ")),
         std::move(reads));
}

void Checker::Add(const std::string& field, const absl::Status& status, Fields reads) {
  if (status.ok() || problems_.size() >= kMaxProblems) return;
  const std::string message(status.message());
  const std::string named = FieldOf(message);
  const std::string text = named.empty() && !field.empty() ? absl::StrCat(field, ": ", message) : message;
  problems_.push_back({named.empty() ? field : named, text, status.code(), std::move(reads)});
}

bool Checker::Sound(const Fields& fields) const {
  return std::none_of(problems_.begin(), problems_.end(), [&](const Problem& problem) {
    return std::any_of(fields.begin(), fields.end(),
                       [&](const std::string& field) { return Overlap(problem.field, field); });
  });
}

std::vector<Problem> Checker::Problems() const {
  std::vector<Problem> kept;
  std::set<std::string> fields;
  for (const Problem& problem : problems_) {
    const bool follows = std::any_of(problems_.begin(), problems_.end(), [&](const Problem& other) {
      const auto is_read = [&](const std::string& field) { return Overlap(other.field, field); };
      return other.field != problem.field && std::any_of(problem.reads.begin(), problem.reads.end(), is_read);
    });
    if (!follows && fields.insert(problem.field).second) kept.push_back(problem);
  }
  // If each of two problems reads the field of the other, both were left out. The job must not pass, so one is
  // reported.
  if (kept.empty() && !problems_.empty()) kept.push_back(problems_.front());
  return kept;
}

absl::Status Checker::status() const {
  const std::vector<Problem> problems = Problems();
  if (problems.empty()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(common::OneLine(problem.text));
  return absl::Status(problems.front().code, common::ListProblems(lines, 0, common::kMostStatusBytes));
}

}  // namespace rekindle::coordinator
