#include "common/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include "common/agreed/version.h"

namespace rekindle::common {
namespace {

using testing::HasSubstr;

TEST(Metrics, ShowsWhatWasCounted) {
  Metrics metrics;
  metrics.Counter("rekindle_things_total", "Things.", {{"kind", "round"}}).Increment(3);
  metrics.Counter("rekindle_things_total", "Things.", {{"kind", "round"}}).Increment();
  metrics.Gauge("rekindle_level", "Level.").Set(2);
  metrics.Histogram("rekindle_wait_seconds", "Waits.").Observe(0.003);
  const std::string page = metrics.Page();
  EXPECT_THAT(page, HasSubstr("rekindle_things_total{kind=\"round\"} 4"));
  EXPECT_THAT(page, HasSubstr("rekindle_level 2"));
  EXPECT_THAT(page, HasSubstr("rekindle_wait_seconds_bucket{le=\"0.004\"} 1"));
}

TEST(Metrics, SourcesAreAskedForEachPage) {
  Metrics metrics;
  int asked = 0;
  metrics.AddSource([&](MetricSamples& samples) { samples.Gauge("rekindle_asked", "So often.", ++asked); });
  EXPECT_THAT(metrics.Page(), HasSubstr("# TYPE rekindle_asked gauge\nrekindle_asked 1\n"));
  EXPECT_THAT(metrics.Page(), HasSubstr("rekindle_asked 2\n"));
}

TEST(Metrics, SaysWhatItIsBuiltOfAndWhatTheProcessUses) {
  const std::string page = Metrics().Page();
  EXPECT_THAT(page, HasSubstr(std::string("version=\"") + kVersion + "\"} 1"));
  EXPECT_THAT(page, HasSubstr("# TYPE process_cpu_seconds_total counter\n"));
}

TEST(Metrics, ServesThePage) {
  Metrics metrics;
  metrics.Gauge("rekindle_level", "Level.").Set(2);
  const auto address = metrics.Serve("127.0.0.1:0", {});
  ASSERT_TRUE(address.ok()) << address.status();
  httplib::Client client("http://" + *address);
  const auto page = client.Get("/metrics");
  ASSERT_TRUE(page) << httplib::to_string(page.error());
  EXPECT_THAT(page->body, HasSubstr("rekindle_level 2\n"));
  EXPECT_THAT(page->get_header_value("Content-Type"), HasSubstr("version=0.0.4"));
  EXPECT_EQ(client.Get("/")->status, 404);
  metrics.StopServing();
  EXPECT_FALSE(client.Get("/metrics"));
}

TEST(Metrics, RefusesWhatOthersCouldReachAndPortsInUse) {
  Metrics metrics;
  const absl::Status open = metrics.Serve("0.0.0.0:0", {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(open));
  EXPECT_THAT(std::string(open.message()), HasSubstr("--metrics 0.0.0.0:0 would be open to others"));
  EXPECT_TRUE(absl::IsInvalidArgument(metrics.Serve("nonsense", {}).status()));
  const auto address = metrics.Serve("127.0.0.1:0", {});
  ASSERT_TRUE(address.ok()) << address.status();
  Metrics second;
  const auto taken = second.Serve(*address, {});
  EXPECT_TRUE(absl::IsUnavailable(taken.status()));
  EXPECT_THAT(std::string(taken.status().message()), HasSubstr("in use"));
}

}  // namespace
}  // namespace rekindle::common
