#include "checkpoint/format/retention.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"

namespace rekindle::checkpoint {
namespace {

constexpr double kDay = 24 * 3600;

// Returns the names of the `count` whole checkpoints with the lowest validation loss.
std::set<std::string> Best(const std::vector<Candidate>& newest_first, int count) {
  std::vector<const Candidate*> measured;
  for (const Candidate& candidate : newest_first) {
    if (candidate.whole && candidate.validation_loss && std::isfinite(*candidate.validation_loss)) {
      measured.push_back(&candidate);
    }
  }
  std::stable_sort(measured.begin(), measured.end(),
                   [](const Candidate* a, const Candidate* b) { return *a->validation_loss < *b->validation_loss; });
  std::set<std::string> best;
  for (size_t i = 0; i < std::min(measured.size(), static_cast<size_t>(count)); ++i) best.insert(measured[i]->name);
  return best;
}

// Returns the name of the first whole checkpoint at or after each multiple of `every` steps. Checkpoints rarely fall on
// the multiple itself.
std::set<std::string> Milestones(const std::vector<Candidate>& newest_first, int every) {
  // `first` maps k to the first checkpoint whose step is at least k * `every` but below (k + 1) * `every`.
  std::map<int, const Candidate*> first;
  for (const Candidate& candidate : newest_first) {
    if (every == 0 || !candidate.whole || candidate.step < every) continue;
    const Candidate*& known = first[candidate.step / every];
    if (known == nullptr || candidate.step < known->step) known = &candidate;
  }
  std::set<std::string> names;
  for (const auto& [multiple, candidate] : first) names.insert(candidate->name);
  return names;
}

// Returns why the checkpoint stays, or an empty text if no rule keeps it. `newer` is the number of whole checkpoints
// that are newer.
std::string WhyKept(const Candidate& candidate, const Retention& retention, int newer,
                    const std::set<std::string>& best, const std::set<std::string>& milestones) {
  if (retention.keep_last == 0) return "no rule removes any";
  if (newer < retention.keep_last) {
    return candidate.whole ? absl::StrCat("is one of the newest ", retention.keep_last)
                           : "is not whole, but too few newer ones are";
  }
  if (!candidate.whole) return "";
  if (best.contains(candidate.name)) return absl::StrCat("is one of the best ", retention.keep_best);
  if (milestones.contains(candidate.name)) {
    return absl::StrCat("is the first from step ", candidate.step / retention.keep_every * retention.keep_every, " on");
  }
  return "";
}

std::string WhyRemoved(const Candidate& candidate, const Retention& retention) {
  if (!candidate.whole) return "is not whole, and newer ones are";
  return absl::StrCat("is older than the newest ", retention.keep_last, ", and no other rule keeps it");
}

}  // namespace

absl::Status CheckRetention(const Retention& retention) {
  if (retention.keep_last < 0 || retention.keep_every < 0 || retention.keep_best < 0 ||
      !(retention.archive_seconds >= 0)) {
    return absl::InvalidArgumentError("retention: a number in it is negative");
  }
  return absl::OkStatus();
}

std::vector<Verdict> Decide(const std::vector<Candidate>& newest_first, const Retention& retention,
                            const std::set<std::string>& pinned, double now) {
  const std::set<std::string> best = Best(newest_first, retention.keep_best);
  const std::set<std::string> milestones = Milestones(newest_first, retention.keep_every);
  std::vector<Verdict> verdicts;
  int newer = 0;
  const int newest_step = newest_first.empty() ? 0 : newest_first.front().step;
  for (const Candidate& candidate : newest_first) {
    Verdict verdict{.name = candidate.name, .reason = WhyKept(candidate, retention, newer, best, milestones)};
    if (verdict.reason.empty() && candidate.step > newest_step) {
      verdict.reason = "holds a later step than the newest, which was made after going back";
    }
    const double age = now - candidate.written;
    if (pinned.contains(candidate.name)) {
      verdict.reason = "is pinned";
    } else if (verdict.reason.empty()) {
      verdict.fate = Fate::kRemove;
      verdict.reason = WhyRemoved(candidate, retention);
    } else if (candidate.whole && !retention.archive_store.empty() && age > retention.archive_seconds) {
      verdict.fate = Fate::kArchive;
      verdict.reason = absl::StrCat(verdict.reason, ", and was written ", static_cast<int64_t>(age / kDay),
                                    " days ago: archived after ", retention.archive_seconds / kDay);
    }
    if (candidate.whole) ++newer;
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace rekindle::checkpoint
