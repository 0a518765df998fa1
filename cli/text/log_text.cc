#include "cli/text/log_text.h"

#include "absl/strings/str_cat.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"

namespace rekindle::cli {
namespace {

// Returns the place of a trainer: "n2/0" for "n2/0/1a2b3c4d".
std::string Place(const std::string& trainer) { return trainer.substr(0, trainer.rfind('/')); }

// Returns the local time, without the date if the date is today's.
std::string Time(double at, double now) {
  constexpr size_t kDate = sizeof("2026-01-31 ") - 1;
  const std::string time = LocalTime(at);
  return time.substr(0, kDate) == LocalTime(now).substr(0, kDate) ? time.substr(kDate) : time;
}

std::string Lines(double count, const std::string& what) {
  const std::string one = what.empty() ? "line" : what + " line";
  return count == 1 ? "1 " + one + " is" : Fixed(count, 0) + " " + one + "s are";
}

std::string Missing(const v1::LogLine& line, double now) {
  const v1::LogGap& gap = line.gap();
  const std::string of = Printable(Place(line.trainer()));
  switch (gap.reason()) {
    case v1::LogGap::NOT_KEPT:
      return Lines(gap.lines(), "older") + " not kept";
    case v1::LogGap::LOST_WITH_NODE:
      return absl::StrCat("lines of ", of, " after ", Time(gap.after(), now), " were lost with its node");
    case v1::LogGap::NOT_KEPT_BY_NODE:
      return absl::StrCat(Fixed(gap.bytes(), 0), " bytes of lines of ", of, " were not kept by its node");
    case v1::LogGap::DAMAGED:
      return Lines(gap.lines(), "") + " damaged on the coordinator's disk";
    case v1::LogGap::ANOTHER_LOG:
      return "the coordinator has lost what it had of this log; what follows may have been shown before";
    default:
      return "lines are missing";
  }
}

}  // namespace

std::string LogText(const v1::LogLine& line, double now) {
  if (line.has_gap()) return "... " + Missing(line, now);
  return Printable(line.trainer()) + ": " + Printable(line.text());
}

}  // namespace rekindle::cli
