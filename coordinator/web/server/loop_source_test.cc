// Tests the source of the web page's data against a whole coordinator.
#include "coordinator/web/server/loop_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator::web {
namespace {

using testing::HasSubstr;

class LoopSourceTest : public ServerFixture {
 protected:
  LoopSource Source() {
    return LoopSource(server_->loop(), [this] { return server_->CarbonIntensities(); });
  }
};

TEST_F(LoopSourceTest, SaysWhatTheServicesSay) {
  Start();
  LoopSource source = Source();
  EXPECT_TRUE(source.Jobs()->empty());
  v1::TrainerReport report;
  RunOne("job", &report);
  ASSERT_TRUE(Submit(JobNamed("other")).ok());
  ASSERT_EQ(source.Jobs()->size(), 2u);
  const auto job = source.FindJob("job");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ((*job)->SerializeAsString(), Get("job")->SerializeAsString());
  EXPECT_EQ((*source.FindJob((*job)->uid()))->name(), "job");
  EXPECT_EQ(source.FindJob("none").status().code(), absl::StatusCode::kNotFound);
  const auto nodes = source.Nodes();
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_EQ(nodes->size(), 1u);
  EXPECT_EQ(nodes->front().name(), "node-a");
  const auto last = source.LastEvent();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_GT(*last, 0);
  EXPECT_EQ(source.Events(*last - 1, "", 10)->size(), 1u);
  EXPECT_EQ(source.Events(0, "other", 10)->front().kind(), "submitted");
  EXPECT_EQ(source.Events(0, "job", 1)->size(), 1u);
}

TEST_F(LoopSourceTest, PoolsHavePricesAndWhatTheirRegionEmits) {
  std::ofstream(folder_ + "/fleet.yaml") << R"(
currency: EUR
pools:
  - {name: cheap, provider: local, capacity: spot, instance_type: a, zone: z, price: 0.5, carbon_region: ES}
  - {name: dear, provider: local, capacity: on_demand, instance_type: a, zone: z, price: 2}
)";
  options_.fleet = folder_ + "/fleet.yaml";
  Start();
  const auto book = Source().Pools();
  ASSERT_TRUE(book.ok()) << book.status();
  EXPECT_EQ(book->currency, "EUR");
  ASSERT_EQ(book->pools.size(), 2u);
  EXPECT_EQ(book->pools[0].name, "cheap");
  EXPECT_EQ(book->pools[0].price, 0.5);
  EXPECT_EQ(book->pools[0].on_demand, 2);
  EXPECT_FALSE(book->pools[0].intensity.has_value());
  EXPECT_FALSE(book->pools[0].ordered);
  EXPECT_EQ(book->pools[1].capacity, "on_demand");
  LoopSource knowing(server_->loop(), [] { return std::map<std::string, double>{{"ES", 180}}; });
  EXPECT_EQ(knowing.Pools()->pools[0].intensity, 180);
}

TEST_F(LoopSourceTest, OneThatHasStoppedSaysSo) {
  Start();
  LoopSource source = Source();
  server_->Stop();
  EXPECT_THAT(std::string(source.Jobs().status().message()), HasSubstr("stopping"));
  EXPECT_EQ(source.FindJob("job").status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace rekindle::coordinator::web
