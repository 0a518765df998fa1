#include "coordinator/market/carbon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/market/prices.h"

namespace rekindle::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Region r has intensities of 100, 200 and 300 in the hours 10 to 12, and they were measured until 11:30.
CarbonBook Book() {
  CarbonBook book{.given = true, .asked = true, .stale_after = kHour};
  book.regions["r"] = {.first = 10, .intensity = {100, 200, 300}, .known_until = 11.5 * kHour};
  return book;
}

TEST(Carbon, OldValuesAreDropped) {
  const CarbonBook book = Book();
  EXPECT_EQ(IntensityAt(book, "r", 10 * kHour - 1), std::nullopt);
  EXPECT_EQ(IntensityAt(book, "r", 10 * kHour), 100);
  // Region r was measured until 11:30, and `stale_after` is an hour, so the forecast for hour 12 counts until 12:30.
  EXPECT_EQ(IntensityAt(book, "r", 12 * kHour), 300);
  EXPECT_EQ(IntensityAt(book, "r", 12.5 * kHour - 1), 300);
  EXPECT_EQ(IntensityAt(book, "r", 12.5 * kHour), std::nullopt);
  EXPECT_EQ(IntensityAt(book, "elsewhere", 11 * kHour), std::nullopt);
}

TEST(Carbon, EachSecondCountsAtItsHour) {
  const CarbonBook book = Book();
  const IntensitySum sum = IntensityBetween(book, "r", 10.5 * kHour, 11.25 * kHour);
  EXPECT_DOUBLE_EQ(sum.hours, 0.75);
  EXPECT_DOUBLE_EQ(sum.grams_per_kw, 0.5 * 100 + 0.25 * 200);
  // The intensity is known from 10:00 to 12:30, and other hours do not count.
  EXPECT_DOUBLE_EQ(IntensityBetween(book, "r", 0, 1e6).hours, 2.5);
  // A time that ends before it begins, because a clock was set back, has no hours.
  EXPECT_EQ(IntensityBetween(book, "r", 2e5, 1e5).hours, 0);
  EXPECT_EQ(IntensityBetween(book, "elsewhere", 0, 1e6).hours, 0);
}

TEST(Carbon, TheForecastCountsBeforeTheDaysBefore) {
  CarbonBook book = Book();
  EXPECT_THAT(ExpectedIntensity(book, "r", 11.2 * kHour, 2), ElementsAre(200, 300));
  EXPECT_THAT(ExpectedIntensity(book, "r", 13 * kHour, 2), IsEmpty());
  EXPECT_THAT(ExpectedIntensity(book, "elsewhere", 11 * kHour, 2), IsEmpty());
  // The series has two equal days, and nothing is known of the third.
  CarbonSeries& series = book.regions["r"];
  series = {.first = -48, .intensity = {}, .known_until = 0};
  for (int hour = 0; hour < 48; ++hour) series.intensity.push_back(hour % 24 < 12 ? 300 : 100);
  const std::vector<double> expected = ExpectedIntensity(book, "r", -1, 14);
  EXPECT_DOUBLE_EQ(expected[0], 100);
  EXPECT_DOUBLE_EQ(expected[1], 300);
  EXPECT_DOUBLE_EQ(expected[13], 100);
}

}  // namespace
}  // namespace rekindle::core
