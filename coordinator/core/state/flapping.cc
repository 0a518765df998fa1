#include "coordinator/core/state/flapping.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr double kTellSeconds = 60;
constexpr size_t kMostNamed = 8;

bool TellOrGather(Turn& turn, Job& job, Flapping& of, const std::string& kind, const std::string& text,
                  const std::string& node) {
  if (of.changes == 0 && turn.now >= of.told_at + kTellSeconds) {
    of.told_at = turn.now;
    turn.Emit(&job, kind, text, node);
    return true;
  }
  ++of.changes;
  of.kind = kind;
  of.text = text;
  of.node = node;
  return false;
}

std::string HowOften(const Turn& turn, const Flapping& of, const char* what) {
  const double seconds = turn.now - of.told_at;
  constexpr double kAboutAMinute = 1.1 * kTellSeconds;
  const bool minute = seconds >= kTellSeconds && seconds < kAboutAMinute;
  return absl::StrCat(what, " changed ", of.changes, " times within ", minute ? "the last minute" : Seconds(seconds));
}

void TellRangesGathered(Turn& turn, Job& job) {
  Flapping& of = job.ranges_told;
  if (of.changes == 0) return;
  const std::string often = of.changes == 1 ? "" : absl::StrCat(HowOften(turn, of, "ranges"), "; the newest: ");
  turn.Emit(&job, of.kind, often + of.text, of.node);
  of = {.told_at = turn.now};
}

// Names all present stragglers of a job, because the newest change may be only one of several.
std::string NameStragglers(const Job& job) {
  std::vector<std::string> words;
  for (const v1::MemberStatus& member : job.record.job().status().members()) {
    if (member.straggler().empty()) continue;
    if (words.size() == kMostNamed) {
      words.emplace_back("others");
      break;
    }
    words.push_back(absl::StrCat(ShortName(member.trainer()), " is a straggler (", member.straggler(), ")"));
  }
  return JoinWords(words);
}

void TellStragglersGathered(Turn& turn, Job& job) {
  Flapping& of = job.stragglers_told;
  if (of.changes == 0) return;
  const std::string now = NameStragglers(job);
  if (of.changes == 1) {
    turn.Emit(&job, of.kind, of.text, of.node);
  } else {
    turn.Emit(&job, now.empty() ? "straggler_ended" : "straggler",
              absl::StrCat(HowOften(turn, of, "stragglers"), "; now ", now.empty() ? "nobody is one" : now), of.node);
  }
  of = {.told_at = turn.now};
}

}  // namespace

bool TellRanges(Turn& turn, Job& job, const std::string& text, const std::string& node) {
  return TellOrGather(turn, job, job.ranges_told, "ranges", text, node);
}

bool TellStraggler(Turn& turn, Job& job, const std::string& kind, const std::string& text, const std::string& node) {
  return TellOrGather(turn, job, job.stragglers_told, kind, text, node);
}

void TellGathered(Turn& turn, Job& job) {
  const auto is_due = [&](const Flapping& of) {
    if (of.changes > 0 && turn.now < of.told_at + kTellSeconds) turn.Wake(job, of.told_at + kTellSeconds);
    return of.changes > 0 && turn.now >= of.told_at + kTellSeconds;
  };
  if (is_due(job.ranges_told)) TellRangesGathered(turn, job);
  if (is_due(job.stragglers_told)) TellStragglersGathered(turn, job);
}

void TellRangesNow(Turn& turn, Job& job) { TellRangesGathered(turn, job); }

void TellAllNow(Turn& turn, Job& job) {
  TellRangesGathered(turn, job);
  TellStragglersGathered(turn, job);
}

}  // namespace rekindle::core
