#include "coordinator/core/account/off_peak.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// `kDay` is the number of minutes of a day, and `kWeek` that of a week.
constexpr int kDay = 24 * 60;
constexpr int kWeek = 7 * kDay;
// `kEpochDay` is the day of the week on which Unix time begins, counted from 0 for Monday. 1 January 1970 was a
// Thursday.
constexpr int kEpochDay = 3;
constexpr int kMaxWindows = 50;
constexpr std::array<const char*, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

// Returns the minute of the day, or -1 where `text` is not a time.
int ToMinutes(const std::string& text) {
  int hours = 0, minutes = 0;
  if (text.size() != 5 || text[2] != ':') return -1;
  if (!absl::SimpleAtoi(text.substr(0, 2), &hours) || !absl::SimpleAtoi(text.substr(3), &minutes)) return -1;
  const int in_all = hours * 60 + minutes;
  return hours < 0 || minutes < 0 || minutes > 59 || in_all > kDay ? -1 : in_all;
}

int DayOf(const std::string& name) {
  const auto at = std::find(kDays.begin(), kDays.end(), name);
  return at == kDays.end() ? -1 : static_cast<int>(at - kDays.begin());
}

// Returns where each window begins and how long it is, both in minutes, counted from the beginning of the week.
std::vector<std::pair<int, int>> Spans(const v1::JobSpec::Goals& goals) {
  std::vector<std::pair<int, int>> spans;
  for (const auto& window : goals.off_peak()) {
    const int from = ToMinutes(window.from()), until = ToMinutes(window.until());
    const int length = until > from ? until - from : until + kDay - from;
    for (int day = 0; day < 7; ++day) {
      const bool begins = window.days().empty() ||
                          std::find(window.days().begin(), window.days().end(), kDays[day]) != window.days().end();
      if (begins) spans.emplace_back(day * kDay + from, length);
    }
  }
  return spans;
}

// `kMinute` is the number of milliseconds of a minute. Times are rounded to milliseconds, because the floating-point
// number for a full hour may lie a little before the hour.
constexpr int64_t kMinute = 60'000;

int64_t TimeOfWeek(double unix_now) {
  const int64_t week = kWeek * kMinute;
  return ((std::llround(unix_now * 1000) + kEpochDay * kDay * kMinute) % week + week) % week;
}

}  // namespace

absl::Status CheckOffPeak(const v1::JobSpec::Goals& goals) {
  const auto wrong = [](const std::string& field, const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat("spec.goals.off_peak", field, ": ", why));
  };
  if (goals.off_peak_size() > kMaxWindows) return wrong("", absl::StrCat("has more than ", kMaxWindows, " windows"));
  for (int i = 0; i < goals.off_peak_size(); ++i) {
    const auto& window = goals.off_peak(i);
    const std::string at = absl::StrCat("[", i, "]");
    for (const auto& [field, text] : {std::pair(".from", window.from()), std::pair(".until", window.until())}) {
      if (ToMinutes(text) >= 0) continue;
      return wrong(at + field, absl::StrCat("'", Bounded(text, 40), "' is not a time of the day: write it as 22:00"));
    }
    if (ToMinutes(window.from()) == ToMinutes(window.until())) {
      return wrong(at, "begins when it ends: for the whole day write 00:00 to 24:00");
    }
    for (const std::string& day : window.days()) {
      if (DayOf(day) < 0) {
        return wrong(at + ".days",
                     absl::StrCat("'", Bounded(day, 40), "' is not known: use mon, tue, wed, thu, fri, sat, sun"));
      }
    }
  }
  return absl::OkStatus();
}

bool InWindow(const v1::JobSpec::Goals& goals, double unix_now) {
  if (goals.off_peak().empty()) return true;
  const int64_t now = TimeOfWeek(unix_now);
  const std::vector<std::pair<int, int>> spans = Spans(goals);
  return std::any_of(spans.begin(), spans.end(), [&](const auto& span) {
    return (now - span.first * kMinute + kWeek * kMinute) % (kWeek * kMinute) < span.second * kMinute;
  });
}

double NextEdge(const v1::JobSpec::Goals& goals, double unix_now) {
  double next = std::numeric_limits<double>::infinity();
  const int64_t now = TimeOfWeek(unix_now);
  for (const auto& [begin, length] : Spans(goals)) {
    for (const int edge : {begin, begin + length}) {
      int64_t ahead = (edge * kMinute - now + 2 * kWeek * kMinute) % (kWeek * kMinute);
      if (ahead == 0) ahead = kWeek * kMinute;
      next = std::min(next, static_cast<double>(ahead) / 1000);
    }
  }
  return unix_now + next;
}

std::string ClockTime(double unix_time, double unix_now) {
  const auto minute = static_cast<int>(TimeOfWeek(unix_time) / kMinute);
  const std::string clock = absl::StrFormat("%02d:%02d UTC", minute % kDay / 60, minute % 60);
  if (unix_time - unix_now < kDay * 60) return clock;
  return absl::StrCat(kDays[minute / kDay], " ", clock);
}

}  // namespace rekindle::core
