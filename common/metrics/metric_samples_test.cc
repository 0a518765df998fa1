#include "common/metrics/metric_samples.h"

#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

TEST(MetricSamples, AFamilyIsTogetherWhateverTheOrder) {
  MetricSamples samples;
  samples.Gauge("rekindle_nodes", "Nodes.", 1, {{"state", "ready"}});
  samples.Counter("rekindle_steps_total", "Steps.", 7);
  samples.Gauge("rekindle_nodes", "", 2, {{"state", "lost"}});
  const auto families = samples.Take();
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].name, "rekindle_nodes");
  EXPECT_EQ(families[0].help, "Nodes.");
  EXPECT_EQ(families[0].type, prometheus::MetricType::Gauge);
  ASSERT_EQ(families[0].metric.size(), 2u);
  EXPECT_EQ(families[0].metric[0].label[0].value, "lost");
  EXPECT_EQ(families[0].metric[0].gauge.value, 2);
  EXPECT_EQ(families[1].type, prometheus::MetricType::Counter);
  EXPECT_EQ(families[1].metric[0].counter.value, 7);
  EXPECT_TRUE(samples.Take().empty());
}

TEST(MetricSamples, TheSameLabelsAreThereOnce) {
  MetricSamples samples;
  samples.Gauge("rekindle_step", "Step.", 1, {{"job_name", "a"}});
  samples.Gauge("rekindle_step", "Step.", 2, {{"job_name", "a"}});
  const auto families = samples.Take();
  ASSERT_EQ(families[0].metric.size(), 1u);
  EXPECT_EQ(families[0].metric[0].gauge.value, 1);
}

}  // namespace
}  // namespace rekindle::common
