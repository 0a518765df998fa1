#include "common/metrics/process_metrics.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "common/time/clock.h"

namespace rekindle::common {
namespace {

std::map<std::string, double> Now() {
  MetricSamples samples;
  AddProcessMetrics(samples);
  std::map<std::string, double> values;
  for (const prometheus::MetricFamily& family : samples.Take()) {
    const bool counts = family.type == prometheus::MetricType::Counter;
    values[family.name] = counts ? family.metric[0].counter.value : family.metric[0].gauge.value;
  }
  return values;
}

TEST(ProcessMetrics, AreThoseOfThisProcess) {
  auto before = Now();
  EXPECT_EQ(before.size(), 6u);
  const double until = SteadySeconds() + 60;
  while (Now()["process_cpu_seconds_total"] < before["process_cpu_seconds_total"] + 0.05 && SteadySeconds() < until) {
  }
  const int more = open("/dev/null", O_RDONLY | O_CLOEXEC);
  auto after = Now();
  close(more);
  EXPECT_GE(after["process_cpu_seconds_total"], before["process_cpu_seconds_total"] + 0.05);
  EXPECT_EQ(after["process_open_fds"], before["process_open_fds"] + 1);
  EXPECT_GT(after["process_max_fds"], after["process_open_fds"]);
  EXPECT_GT(after["process_resident_memory_bytes"], 1 << 20);
  EXPECT_GT(after["process_virtual_memory_bytes"], after["process_resident_memory_bytes"]);
  EXPECT_NEAR(after["process_start_time_seconds"], WallSeconds(), 300);
  EXPECT_EQ(after["process_start_time_seconds"], before["process_start_time_seconds"]);
}

}  // namespace
}  // namespace rekindle::common
