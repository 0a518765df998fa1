// Tests the loop alone, with a store in memory and no service: what is answered when, and what is durable by then.
#include "coordinator/server/loop/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "common/agreed/version.h"
#include "common/sync/mutex.h"
#include "coordinator/store/testing/memory_store.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LoopTest : public testing::Test {
 protected:
  void Start() {
    Loop::Options options{.identity = common::NewCluster()};
    options.on_serving = [this](bool serving) {
      const common::MutexLock lock(mutex_);
      serving_.push_back(serving);
    };
    loop_ = std::make_unique<Loop>(&store_, &metrics_, std::move(options));
    ASSERT_TRUE(loop_->Start().ok());
  }
  absl::StatusOr<v1::NodeDirective> Sync(int wait_ms = 0) {
    v1::NodeReport report;
    report.set_node("n");
    report.set_incarnation("folder");
    report.set_agent_incarnation("agent");
    report.set_protocol_version(common::kProtocolVersion);
    report.set_version(common::kVersion);
    report.set_slots(1);
    report.set_checkpoint_incarnation("checkpoint");
    report.set_known_revision(known_);
    report.set_wait_ms(wait_ms);
    std::promise<absl::StatusOr<v1::NodeDirective>> told;
    loop_->inbox().Sync(
        report, [&](absl::StatusOr<v1::NodeDirective> directive) { told.set_value(std::move(directive)); },
        [] { return true; });
    absl::StatusOr<v1::NodeDirective> directive = told.get_future().get();
    if (directive.ok()) known_ = directive->revision();
    return directive;
  }
  absl::StatusOr<std::string> Drain(const std::string& request_id, const std::string& call = "drain") {
    std::promise<absl::StatusOr<std::string>> done;
    loop_->inbox().Apply(
        {.request_id = request_id,
         .call = call,
         .event = [] { return core::Event(core::DrainNode{.node = "n", .reason = "a test"}); },
         .answer = [this] { return absl::StatusOr<std::string>("answer " + std::to_string(++answers_)); },
         .done = [&](absl::StatusOr<std::string> reply) { done.set_value(std::move(reply)); }});
    return done.get_future().get();
  }
  std::vector<bool> Serving() {
    const common::MutexLock lock(mutex_);
    return serving_;
  }

  MemoryStore store_;
  common::Metrics metrics_;
  common::Mutex mutex_;
  std::vector<bool> serving_ ABSL_GUARDED_BY(mutex_);
  int answers_ = 0;
  int known_ = 0;
  std::unique_ptr<Loop> loop_;
};

TEST_F(LoopTest, AChangeIsDurableWhenItIsAnsweredAndARepeatedOneGetsTheFirstAnswer) {
  Start();
  ASSERT_TRUE(Sync().ok());
  const auto first = Drain("id");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*first, "answer 1");
  EXPECT_TRUE(store_.Get("request/id").value().has_value());
  EXPECT_EQ(*Drain("id"), "answer 1");
  EXPECT_EQ(*Drain(""), "answer 2");
  EXPECT_EQ(Drain("id", "another call").status().code(), absl::StatusCode::kInvalidArgument);
  loop_->Stop();
  Start();
  EXPECT_EQ(*Drain("id"), "answer 1") << "a restart forgets nothing";
}

TEST_F(LoopTest, AChangeThatTheCoreRefusesIsAnsweredWithItsError) {
  Start();
  EXPECT_EQ(Drain("").status().code(), absl::StatusCode::kNotFound) << "there is no such node";
}

TEST_F(LoopTest, WhileTheStoreFailsChangesAreRefusedAndWhatMetTheFailureIsKept) {
  Start();
  ASSERT_TRUE(Sync().ok());
  store_.FailCommits(absl::ResourceExhaustedError("disk full"));
  EXPECT_THAT(std::string(Drain("id").status().message()), HasSubstr("ask again with the same request_id"));
  EXPECT_THAT(std::string(Drain("id").status().message()), HasSubstr("the state cannot be saved: disk full"));
  EXPECT_EQ(Sync(/*wait_ms=*/10).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Serving(), ElementsAre(false));
  store_.FailCommits(absl::OkStatus());
  auto answer = Drain("id");
  while (absl::IsUnavailable(answer.status())) answer = Drain("id");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, "answer 1");
  EXPECT_THAT(Serving(), ElementsAre(false, true));
}

TEST_F(LoopTest, AfterAnotherCoordinatorHasTakenOverAllThatIsDoneIsToSaveThat) {
  Start();
  ASSERT_TRUE(Sync().ok());
  std::promise<void> silent;
  loop_->Supersede({{.key = "meta/superseded", .value = "by another"}}, "another decides", [&] { silent.set_value(); });
  silent.get_future().wait();
  EXPECT_TRUE(store_.Get("meta/superseded").value().has_value());
  for (const absl::Status& refused : {Drain("").status(), Sync().status()}) {
    EXPECT_EQ(refused, absl::FailedPreconditionError("another decides"));
  }
}

TEST_F(LoopTest, StoppingAnswersEverybody) {
  Start();
  ASSERT_TRUE(Sync().ok());
  auto poll = std::async(std::launch::async, [&] { return Sync(/*wait_ms=*/30'000); });
  loop_->Stop();
  loop_->Stop();
  EXPECT_EQ(poll.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Drain("").status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace rekindle::coordinator
