#include "coordinator/fleet/file/carbon_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/spec/yaml.h"
#include "coordinator/fleet/file/carbon_file.h"
#include "coordinator/fleet/file/fleet_file.h"

namespace rekindle::fleet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kHeader[] = "datetime_utc,direct_gco2eq_per_kwh,lca_gco2eq_per_kwh\n";
constexpr double kHour = 3600;

std::string Trace(const std::string& first) {
  return std::string(kHeader) + "1970-01-02 " + first + ",10,20\n1970-01-02 01" + first.substr(2) + ",30,20\n";
}

// Returns a carbon feed's answer about the region ES. `region` is the JSON text of the region's fields in that answer.
std::string Feed(const std::string& region) { return "{\"regions\": {\"ES\": {" + region + "}}}"; }
constexpr char kAt[] = "\"at\": \"1970-01-01T10:30:00Z\"";

std::string Refused(const std::string& text) {
  core::CarbonBook book;
  book.regions["old"] = {.first = 1, .intensity = {7}, .known_until = kHour};
  const absl::Status taken = TakeCarbonFeed(text, 11 * kHour, &book);
  EXPECT_EQ(taken.code(), absl::StatusCode::kInvalidArgument) << text;
  // A refused answer leaves the carbon book unchanged.
  EXPECT_EQ(book.regions.size(), 1);
  return std::string(taken.message());
}

TEST(CarbonTrace, HoursHaveTheirTimes) {
  core::CarbonBook book;
  ASSERT_TRUE(AddCarbonTrace(Trace("00:00:00"), "dir/carbon_ES_1970.csv", "", &book).ok());
  ASSERT_TRUE(AddCarbonTrace(Trace("00:00:00"), "dir/carbon_ES_1970.csv", "other", &book).ok());
  const core::CarbonSeries& series = book.regions.at("ES");
  EXPECT_EQ(series.first, 24);
  EXPECT_THAT(series.intensity, ElementsAre(10, 30));
  EXPECT_EQ(series.known_until, 26 * kHour);
  EXPECT_THAT(std::string(AddCarbonTrace(Trace("00:00:00"), "ES.csv", "", &book).message()),
              HasSubstr("region 'ES' has two files"));
}

TEST(CarbonTrace, WhatIsNoneIsRefused) {
  core::CarbonBook book;
  const auto refused = [&](const std::string& text) {
    return std::string(AddCarbonTrace(text, "x.csv", "", &book).message());
  };
  EXPECT_THAT(refused("tick,zone\n0,1\n"), HasSubstr("x.csv: is a trace of capacity"));
  EXPECT_THAT(refused(Trace("00:30:00")), HasSubstr("x.csv:2: begins within an hour"));
  EXPECT_THAT(refused(std::string(kHeader) + "1970-01-02 00:00:00,-1,1\n"), HasSubstr("x.csv:2"));
  EXPECT_THAT(refused("<html>"), HasSubstr("x.csv"));
  EXPECT_TRUE(book.regions.empty());
}

TEST(CarbonFeed, NowHistoryAndForecastBecomeHours) {
  core::CarbonBook book;
  const std::string text =
      Feed(std::string(kAt) + ", \"gco2eq_per_kwh\": 180.5, \"history\": [150, 160], \"forecast\": [200]");
  ASSERT_TRUE(TakeCarbonFeed(text, 11 * kHour, &book).ok());
  const core::CarbonSeries& series = book.regions.at("ES");
  EXPECT_EQ(series.first, 8);
  EXPECT_THAT(series.intensity, ElementsAre(150, 160, 180.5, 200));
  EXPECT_EQ(series.known_until, 10.5 * kHour);
}

TEST(CarbonFeed, WhatWasHeardStaysAsHistory) {
  core::CarbonBook book;
  // The value 999 is a forecast, so it does not become a part of the history.
  book.regions["ES"] = {.first = 6, .intensity = {60, 70, 999}, .known_until = 8 * kHour};
  book.regions["gone"] = {.first = 6, .intensity = {1}, .known_until = 7 * kHour};
  ASSERT_TRUE(TakeCarbonFeed(Feed(std::string(kAt) + ", \"gco2eq_per_kwh\": 100"), 11 * kHour, &book).ok());
  // Hours without a measurement get the carbon intensity of the hour before them.
  EXPECT_THAT(book.regions.at("ES").intensity, ElementsAre(60, 70, 70, 70, 100));
  EXPECT_EQ(book.regions.at("ES").first, 6);
  EXPECT_EQ(book.regions.count("gone"), 1);
  // A measurement that is older than a day says nothing about the hours since then.
  book.regions["ES"] = {.first = -40, .intensity = {60, 70}, .known_until = -38 * kHour};
  ASSERT_TRUE(TakeCarbonFeed(Feed(std::string(kAt) + ", \"gco2eq_per_kwh\": 100"), 11 * kHour, &book).ok());
  EXPECT_THAT(book.regions.at("ES").intensity, ElementsAre(100));
}

TEST(CarbonFeed, WhatIsWrongIsNamed) {
  const std::string at = std::string(kAt) + ", ";
  EXPECT_THAT(Refused("<html>"), Not(testing::IsEmpty()));
  EXPECT_THAT(Refused("[1]"), HasSubstr("regions: must be an object"));
  EXPECT_THAT(Refused("{\"regions\": {\"ES\": 5}}"), HasSubstr("regions.ES: must be an object with"));
  EXPECT_THAT(Refused(Feed("\"gco2eq_per_kwh\": 1")), HasSubstr("regions.ES.at: is missing, or no time"));
  EXPECT_THAT(Refused(Feed("\"at\": 5, \"gco2eq_per_kwh\": 1")), HasSubstr("regions.ES.at: is missing, or no time"));
  EXPECT_THAT(Refused(Feed("\"at\": \"1970-01-01T11:30:00Z\", \"gco2eq_per_kwh\": 1")), HasSubstr("is in the future"));
  EXPECT_THAT(Refused(Feed(at + "\"gco2eq_per_kwh\": -1")), HasSubstr("gco2eq_per_kwh: -1 is out of range"));
  EXPECT_THAT(Refused(Feed(at + "\"gco2eq_per_kwh\": \"1\"")), HasSubstr("gco2eq_per_kwh: is missing, or no number"));
  const std::string now = at + "\"gco2eq_per_kwh\": 1, ";
  EXPECT_THAT(Refused(Feed(now + "\"forecast\": 7")), HasSubstr("regions.ES.forecast: must be a list"));
  EXPECT_THAT(Refused(Feed(now + "\"forecast\": [1, 1e9]")),
              HasSubstr("regions.ES.forecast[1]: 1e+09 is out of range"));
  std::string hours = "1";
  for (int i = 0; i < 31 * 24; ++i) hours += ",1";
  EXPECT_THAT(Refused(Feed(now + "\"history\": [" + hours + "]")), HasSubstr("at most 744 hours"));
  EXPECT_THAT(Refused("{\"regions\": {\"\\u001b[31m\": 5}}"), HasSubstr("regions.?[31m"));
  EXPECT_THAT(Refused(std::string(kMaxFeedBytes + 1, ' ')), HasSubstr("is above"));
}

std::string FleetError(const std::string& carbon, const std::string& pool = ", carbon_region: ES") {
  v1::Fleet file;
  EXPECT_TRUE(common::ParseYaml("pools: [{provider: aws, zone: a, capacity: spot" + pool + "}]\ncarbon: " + carbon,
                                "f.yaml", &file)
                  .ok());
  return std::string(ResolveFleet(file).status().message());
}

TEST(CarbonFile, IsCheckedWithItsFleet) {
  EXPECT_EQ(FleetError("{files: [carbon_ES_2026.csv]}"), "");
  EXPECT_EQ(FleetError("{url: \"https://example.org/carbon?key=s\"}"), "");
  EXPECT_EQ(FleetError("{url: \"http://127.0.0.1:80/carbon\"}"), "");
  EXPECT_THAT(FleetError("{}"), HasSubstr("carbon: needs `files` or `url`"));
  EXPECT_THAT(FleetError("{files: [a], url: \"https://example.org\"}"), HasSubstr("one of them"));
  EXPECT_THAT(FleetError("{files: [\"\"]}"), HasSubstr("carbon.files: has an empty name"));
  for (const char* url : {"http://example.org/secret", "https://user:secret@example.org", "secret", "file:///secret"}) {
    EXPECT_THAT(FleetError("{url: \"" + std::string(url) + "\"}"),
                AllOf(HasSubstr("carbon.url: must be https://HOST"), Not(HasSubstr("secret"))));
  }
  EXPECT_THAT(FleetError("{files: [a], poll_seconds: 1}"), HasSubstr("carbon.poll_seconds: 1 is out of range"));
  EXPECT_THAT(FleetError("{files: [a], stale_after_hours: -1}"), HasSubstr("carbon.stale_after_hours: -1"));
  EXPECT_THAT(FleetError("{files: [a]}", ""), HasSubstr("no pool has a carbon_region"));
  EXPECT_THAT(FleetError("{files: [a]}", ", carbon_region: ES, node_watts: -1"),
              HasSubstr("pools[0].node_watts: -1 is out of range"));
}

TEST(CarbonFile, NamesItsRegionOrLeavesThatToTheFile) {
  EXPECT_EQ(ParseCarbonFile("ES=a/b.csv", "dir").region, "ES");
  EXPECT_EQ(ParseCarbonFile("ES=a/b.csv", "dir").path, "dir/a/b.csv");
  EXPECT_EQ(ParseCarbonFile("/x=y/b.csv", "dir").region, "");
  EXPECT_EQ(ParseCarbonFile("/x=y/b.csv", "dir").path, "/x=y/b.csv");
}

}  // namespace
}  // namespace rekindle::fleet
