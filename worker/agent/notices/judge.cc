#include "worker/agent/notices/judge.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace rekindle::agent {
namespace {

// Returns the text for an interruption notice. The text is fixed when the notice is first heard, so that the node's
// report does not change each second.
std::string Describe(const std::string& source, const Notice& notice, double left) {
  if (!notice.at) return absl::StrCat(notice.leaves ? "a notice from " : "", source, ": ", notice.what);
  const std::string when = absl::FormatTime(
      "%Y-%m-%d %H:%M:%S UTC", absl::FromUnixSeconds(static_cast<int64_t>(*notice.at)), absl::UTCTimeZone());
  if (!notice.leaves) return absl::StrCat(source, ": ", notice.what, " at ", when);
  if (left > kNearSeconds) return absl::StrCat("a notice from ", source, ": ", notice.what, " at ", when);
  return absl::StrCat("a ", std::max(0.0, std::round(left)), " s notice from ", source, ": ", notice.what);
}

bool Same(const Notice& a, const Notice& b) { return a.id == b.id && a.leaves == b.leaves; }

}  // namespace

NoticeCounts Judge::Hear(const std::string& source, const std::vector<Notice>& notices, double wall, double steady) {
  std::vector<Standing> before = std::move(standing_[source]);
  std::vector<Standing>& now = standing_[source];
  now.clear();
  NoticeCounts counts;
  for (const Notice& notice : notices) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const Standing& s) { return s.notice == notice; });
    if (same != before.end()) {
      now.push_back(*same);
      continue;
    }
    const double left = notice.at ? *notice.at - wall : std::numeric_limits<double>::infinity();
    now.push_back({notice, steady + std::max(left, kLeastSeconds), Describe(source, notice, left)});
    if (std::none_of(before.begin(), before.end(), [&](const Standing& s) { return Same(s.notice, notice); })) {
      ++(notice.leaves ? counts.leaves : counts.hints);
    }
  }
  for (const Standing& old : before) {
    const bool stands =
        std::any_of(now.begin(), now.end(), [&](const Standing& s) { return s.notice.id == old.notice.id; });
    if (!stands) ++counts.withdrawn;
  }
  return counts;
}

Verdict Judge::Decide(double steady) const {
  Verdict verdict;
  std::vector<std::string> hints;
  for (const auto& [source, all] : standing_) {
    for (const Standing& standing : all) {
      const bool now = standing.notice.leaves && (!standing.notice.at || standing.leave_at - steady <= kNearSeconds);
      if (!now) {
        hints.push_back(standing.words);
      } else if (!verdict.leaves || standing.leave_at < verdict.leave_at) {
        verdict.leaves = true;
        verdict.leave_at = standing.leave_at;
        verdict.reason = standing.words;
      }
    }
  }
  verdict.hint = absl::StrJoin(hints, "; ");
  return verdict;
}

std::vector<std::pair<std::string, Notice>> Judge::ToAcknowledge(double steady) const {
  std::vector<std::pair<std::string, Notice>> due;
  for (const auto& [source, all] : standing_) {
    for (const Standing& standing : all) {
      if (standing.notice.acknowledge && standing.leave_at - steady <= kNearSeconds) {
        due.emplace_back(source, standing.notice);
      }
    }
  }
  return due;
}

}  // namespace rekindle::agent
