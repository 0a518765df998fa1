// Tests rekindle-worker with interruption notices that are heard, withdrawn, past their time or acknowledged, and with
// a metadata service that hangs.
#include <httplib.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/testing/http_testing.h"
#include "worker/agent/init/init.h"
#include "worker/agent/testing/agent_fixture.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;

class AgentNoticeTest : public AgentTest {
 protected:
  void SetUp() override {
    AgentTest::SetUp();
    file_ = dir_ + ".notice";
  }
  void TearDown() override {
    AgentTest::TearDown();
    std::filesystem::remove(file_);
  }
  // Replaces the operator's notice file atomically, as an operator should.
  void WriteNotice(const std::string& text) const {
    std::ofstream(file_ + ".new") << text << "\n";
    std::filesystem::rename(file_ + ".new", file_);
  }
  std::vector<std::string> ByFile() const { return {"--notices", "file", "--notice-file", file_}; }

  std::string file_;
};

TEST_F(AgentNoticeTest, ANoticeDrainsUntilItIsWithdrawn) {
  Want("steady");
  StartInit(ByFile());
  WaitRunning();
  WriteNotice("90s the rack is moved");
  const auto draining = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.draining(); });
  ASSERT_TRUE(draining.has_value());
  EXPECT_THAT(draining->drain_reason(), HasSubstr("s notice from file: the rack is moved"));
  EXPECT_GT(draining->drain_within_seconds(), 60);
  EXPECT_LE(draining->drain_within_seconds(), 90);
  EXPECT_NE(Running(*draining), nullptr);
  std::filesystem::remove(file_);
  const auto withdrawn = coordinator_.WaitFor([](const v1::NodeReport& r) { return !r.draining(); });
  ASSERT_TRUE(withdrawn.has_value());
  EXPECT_NE(Running(*withdrawn), nullptr);
  EXPECT_EQ(withdrawn->drain_reason(), "");
  // A node whose notice was withdrawn works on as any other, so a newly wanted job is started.
  v1::NodeDirective directive;
  *directive.add_trainers() = Desired("other");
  coordinator_.Direct(directive);
  EXPECT_TRUE(
      coordinator_.WaitFor([](const v1::NodeReport& r) { return Running(r) && Running(r)->job_uid() == "uid-other"; })
          .has_value());
}

TEST_F(AgentNoticeTest, ANewAgentDoesNotTakeBackWhatTheLastOneTold) {
  Want("steady");
  WriteNotice("no time is known");
  StartInit(ByFile());
  const auto first = coordinator_.WaitFor(0, [](const v1::NodeReport&) { return true; });
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(first->draining());
  // The notice does not say when the machine is taken away, so the drain has no limit, which is reported as 0.
  EXPECT_EQ(first->drain_within_seconds(), 0);
  ASSERT_TRUE(AgentProcess().SendSignal(SIGKILL).ok());
  const auto again = coordinator_.WaitFor(
      [&](const v1::NodeReport& r) { return r.agent_incarnation() != first->agent_incarnation(); });
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->draining());
}

TEST_F(AgentNoticeTest, ANoticeOutOfTimeStopsTheTrainers) {
  Want("steady");
  StartInit(ByFile());
  WaitRunning();
  const common::ProcessIdentity trainer = Record().process;
  WriteNotice("1s");
  EXPECT_EQ(worker_->Wait(), 0);
  EXPECT_FALSE(trainer.Alive());
}

TEST_F(AgentNoticeTest, WrongUseIsNotTriedAgain) {
  StartInit({"--notices", "aws", "--notice-endpoint", "aws=http://example.com"});
  EXPECT_EQ(worker_->Wait(), kExitWrongUse);
}

// A fake metadata service reports a scheduled event of Azure for one machine.
TEST_F(AgentNoticeTest, AzureIsToldWhenTheDrainIsDoneAndNotBefore) {
  httplib::Server azure;
  std::atomic<int> acknowledged = 0;
  azure.Get("/metadata/instance/compute/name",
            [](const httplib::Request&, httplib::Response& response) { response.set_content("vm1", "text/plain"); });
  const std::string soon =
      absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", absl::Now() + absl::Seconds(200), absl::UTCTimeZone());
  azure.Get("/metadata/scheduledevents", [soon](const httplib::Request&, httplib::Response& response) {
    const std::string text = R"({"DocumentIncarnation": 1, "Events": [{"EventId": "A1", "EventType": "Terminate",
        "EventStatus": "Started", "Resources": ["vm2"], "NotBefore": ""}, {"EventId": "A2", "EventType": "Redeploy",
        "EventStatus": "Scheduled", "Resources": ["vm1"], "NotBefore": ")";
    response.set_content(text + soon + R"("}]})", "application/json");
  });
  azure.Post("/metadata/scheduledevents", [&](const httplib::Request& request, httplib::Response&) {
    if (request.body == R"({"StartRequests":[{"EventId":"A2"}]})") ++acknowledged;
  });
  const int port = azure.bind_to_any_port("127.0.0.1");
  std::thread server([&] { azure.listen_after_bind(); });
  StartInit({"--notices", "azure", "--notice-endpoint", absl::StrCat("azure=http://127.0.0.1:", port)});
  const auto draining = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.draining(); });
  EXPECT_THAT(draining ? draining->drain_reason() : "none", HasSubstr("azure: scheduled event (Redeploy)"));
  EXPECT_EQ(acknowledged, 0);
  v1::NodeDirective directive;
  directive.set_drained(true);
  coordinator_.Direct(directive);
  EXPECT_EQ(worker_->Wait(), 0);
  EXPECT_EQ(acknowledged, 1);
  azure.stop();
  server.join();
}

TEST_F(AgentNoticeTest, AMetadataServiceThatHangsCostsNothing) {
  const common::Listening mute = common::ListenOnLoopback();
  Want("steady");
  const std::vector<std::string> hangs = {"--notices", "aws,file",          "--notice-file",
                                          file_,       "--notice-endpoint", absl::StrCat("aws=", mute.endpoint)};
  StartInit(hangs);
  WaitRunning();
  WriteNotice("90s heard all the same");
  const auto draining = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.draining(); });
  ASSERT_TRUE(draining.has_value());
  EXPECT_THAT(draining->drain_reason(), HasSubstr("heard all the same"));
}

}  // namespace
}  // namespace rekindle::agent
