#include "coordinator/fleet/file/carbon_data.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/spec/field_check.h"
#include "common/text/printable.h"
#include "common/text/strict_json.h"
#include "coordinator/fleet/simulator/trace.h"
#include "coordinator/market/prices.h"

namespace rekindle::fleet {
namespace {

using core::kHour;
using nlohmann::json;

constexpr size_t kMaxRegions = 1000;
constexpr size_t kLongestName = 64;
// The history of a carbon feed, and its forecast, have at most `kMostHours` hours each.
constexpr size_t kMostHours = 31 * 24;
// A gap of up to `kLongestGap` hours between two measurements gets the carbon intensity of the hour before the gap.
constexpr int64_t kLongestGap = 24;
// A carbon intensity above `kHighest` g/kWh is refused as impossible. Badly burnt lignite gives 1500.
constexpr double kHighest = 5000;
// The clock of a carbon feed may be ahead of this machine's clock by `kAhead` seconds.
constexpr double kAhead = 600;
constexpr common::JsonLimits kLimits{.depth = 5, .values = 200'000};

absl::StatusOr<double> Intensity(const std::string& where, const json& value) {
  if (!value.is_number()) return common::WrongField(where, "is missing, or no number: give gCO2eq/kWh");
  const double grams = value.get<double>();
  if (grams >= 0 && grams <= kHighest) return grams;
  return common::WrongField(where, absl::StrCat(grams, " is out of range: use 0 to ", kHighest, " gCO2eq/kWh"));
}

absl::StatusOr<std::vector<double>> Hours(const std::string& where, const json& region, const char* key) {
  std::vector<double> out;
  const auto found = region.find(key);
  if (found == region.end()) return out;
  const std::string path = absl::StrCat(where, ".", key);
  if (!found->is_array() || found->size() > kMostHours) {
    return common::WrongField(path, absl::StrCat("must be a list of at most ", kMostHours, " hours"));
  }
  for (size_t i = 0; i < found->size(); ++i) {
    const auto grams = Intensity(absl::StrCat(path, "[", i, "]"), (*found)[i]);
    if (!grams.ok()) return grams.status();
    out.push_back(*grams);
  }
  return out;
}

// Prepends to `series` the hours before it whose carbon intensity `past` knows.
void KeepPast(const core::CarbonSeries& past, core::CarbonSeries* series) {
  const auto measured = static_cast<int64_t>(std::ceil(past.known_until / kHour));
  const int64_t end = std::min(past.first + static_cast<int64_t>(past.intensity.size()), measured);
  if (past.first >= series->first || series->first - end > kLongestGap) return;
  const int64_t first = std::max(past.first, series->first - static_cast<int64_t>(kMostHours));
  std::vector<double> before;
  for (int64_t hour = first; hour < series->first; ++hour) {
    before.push_back(past.intensity[std::min(hour, std::max(end - 1, past.first)) - past.first]);
  }
  series->intensity.insert(series->intensity.begin(), before.begin(), before.end());
  series->first = first;
}

absl::StatusOr<core::CarbonSeries> ToSeries(const std::string& where, const json& region, double now) {
  if (!region.is_object()) return common::WrongField(where, "must be an object with `at` and `gco2eq_per_kwh`");
  const std::string at = common::StringOr(region, "at");
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, at, &time, &error) || time < absl::UnixEpoch()) {
    return common::WrongField(where + ".at", "is missing, or no time: write it as 2026-11-22T10:00:00Z");
  }
  core::CarbonSeries series;
  series.known_until = absl::ToDoubleSeconds(time - absl::UnixEpoch());
  if (series.known_until > now + kAhead)
    return common::WrongField(where + ".at", "is in the future: one of the clocks is wrong");
  const auto present = Intensity(where + ".gco2eq_per_kwh", region.value("gco2eq_per_kwh", json()));
  auto history = Hours(where, region, "history");
  auto forecast = Hours(where, region, "forecast");
  for (const absl::Status& s : {present.status(), history.status(), forecast.status()}) {
    if (!s.ok()) return s;
  }
  series.first = static_cast<int64_t>(series.known_until / kHour) - static_cast<int64_t>(history->size());
  series.intensity = *std::move(history);
  series.intensity.push_back(*present);
  series.intensity.insert(series.intensity.end(), forecast->begin(), forecast->end());
  return series;
}

}  // namespace

absl::Status AddCarbonTrace(const std::string& text, const std::string& source, const std::string& region,
                            core::CarbonBook* book) {
  const absl::StatusOr<Trace> trace = ParseTrace(text, source, {.step_seconds = 1, .name = region});
  if (!trace.ok()) return trace.status();
  if (!trace->zones.empty())
    return common::WrongField(source, "is a trace of capacity: carbon.files takes carbon traces");
  if (std::fmod(trace->begin, kHour) != 0) {
    return common::WrongField(absl::StrCat(source, ":2"),
                              "begins within an hour: rows are whole hours, as 2022-01-31 12:00:00");
  }
  core::CarbonSeries series{.first = static_cast<int64_t>(trace->begin / kHour), .intensity = trace->grams_per_kwh};
  series.known_until = trace->begin + static_cast<double>(series.intensity.size()) * kHour;
  if (!book->regions.emplace(trace->carbon_region, std::move(series)).second) {
    return common::WrongField(source, absl::StrCat("region '", trace->carbon_region, "' has two files: keep one"));
  }
  return absl::OkStatus();
}

absl::Status TakeCarbonFeed(const std::string& text, double now, core::CarbonBook* book) {
  if (text.size() > kMaxFeedBytes)
    return common::WrongField("the answer", absl::StrCat("is above ", kMaxFeedBytes, " bytes"));
  const absl::StatusOr<json> answer = common::ParseStrictJson(text, kLimits);
  if (!answer.ok()) return answer.status();
  const auto regions = answer->find("regions");
  if (!answer->is_object() || regions == answer->end() || !regions->is_object() || regions->size() > kMaxRegions) {
    return common::WrongField("regions",
                              absl::StrCat("must be an object of at most ", kMaxRegions, " regions by name"));
  }
  std::map<std::string, core::CarbonSeries> taken;
  for (const auto& [name, region] : regions->items()) {
    if (name.empty() || name.size() > kLongestName)
      return common::WrongField("regions", "a name is empty or above 64 bytes");
    absl::StatusOr<core::CarbonSeries> series =
        ToSeries(absl::StrCat("regions.", common::Printable(name)), region, now);
    if (!series.ok()) return series.status();
    const auto past = book->regions.find(name);
    if (past != book->regions.end()) KeepPast(past->second, &*series);
    taken[name] = *std::move(series);
  }
  for (auto& [name, series] : taken) {
    if (book->regions.count(name) == 0 && book->regions.size() >= kMaxRegions) break;
    book->regions[name] = std::move(series);
  }
  return absl::OkStatus();
}

}  // namespace rekindle::fleet
