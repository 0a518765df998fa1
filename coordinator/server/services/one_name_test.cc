// Tests a whole coordinator with two agents whose nodes have the same name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;
using testing::Not;

class OneNameTest : public ServerFixture {
 protected:
  // Sends the report again and again until `done` returns true for the answer, and returns the last answer.
  template <typename Done>
  v1::NodeDirective SyncUntil(v1::NodeReport& report, Done done) {
    for (int i = 0; i < 200; ++i) {
      const auto directive = Sync(report);
      EXPECT_TRUE(directive.ok()) << directive.status();
      if (!directive.ok() || done(*directive)) return directive.value_or(v1::NodeDirective());
      report.set_known_revision(directive->revision());
      report.set_wait_ms(2000);
    }
    ADD_FAILURE() << "no such answer";
    return {};
  }
  v1::NodeReport OtherMachine() {
    v1::NodeReport report = AgentReport("node-a");
    report.set_incarnation("folder-2");
    report.set_agent_incarnation("agent-2");
    return report;
  }
};

TEST_F(OneNameTest, TheSecondWaitsAndTheFirstIsTold) {
  Start();
  ASSERT_TRUE(Submit(JobNamed("job")).ok());
  v1::NodeReport first = AgentReport("node-a");
  const auto before = Sync(first);
  ASSERT_TRUE(before.ok());
  ASSERT_EQ(before->trainers_size(), 1);
  auto told = std::async(std::launch::async, [&] {
    return SyncUntil(first, [](const v1::NodeDirective& d) { return !d.name_claimed().empty(); });
  });
  v1::NodeReport second = OtherMachine();
  const auto undecided = Sync(second);
  ASSERT_TRUE(undecided.ok());
  EXPECT_EQ(undecided->revision(), 0) << "what it was told before stands: nothing";
  const auto refused = SyncUntil(second, [](const v1::NodeDirective& d) { return !d.name_in_use().empty(); });
  EXPECT_THAT(refused.name_in_use(), HasSubstr("at 127.0.0.1"));
  EXPECT_EQ(refused.trainers_size(), 0);
  const v1::NodeDirective still = told.get();
  EXPECT_THAT(still.name_claimed(), HasSubstr("at 127.0.0.1"));
  EXPECT_EQ(still.trainers_size(), 1) << "what runs there goes on";
  // The second agent claims in its report that it calls from an address which it has made up. The coordinator's answer
  // must not name that address.
  second.set_heard_at("10.9.8.7");
  second.set_known_revision(0);
  second.set_wait_ms(0);
  EXPECT_THAT(Sync(second)->name_in_use(), Not(HasSubstr("10.9.8.7")));
}

TEST_F(OneNameTest, WhoHungUpLosesTheNameAtOnce) {
  options_.tunables.name_seconds = 3600;
  options_.tunables.node_lost_seconds = 3600;
  options_.tunables.unanswered_seconds = 3600;
  Start();
  ASSERT_TRUE(Submit(JobNamed("job")).ok());
  ASSERT_TRUE(Sync(AgentReport("node-a")).ok());
  v1::NodeReport second = OtherMachine();
  const v1::NodeDirective taken = SyncUntil(second, [](const v1::NodeDirective& d) { return d.trainers_size() > 0; });
  EXPECT_EQ(taken.trainers_size(), 1);
}

}  // namespace
}  // namespace rekindle::coordinator
