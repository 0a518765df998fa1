#include "worker/agent/decisions/alone.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace rekindle::agent {

Alone::Alone(double now, double first_seconds) {
  if (first_seconds > 0) alone_until_ = now + first_seconds;
}

void Alone::Recall(const std::string& text, const std::string& boot, double now) {
  const std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  double alone_until = 0, spend_until = 0, alone_seconds = 0;
  if (words.size() != 4 || boot.empty()) return;
  if (!absl::SimpleAtod(words[1], &alone_until) || !absl::SimpleAtod(words[2], &spend_until)) return;
  if (!absl::SimpleAtod(words[3], &alone_seconds)) return;
  // The times are checked by negated comparisons, so that NaN is rejected, too.
  if (!(alone_until > 0) || !(spend_until > 0) || !(alone_seconds >= 0)) return;
  // After a reboot no job of the earlier boot runs, so the limit on what those jobs may spend no longer counts.
  alone_seconds_ = alone_seconds;
  if (words[0] != boot) {
    if (alone_seconds > 0) alone_until_ = std::min(alone_until_, now + alone_seconds);
    return;
  }
  alone_until_ = alone_until;
  spend_until_ = spend_until;
}

void Alone::Heard(double sent, double alone_seconds, std::optional<double> spend_seconds, bool keeps_spending) {
  alone_seconds_ = alone_seconds;
  alone_until_ = alone_seconds > 0 ? sent + alone_seconds : kNever;
  if (spend_seconds) {
    spend_until_ = sent + std::max(0.0, *spend_seconds);
  } else if (!keeps_spending) {
    spend_until_ = kNever;
  }
}

double Alone::until() const { return std::min(alone_until_, spend_until_); }

std::string Alone::Text(const std::string& boot) const {
  return absl::StrFormat("%s %.3f %.3f %.3f\n", boot, alone_until_, spend_until_, alone_seconds_);
}

}  // namespace rekindle::agent
