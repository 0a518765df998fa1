#include "worker/own_model/child/frozen_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rekindle::own_model {
namespace {

using testing::HasSubstr;

// Plays `count` micro-batches of `seconds` each, and returns when the last one ended.
double Play(FrozenWatch& watch, int count, double seconds, double now) {
  for (int i = 0; i < count; ++i) {
    watch.Begin(now);
    watch.End(now += seconds);
  }
  return now;
}

TEST(FrozenWatch, AStoppedProcessIsFrozenAtOnce) {
  FrozenWatch watch;
  watch.Begin(100);
  EXPECT_EQ(watch.Look({.cpu_seconds = 1}, 100.1), "");
  EXPECT_THAT(watch.Look({.is_stopped = true, .cpu_seconds = 1}, 100.2), HasSubstr("signal"));
}

TEST(FrozenWatch, WhoComputesOrSpeaksIsNotFrozen) {
  FrozenWatch watch;
  watch.Begin(100);
  double cpu = 5;
  for (double now = 100; now < 200; now += 1) EXPECT_EQ(watch.Look({.cpu_seconds = cpu += 0.5}, now), "");
  for (double now = 200; now < 300; now += 1) {
    watch.Heard(now);
    EXPECT_EQ(watch.Look({.cpu_seconds = cpu}, now), "");
  }
  EXPECT_EQ(watch.Look({.cpu_seconds = cpu}, 308.9), "");
  EXPECT_THAT(watch.Look({.cpu_seconds = cpu}, 309), HasSubstr("no processor"));
}

TEST(FrozenWatch, AMicroBatchMayTakeTenTimesTheMedianAndAMinuteInAnyCase) {
  for (const auto& [seconds, limit] : {std::pair{0.5, 60.0}, {20.0, 200.0}}) {
    FrozenWatch watch;
    const double begun = Play(watch, 5, seconds, 100);
    watch.Begin(begun);
    EXPECT_EQ(watch.Look({.cpu_seconds = 1}, begun + limit - 0.1), "") << "it computes";
    EXPECT_THAT(watch.Look({.cpu_seconds = 2}, begun + limit), HasSubstr("micro-batch takes longer"));
  }
}

TEST(FrozenWatch, TheFirstMicroBatchMayCompile) {
  FrozenWatch watch({.first_seconds = 1800});
  watch.Begin(0);
  EXPECT_EQ(watch.Look({.cpu_seconds = 1}, 1799), "");
  EXPECT_THAT(watch.Look({.cpu_seconds = 2}, 1800), HasSubstr("first"));
}

TEST(FrozenWatch, WhoGetsLittleOfTheProcessorComputes) {
  FrozenWatch watch;
  watch.Begin(0);
  // It uses 3 % of a processor, and is looked at five times a second.
  double cpu = 5;
  for (double now = 0; now < 100; now += 0.2) EXPECT_EQ(watch.Look({.cpu_seconds = cpu += 0.006}, now), "") << now;
}

TEST(FrozenWatch, WhatIsNotKnownAnyMoreDoesNotHideWhatIsComputed) {
  FrozenWatch watch;
  watch.Begin(0);
  EXPECT_EQ(watch.Look({.cpu_seconds = 50}, 1), "");
  EXPECT_EQ(watch.Look({.cpu_seconds = 3}, 2), "");
  EXPECT_EQ(watch.Look({.cpu_seconds = 4}, 10.9), "");
  EXPECT_EQ(watch.Look({.cpu_seconds = 4}, 20.8), "");
  EXPECT_NE(watch.Look({.cpu_seconds = 4}, 21), "");
}

TEST(FrozenWatch, WhoOnlyAnswersPingsComputesNothing) {
  FrozenWatch watch;
  watch.Begin(0);
  EXPECT_EQ(watch.Look({.cpu_seconds = 5}, 0), "");
  double cpu = 5;
  std::string found;
  double now = 0;
  while (found.empty() && now < 30) found = watch.Look({.cpu_seconds = cpu += 0.0001}, now += 0.2);
  EXPECT_THAT(found, HasSubstr("no processor"));
  EXPECT_LT(now, 11);
}

TEST(FrozenWatch, AnEvaluationSaysNothingAboutTheFirstTraining) {
  FrozenWatch watch({.first_seconds = 1800});
  double now = 0;
  for (int i = 0; i < 5; ++i) {
    watch.Begin(now, FrozenWatch::Work::kEvaluation);
    watch.End(now += 1);
  }
  watch.Begin(now);
  EXPECT_EQ(watch.Look({.cpu_seconds = 1}, now + 1799), "") << "it compiles";
  watch.End(now += 1799);
  // The long first micro-batch of the training does not make evaluations slow.
  watch.Begin(now, FrozenWatch::Work::kEvaluation);
  EXPECT_EQ(watch.Look({.cpu_seconds = 2}, now + 59), "");
  EXPECT_THAT(watch.Look({.cpu_seconds = 3}, now + 60), HasSubstr("micro-batch takes longer"));
}

TEST(FrozenWatch, ALongFirstMicroBatchIsTold) {
  FrozenWatch watch;
  watch.Begin(100);
  EXPECT_EQ(watch.LongFirst(140.2), "compiling or loading, 40 s");
  watch.End(150);
  watch.Begin(150);
  EXPECT_EQ(watch.LongFirst(190), "");
  watch.Replace();
  EXPECT_EQ(watch.LongFirst(190), "compiling or loading, 40 s");
}

TEST(FrozenWatch, AnotherProcessStartsAnew) {
  FrozenWatch watch({.first_seconds = 1800});
  double now = Play(watch, 3, 1, 0);
  watch.Begin(now);
  EXPECT_EQ(watch.Look({.cpu_seconds = 500}, now), "");
  watch.Replace();
  watch.Begin(now);
  // The processor's time of the new process counts from 0.
  for (double cpu = 0.5; now < 1000; now += 5, cpu += 0.5) EXPECT_EQ(watch.Look({.cpu_seconds = cpu}, now), "");
}

TEST(FrozenWatch, AProcessThatDoesNotAnswerIsAskedOnce) {
  FrozenWatch watch;
  int asked = 0;
  for (double now = 100; now < 400; now += 0.2) asked += watch.Asks(now) ? 1 : 0;
  EXPECT_EQ(asked, 1);
  watch.Answered();
  EXPECT_TRUE(watch.Asks(400));
  watch.Answered();
  EXPECT_FALSE(watch.Asks(400.5));
  EXPECT_TRUE(watch.Asks(401));
  watch.Replace();
  EXPECT_TRUE(watch.Asks(402)) << "another process was not asked";
}

}  // namespace
}  // namespace rekindle::own_model
