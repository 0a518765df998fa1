// Tests a whole coordinator on a machine whose clock is set, or that sleeps.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "common/time/clock.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

constexpr double kHour = 3600, kPrice = 2;

class ClocksTest : public ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    options_.fleet = folder_ + "/fleet.yaml";
    std::ofstream(options_.fleet) << "pools: [{name: rack, provider: local, zone: z, capacity: spot, price: " << kPrice
                                  << "}]\n";
    options_.clocks.boot = [this] { return common::BootSeconds() + slept_; };
    options_.clocks.wall = [this] { return common::WallSeconds() + slept_ + set_; };
    options_.tunables.evaluation_seconds = 0;
    Start();
    const v1::TrainerDirective run = RunOne("job", &trainer_);
    EXPECT_TRUE(run.has_membership());
    node_ = AgentReport("node-a");
    node_.set_pool("rack");
    v1::TrainerProcess* process = node_.add_trainers();
    process->set_trainer(trainer_.trainer());
    process->set_job_uid(trainer_.job_uid());
    process->set_running(true);
  }
  // Returns what the job has spent. The node and the trainer report first, so that the coordinator looks at its clocks.
  double Spent() {
    EXPECT_TRUE(Sync(node_).ok());
    trainer_.set_sequence(trainer_.sequence() + 1);
    EXPECT_TRUE(Sync(trainer_).ok());
    const auto job = Get("job");
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? job->status().cost().spent() : 0;
  }
  std::string StateOfTheNode() {
    grpc::ClientContext context;
    SetDeadline(context);
    const auto nodes = Checked<v1::ListNodesReply>(
        [&](v1::ListNodesReply* reply) { return users_->ListNodes(&context, v1::ListNodesRequest(), reply); });
    EXPECT_TRUE(nodes.ok()) << nodes.status();
    return nodes.ok() && nodes->nodes_size() == 1 ? nodes->nodes(0).state() : "";
  }

  std::atomic<double> slept_ = 0, set_ = 0;
  v1::TrainerReport trainer_;
  v1::NodeReport node_;
};

// `kLittle` is more money, in the currency of the prices, than the job spends in the seconds that a test takes.
constexpr double kLittle = 0.01;

TEST_F(ClocksTest, AClockThatIsSetChargesNothingAndTimesFollowIt) {
  EXPECT_NEAR(Spent(), 0, kLittle);
  set_ = 2 * kHour;
  EXPECT_NEAR(Spent(), 0, kLittle);
  set_ = -3 * kHour;
  EXPECT_NEAR(Spent(), 0, kLittle);
  EXPECT_EQ(StateOfTheNode(), "ready");
  const auto job = Cancel("job");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_NEAR(job->status().finished_at(), common::WallSeconds() - 3 * kHour, 60);
}

TEST_F(ClocksTest, AMachineThatSleptIsChargedForOnceAndFindsNobodySilent) {
  EXPECT_NEAR(Spent(), 0, kLittle);
  slept_ = kHour;
  EXPECT_NEAR(Spent(), kPrice, kLittle);
  EXPECT_NEAR(Spent(), kPrice, kLittle);
  EXPECT_EQ(StateOfTheNode(), "ready");
  EXPECT_EQ(Get("job")->status().state(), v1::RUNNING);
  slept_ = 1.5 * kHour;
  // While the machine sleeps for another half hour, its clock is set back by an hour.
  set_ = -1 * kHour;
  EXPECT_NEAR(Spent(), 1.5 * kPrice, kLittle);
}

}  // namespace
}  // namespace rekindle::coordinator
