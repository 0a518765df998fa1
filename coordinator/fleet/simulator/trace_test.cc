#include "coordinator/fleet/simulator/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/fleet/simulator/csv.h"
#include "coordinator/fleet/simulator/synthetic.h"

namespace rekindle::fleet {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

Trace Read(const std::string& text, const TraceOptions& options = {.step_seconds = 60}) {
  const auto trace = ParseTrace(text, "dir/x.csv", options);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *trace : Trace{.zones = {ZoneTrace{}}};
}

std::string Refused(const std::string& text, const TraceOptions& options = {.step_seconds = 60}) {
  const auto trace = ParseTrace(text, "x.csv", options);
  EXPECT_EQ(trace.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(trace.status().message());
}

TEST(Trace, TicksOfZonesEndWithTheShortest) {
  const Trace trace = Read("tick,a,b,price_a\n0,1,3,0.5\n1,0,2,0.6\n2,1,,0.6\n");
  ASSERT_EQ(trace.zones.size(), 2u);
  EXPECT_EQ(trace.zones[1].zone, "b");
  EXPECT_THAT(trace.zones[0].nodes, ElementsAre(1, 0));
  EXPECT_THAT(trace.zones[1].nodes, ElementsAre(3, 2));
  EXPECT_THAT(trace.zones[0].prices, ElementsAre(DoubleEq(0.5), DoubleEq(0.6)));
}

TEST(Trace, EventsAndCountsAreSampled) {
  const Trace counts = Read("seconds,count\r\n0,5\r\n90,4\r\n200,9\r\n");
  EXPECT_EQ(counts.zones[0].zone, "x");
  EXPECT_THAT(counts.zones[0].nodes, ElementsAre(5, 5, 4, 4));
  const Trace events = Read("time_ms,event,node\n0,add,n1\n60000,add,n2\n60000,remove,n1\n180000,remove,n2\n",
                            {.step_seconds = 60, .name = "z"});
  EXPECT_EQ(events.zones[0].zone, "z");
  EXPECT_THAT(events.zones[0].nodes, ElementsAre(1, 1, 1));
}

TEST(Trace, CarbonIsNamedByItsFile) {
  const char text[] =
      "datetime_utc,direct_gco2eq_per_kwh,lca_gco2eq_per_kwh\n2022-01-01 00:00:00,10,20\n2022-01-01 01:00:00,11.5,20\n";
  const auto trace = ParseTrace(text, "dir/carbon_US-CAL-CISO_2022.csv", {});
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->carbon_region, "US-CAL-CISO");
  EXPECT_THAT(trace->grams_per_kwh, ElementsAre(10, 11.5));
}

TEST(Trace, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(Refused("tick,a\n0,1\n2,1\n"), HasSubstr("x.csv:3: ticks 1 to 1 are missing: fill the gap"));
  EXPECT_THAT(Refused("tick,a\n0,1\n0,1\n"), HasSubstr("x.csv:3: `tick` goes backwards or repeats: sort"));
  EXPECT_THAT(Refused("tick,a\n0,-1\n"), HasSubstr("x.csv:2: `a` is -1, below 0"));
  EXPECT_THAT(Refused("tick,a\n0,1.5\n"), HasSubstr("x.csv:2: 1.5 is no number of nodes"));
  EXPECT_THAT(Refused("tick,a\n0,many\n"), HasSubstr("x.csv:2: `a` is 'many', not a number"));
  EXPECT_THAT(Refused("tick,a\n0,1,2\n"), HasSubstr("x.csv:2: has 3 cells, but the header has 2"));
  EXPECT_THAT(Refused("tick,a\n0,\n1,1\n"), HasSubstr("x.csv:3: has values after an empty cell"));
  EXPECT_THAT(Refused("tick,a,a\n0,1,1\n"), HasSubstr("x.csv:1: a column is named twice"));
  EXPECT_THAT(Refused("tick,a,price_b\n0,1,1\n"), HasSubstr("`price_b` is the price of no column"));
  EXPECT_THAT(Refused("when,a\n0,1\n"),
              HasSubstr("x.csv:1: the columns when,a are of no known trace; known: tick,ZONE"));
  EXPECT_THAT(Refused("tick,a\n"), HasSubstr("x.csv: has no rows"));
  EXPECT_THAT(Refused("tick,a\n0,1\n", {}), HasSubstr("say how many seconds one is, with --step"));
  EXPECT_THAT(Refused("seconds,count\n5,1\n5,2\n"), HasSubstr("x.csv:3: `seconds` goes backwards or repeats"));
  EXPECT_THAT(Refused("time_ms,event,node\n5,add,a\n4,add,b\n"), HasSubstr("x.csv:3: `time_ms` goes backwards"));
  EXPECT_THAT(Refused("time_ms,event,node\n5,remove,a\n"), HasSubstr("x.csv:2: removes a node that is not there"));
  EXPECT_THAT(Refused("time_ms,event,node\n5,joins,a\n"), HasSubstr("x.csv:2: `event` must be add or remove"));
  const std::string head = "datetime_utc,direct_gco2eq_per_kwh,lca_gco2eq_per_kwh\n2022-01-01 05:00:00,1,1\n";
  EXPECT_THAT(Refused(head + "2022-01-01 07:00:00,1,1\n"), HasSubstr("x.csv:3: hours are missing before this one"));
  EXPECT_THAT(Refused(head + "2022-01-01 04:00:00,1,1\n"), HasSubstr("x.csv:3: `datetime_utc` goes backwards"));
  EXPECT_THAT(Refused(head + "tomorrow,1,1\n"), HasSubstr("write it like 2022-01-31 12:00:00"));
}

TEST(Trace, NamesAreOfTheOneSeriesOfAFile) {
  const Trace trace = Read("tick,a,price_a\n0,1,0.5\n", {.step_seconds = 60, .name = "z"});
  EXPECT_EQ(trace.zones[0].zone, "z");
  EXPECT_THAT(trace.zones[0].prices, ElementsAre(0.5));
  EXPECT_THAT(Refused("tick,a,b\n0,1,1\n", {.step_seconds = 60, .name = "z"}),
              HasSubstr("x.csv:1: has 2 zones, so 'z=' cannot name it"));
}

TEST(Trace, WhatIsTooLargeIsRefusedBeforeItTakesMemory) {
  std::string columns = "tick";
  for (size_t c = 0; c < kMaxCsvColumns; ++c) columns += ",";
  EXPECT_THAT(Refused(columns + "\n0\n"), HasSubstr("x.csv: has 2002 columns, more than the 2001 that are read"));
  EXPECT_THAT(Refused("tick,a\n" + std::string(1000, ',') + "\n"), HasSubstr("x.csv:2: has 1001 cells"));
  std::string rows = "tick,a,b,c,d\n";
  for (size_t row = 0; row < kMaxCsvCells / 5 + 1; ++row) rows += "0,1,1,1,1\n";
  EXPECT_THAT(Refused(rows), HasSubstr("cells or more, more than the 8000000 that are read: cut the file"));
  EXPECT_THAT(Refused(std::string(kMaxCsvBytes + 1, '0')), HasSubstr("bytes, more than the 67108864 that are read"));
}

TEST(Trace, MergedTicksHoldWhatAllOfThemHad) {
  const Trace merged = Merge(Read("tick,a,price_a\n0,3,1\n1,2,2\n2,4,1\n3,4,1\n4,1,1\n"), 2);
  EXPECT_THAT(merged.zones[0].nodes, ElementsAre(2, 4));
  EXPECT_THAT(merged.zones[0].prices, ElementsAre(1.5, 1));
  EXPECT_EQ(merged.step_seconds, 120);
}

TEST(Trace, SyntheticOnesComeFromTheirSeedAndCanBeReadBack) {
  const Trace made = SyntheticTrace({.seed = 7, .zones = 2, .nodes = 8, .hours = 48});
  const Trace read = Read(TraceText(made), {.step_seconds = 300});
  ASSERT_EQ(read.zones.size(), 2u);
  EXPECT_EQ(read.zones[1].nodes, made.zones[1].nodes);
  EXPECT_NE(TraceText(made), TraceText(SyntheticTrace({.seed = 8, .zones = 2, .nodes = 8, .hours = 48})));
}

}  // namespace
}  // namespace rekindle::fleet
