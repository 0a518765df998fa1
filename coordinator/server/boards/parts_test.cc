// Tests each part of the loop on its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/logs/bulletin.h"
#include "coordinator/server/boards/job_board.h"
#include "coordinator/server/boards/journal.h"
#include "coordinator/server/boards/poll_table.h"
#include "coordinator/server/boards/pool_board.h"
#include "coordinator/store/testing/memory_store.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PollTableTest : public testing::Test {
 protected:
  using Table = PollTable<std::string, v1::NodeDirective>;

  void Add(const std::string& key, int known, double deadline, const std::string& name) {
    table_.Add(key, known, deadline, [this, name](absl::StatusOr<v1::NodeDirective> directive) {
      answers_.push_back(name + ":" + (directive.ok() ? std::to_string(directive->revision()) : "error"));
    });
  }
  static Table::Answer Revision(int revision) {
    return [revision](const std::string&, int32_t) {
      v1::NodeDirective directive;
      directive.set_revision(revision);
      return directive;
    };
  }

  Table table_;
  std::vector<std::string> answers_;
};

TEST_F(PollTableTest, AnswersWhenTheRevisionDiffers) {
  Add("a", 1, 10, "a");
  Add("b", 2, 10, "b");
  table_.CheckAll(Revision(1));
  EXPECT_THAT(answers_, ElementsAre("b:1"));
  table_.Check("none", Revision(7));
  table_.Check("a", Revision(7));
  EXPECT_THAT(answers_, ElementsAre("b:1", "a:7"));
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_EQ(table_.NextDeadline(), kForever);
}

TEST_F(PollTableTest, ANewerPollReleasesTheOlder) {
  Add("a", 1, 10, "old");
  Add("a", 1, 20, "new");
  table_.Check("a", Revision(1));
  EXPECT_THAT(answers_, ElementsAre("old:1"));
  EXPECT_EQ(table_.NextDeadline(), 20);
}

TEST_F(PollTableTest, ChecksARange) {
  for (const char* key : {"a1", "a2", "b1"}) Add(key, 1, 10, key);
  table_.CheckFrom(
      "a", [](const std::string& key) { return key[0] == 'a'; }, Revision(2));
  EXPECT_THAT(answers_, ElementsAre("a1:2", "a2:2"));
}

TEST_F(PollTableTest, DeadlinesAnswerWithWhatThereIs) {
  Add("a", 1, 10, "a");
  Add("b", 1, 20, "b");
  table_.Expire(9.9, Revision(1));
  EXPECT_THAT(answers_, IsEmpty());
  table_.Expire(10, Revision(1));
  EXPECT_THAT(answers_, ElementsAre("a:1"));
  table_.AnswerAll(absl::UnavailableError("stop"));
  EXPECT_THAT(answers_, ElementsAre("a:1", "b:error"));
}

TEST(Bulletin, WakesOnceWhenATopicMovesOrTimeIsOver) {
  Bulletin bulletin;
  std::vector<int> woken;
  const auto wake = [&](int id) { return [&woken, id] { woken.push_back(id); }; };
  bulletin.Await(1, {"job", 0, 0, kForever}, wake(1));
  bulletin.Await(2, {"job", 0, 5, kForever}, wake(2));
  bulletin.Await(3, {"other", 0, 0, 7}, wake(3));
  bulletin.Await(4, {"other", 0, 0, kForever}, wake(4));
  bulletin.WakeDue(1);
  EXPECT_THAT(woken, IsEmpty());
  EXPECT_EQ(bulletin.NextDue(), 7);
  bulletin.Publish("job");
  bulletin.WakeDue(1);
  EXPECT_THAT(woken, ElementsAre(1));
  EXPECT_EQ(bulletin.NextDue(), 5);
  bulletin.WakeDue(7);
  EXPECT_THAT(woken, ElementsAre(1, 2, 3));
  bulletin.Wake(4);
  bulletin.Wake(4);
  bulletin.WakeAll();
  EXPECT_THAT(woken, ElementsAre(1, 2, 3, 4));
}

TEST(Bulletin, WhoeverWaitsOnATopicThatIsGoneIsWoken) {
  Bulletin bulletin;
  bulletin.Publish("a");
  bulletin.Publish("a");
  std::vector<int> woken;
  bulletin.Await(1, {"a", 2, 0, kForever}, [&] { woken.push_back(1); });
  bulletin.Await(2, {"b", 0, 0, kForever}, [&] { woken.push_back(2); });
  bulletin.Forget("a");
  EXPECT_THAT(woken, ElementsAre(1));
  EXPECT_EQ(bulletin.Version("a"), 0u);
}

v1::Job MakeJob(const std::string& uid, const std::string& name) {
  v1::Job job;
  job.set_uid(uid);
  job.set_name(name);
  return job;
}

TEST(JobBoard, FindsTheNewestOfAName) {
  JobBoard board;
  board.Set(MakeJob("1", "a"));
  board.Set(MakeJob("2", "b"));
  board.Set(MakeJob("3", "a"));
  board.Set(MakeJob("1", "a"));
  EXPECT_EQ(board.Find("a")->uid(), "3");
  EXPECT_EQ(board.Find("1")->uid(), "1");
  EXPECT_EQ(board.Find("c"), nullptr);
  EXPECT_THAT(board.order(), ElementsAre("1", "2", "3"));
}

core::Effects Saves(const std::string& uid, int generation) {
  core::Effects effects;
  v1::JobRecord& record = effects.save_jobs.emplace_back();
  *record.mutable_job() = MakeJob(uid, uid);
  record.mutable_membership()->set_generation(generation);
  effects.events.emplace_back().set_kind("started");
  return effects;
}

TEST(JobBoard, TheNameOfOneThatIsForgottenIsThatOfTheOneBefore) {
  JobBoard board;
  for (const char* uid : {"1", "2", "3"}) board.Set(MakeJob(uid, "a"));
  board.Forget("3");
  EXPECT_EQ(board.Find("a")->uid(), "2");
  board.Forget("1");
  EXPECT_EQ(board.Find("a")->uid(), "2");
  EXPECT_THAT(board.order(), ElementsAre("2"));
  board.Forget("2");
  EXPECT_EQ(board.Find("a"), nullptr);
  board.Forget("2");
}

TEST(JobBoard, AJobThatHadFailedAndGoesOnHasItsNameAgain) {
  const auto in = [](const char* uid, v1::JobState state) {
    v1::Job job = MakeJob(uid, "a");
    job.mutable_status()->set_state(state);
    return job;
  };
  JobBoard board;
  board.Set(in("1", v1::FAILED));
  board.Set(in("2", v1::CANCELLED));
  EXPECT_EQ(board.Find("a")->uid(), "2");
  board.Set(in("1", v1::PENDING));
  EXPECT_EQ(board.Find("a")->uid(), "1");
  board.Set(in("2", v1::CANCELLED));
  EXPECT_EQ(board.Find("a")->uid(), "1");
  JobBoard restarted;
  restarted.Set(in("1", v1::RUNNING));
  restarted.Set(in("2", v1::CANCELLED));
  EXPECT_EQ(restarted.Find("a")->uid(), "1");
}

TEST(Journal, WhatIsForgottenIsDeletedAfterWhatIsSaved) {
  MemoryStore store;
  Journal journal(&store);
  ASSERT_TRUE(journal.Load().ok());
  core::Effects effects;
  *effects.save_jobs.emplace_back().mutable_job() = MakeJob("1", "a");
  *effects.save_jobs.emplace_back().mutable_job() = MakeJob("2", "b");
  effects.save_nodes.emplace_back().set_name("n1");
  journal.Add(effects, 0);
  ASSERT_TRUE(journal.Commit().ok());
  effects.forget_jobs = {"1", "nobody"};
  effects.forget_nodes = {"n1"};
  journal.Add(effects, 0);
  ASSERT_TRUE(journal.Commit().ok());
  Journal next(&store);
  const auto restored = next.Load();
  ASSERT_TRUE(restored.ok()) << restored.status();
  ASSERT_EQ(restored->jobs.size(), 1u);
  EXPECT_EQ(restored->jobs[0].job().uid(), "2");
  EXPECT_TRUE(restored->nodes.empty());
}

TEST(Journal, KeepsEverythingForAnotherTryWhenTheStoreFails) {
  MemoryStore store;
  Journal journal(&store);
  ASSERT_TRUE(journal.Load().ok());
  journal.Add(Saves("a", 1), 100);
  store.FailCommits(absl::ResourceExhaustedError("full"));
  EXPECT_EQ(journal.Commit().code(), absl::StatusCode::kResourceExhausted);
  journal.Add(Saves("a", 2), 101);
  store.FailCommits(absl::OkStatus());
  ASSERT_TRUE(journal.Commit().ok());
  EXPECT_TRUE(journal.empty());

  Journal next(&store);
  const auto restored = next.Load();
  ASSERT_TRUE(restored.ok());
  ASSERT_EQ(restored->jobs.size(), 1u);
  EXPECT_EQ(restored->jobs[0].membership().generation(), 2);
  EXPECT_EQ(store.Events(0, "", 10)->size(), 2u);
  EXPECT_EQ(store.Events(0, "", 10)->back().at(), 101);
  next.Add(Saves("a", 3), 102);
  EXPECT_TRUE(next.Commit().ok()) << "revisions and event numbers go on";

  journal.Add(Saves("a", 9), 103);
  EXPECT_EQ(journal.Commit().code(), absl::StatusCode::kAborted) << "someone else wrote";
}

TEST(Journal, PoolsAndJobsAreSavedTogether) {
  MemoryStore store;
  Journal journal(&store);
  ASSERT_TRUE(journal.Load().ok());
  core::Effects effects = Saves("a", 1);
  v1::PoolRecord& pool = effects.save_pools.emplace_back();
  pool.set_name("zone/t/spot");
  pool.mutable_never_registered()->set_machines(2);
  pool.add_machines()->set_id("i-1");
  store.FailCommits(absl::ResourceExhaustedError("full"));
  journal.Add(effects, 100);
  EXPECT_FALSE(journal.Commit().ok());
  EXPECT_TRUE(store.List("")->empty());
  store.FailCommits(absl::OkStatus());
  ASSERT_TRUE(journal.Commit().ok());
  Journal next(&store);
  const auto restored = next.Load();
  ASSERT_TRUE(restored.ok());
  EXPECT_EQ(restored->jobs.size(), 1u);
  ASSERT_EQ(restored->pools.size(), 1u);
  EXPECT_EQ(restored->pools[0].SerializeAsString(), pool.SerializeAsString());
}

TEST(PoolBoard, KeepsWhatIsAskedOfPoolsAndWhatTheirProvidersSay) {
  PoolBoard board;
  v1::PoolRecord pool;
  pool.set_name("p");
  pool.mutable_never_registered()->set_machines(3);
  board.Set(pool);
  board.Ordered({.pool = "p", .nodes = 4});
  board.Reported({.pool = "p", .running = 2, .trouble = core::PoolTrouble::kThrottled});
  board.Ordered({.pool = "p", .nodes = 5});
  EXPECT_EQ(board.pools().at("p").never_registered().machines(), 3);
  EXPECT_EQ(board.provided().at("p").nodes_ordered, 5);
  EXPECT_EQ(board.provided().at("p").machines_running, 2);
  EXPECT_EQ(board.provided().at("p").trouble, core::PoolTrouble::kThrottled);
}

TEST(Journal, RemembersRequestsWithinItsBounds) {
  MemoryStore store;
  Journal journal(&store);
  ASSERT_TRUE(journal.Load().ok());
  v1::RequestRecord request;
  for (size_t i = 0; i <= Journal::kRequests; ++i) {
    request.set_id(std::to_string(i));
    request.set_at(static_cast<double>(i));
    journal.Add(request);
  }
  ASSERT_TRUE(journal.Commit().ok());
  Journal next(&store);
  ASSERT_TRUE(next.Load().ok());
  EXPECT_EQ(next.FindRequest("0"), nullptr);
  ASSERT_NE(next.FindRequest("1"), nullptr);
  EXPECT_EQ(next.FindRequest("1")->at(), 1);
  request.set_id("one more");
  next.Add(request);
  EXPECT_EQ(next.FindRequest("1"), nullptr) << "the oldest";
}

TEST(Journal, DamagedRecordsAreNamed) {
  MemoryStore store;
  ASSERT_TRUE(store.Put("job/x", "\xff\xff\xff").ok());
  const absl::Status status = Journal(&store).Load().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("job/x"));
}

}  // namespace
}  // namespace rekindle::coordinator
