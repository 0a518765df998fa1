#include "worker/agent/alone.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace rekindle::agent {

Alone::Alone(double now, double first_seconds) {
  if (first_seconds > 0) alone_until_ = now + first_seconds;
}

void Alone::Recall(const std::string& text, const std::string& boot) {
  const std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  double alone_until = 0, spend_until = 0;
  if (words.size() != 3 || boot.empty() || words[0] != boot) return;
  if (!absl::SimpleAtod(words[1], &alone_until) || !absl::SimpleAtod(words[2], &spend_until)) return;
  if (!(alone_until > 0) || !(spend_until > 0)) return;  // Nor what is no number.
  alone_until_ = alone_until;
  spend_until_ = spend_until;
}

void Alone::Heard(double sent, double alone_seconds, std::optional<double> spend_seconds, bool keeps_spending) {
  alone_until_ = alone_seconds > 0 ? sent + alone_seconds : kNever;
  if (spend_seconds) {
    spend_until_ = sent + std::max(0.0, *spend_seconds);
  } else if (!keeps_spending) {
    spend_until_ = kNever;
  }
}

double Alone::until() const { return std::min(alone_until_, spend_until_); }

std::string Alone::Text(const std::string& boot) const {
  return absl::StrFormat("%s %.3f %.3f\n", boot, alone_until_, spend_until_);
}

}  // namespace rekindle::agent
