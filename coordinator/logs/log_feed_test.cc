#include "coordinator/logs/log_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coordinator/testing/log_testing.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kA[] = "n1/0/aaaa";
constexpr char kB[] = "n2/0/bbbb";

class LogFeedTest : public LogTest {
 protected:
  void SetUp() override {
    LogTest::SetUp();
    auto store = LogStore::Open({.folder = folder_ + "/logs", .wall = [this] { return wall_; }});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    nodes_["n1"] = nodes_["n2"] = {"folder", false};
  }
  void Keep(const v1::LogPiece& piece) {
    store_->Keep(piece, "folder");
    bulletin_.Publish("job");
  }
  LogFeed Feed(bool follow = false, int tail = 0) {
    v1::ReadLogRequest request;
    request.set_follow(follow);
    request.set_tail(tail);
    return LogFeed("job", request);
  }
  // Pulls all lines and notes that there are now, and stores in `ended_` whether the feed has ended.
  std::vector<std::string> Pull(LogFeed& feed) {
    std::vector<std::string> all;
    for (;;) {
      const LogFeed::Pulled pulled =
          feed.Pull(*store_, bulletin_, {std::make_shared<const LogNodes>(nodes_), is_over_, now_, wall_});
      for (const v1::LogLine& line : pulled.lines.lines()) {
        all.push_back(Text(line));
        last_ = line;
      }
      log_ = pulled.lines.log();
      ended_ = !pulled.more;
      if (ended_ || pulled.lines.lines().empty()) return all;
    }
  }

  double now_ = 100;
  double wall_ = 1e9;
  bool is_over_ = false;
  bool ended_ = false;
  v1::LogLine last_;
  std::string log_;
  LogNodes nodes_;
  Bulletin bulletin_;
  std::unique_ptr<LogStore> store_;
};

TEST_F(LogFeedTest, EndsWithWhatThereIsUnlessItFollows) {
  LogFeed empty = Feed();
  EXPECT_THAT(Pull(empty), IsEmpty());
  EXPECT_TRUE(ended_);
  LogFeed follow = Feed(/*follow=*/true);
  EXPECT_THAT(Pull(follow), IsEmpty());
  EXPECT_FALSE(ended_);
  Keep(Piece(kA, 0, {"one", "two"}));
  EXPECT_THAT(Pull(follow), ElementsAre("one", "two"));
  LogFeed all = Feed();
  EXPECT_THAT(Pull(all), ElementsAre("one", "two"));
  EXPECT_TRUE(ended_);
  LogFeed tail = Feed(false, 1);
  EXPECT_THAT(Pull(tail), ElementsAre("two"));
}

TEST_F(LogFeedTest, GoesOnWhereAnotherCallWasCutOff) {
  Keep(Piece(kA, 0, {"one", "two", "three"}));
  LogFeed first = Feed();
  Pull(first);
  v1::ReadLogRequest request;
  request.set_log(log_);
  request.set_after(2);
  request.set_tail(1000);
  LogFeed second("job", request);
  EXPECT_THAT(Pull(second), ElementsAre("three"));
  request.set_after(1e300);
  LogFeed beyond("job", request);
  EXPECT_THAT(Pull(beyond), IsEmpty()) << "a power cut took what was read: it comes again, and is not shown twice";
  for (const double none : {std::nan(""), -1e300}) {
    request.set_after(none);
    LogFeed from_first("job", request);
    EXPECT_THAT(Pull(from_first), ElementsAre("one", "two", "three")) << none;
  }
}

TEST_F(LogFeedTest, SaysWhereLinesWereLostWithTheirNode) {
  Keep(Piece(kA, 0, {"a1"}));
  Keep(Piece(kB, 0, {"b1"}));
  wall_ += 5;
  Keep(Piece(kA, 3, {"a2"}));
  nodes_["n2"].is_lost = true;
  LogFeed feed = Feed();
  EXPECT_THAT(Pull(feed), ElementsAre("a1", "b1", "<LOST_WITH_NODE>", "a2"));
  LogFeed tail = Feed(false, 2);
  EXPECT_THAT(Pull(tail), ElementsAre("b1", "<LOST_WITH_NODE>", "a2"));
  nodes_["n2"] = {"another folder", false};
  LogFeed replaced = Feed();
  EXPECT_THAT(Pull(replaced), ElementsAre("a1", "b1", "<LOST_WITH_NODE>", "a2"))
      << "the machine came back as a new one";
  nodes_.erase("n2");
  LogFeed forgotten = Feed();
  EXPECT_THAT(Pull(forgotten), ElementsAre("a1", "b1", "<LOST_WITH_NODE>", "a2"));
  nodes_["n2"] = {"folder", false};
  LogFeed back = Feed();
  EXPECT_THAT(Pull(back), ElementsAre("a1", "b1", "a2")) << "it was cut off only, and sends what is missing";
}

TEST_F(LogFeedTest, WhoSaidThatThereIsNoMoreHasLostNothing) {
  Keep(Last(Piece(kB, 0, {"b1"})));
  nodes_.erase("n2");
  LogFeed feed = Feed();
  EXPECT_THAT(Pull(feed), ElementsAre("b1"));
}

TEST_F(LogFeedTest, AFollowerHearsOfALossOnceAndOfLinesThatCameBack) {
  LogFeed feed = Feed(/*follow=*/true);
  Keep(Piece(kB, 0, {"b1"}));
  EXPECT_THAT(Pull(feed), ElementsAre("b1"));
  nodes_["n2"].is_lost = true;
  EXPECT_THAT(Pull(feed), ElementsAre("<LOST_WITH_NODE>"));
  EXPECT_EQ(last_.trainer(), kB);
  EXPECT_EQ(last_.gap().after(), wall_);
  EXPECT_THAT(Pull(feed), IsEmpty());
  nodes_["n2"].is_lost = false;
  Keep(Piece(kB, 3, {"b2"}));
  EXPECT_THAT(Pull(feed), ElementsAre("b2"));
  nodes_["n2"].is_lost = true;
  EXPECT_THAT(Pull(feed), ElementsAre("<LOST_WITH_NODE>"));
}

TEST_F(LogFeedTest, AFollowerThatWasCutOffHearsOfWhatWasLostMeanwhile) {
  Keep(Piece(kA, 0, {"a1"}));
  Keep(Piece(kB, 0, {"b1"}));
  LogFeed first = Feed();
  Pull(first);
  v1::ReadLogRequest request;
  request.set_follow(true);
  request.set_log(log_);
  request.set_after(2);
  nodes_["n2"].is_lost = true;
  LogFeed again("job", request);
  EXPECT_THAT(Pull(again), ElementsAre("<LOST_WITH_NODE>"));
}

TEST_F(LogFeedTest, FollowingEndsWhenTheJobIsOverAndAllHaveSaidTheirLast) {
  Keep(Piece(kA, 0, {"a1"}));
  Keep(Piece(kB, 0, {"b1"}));
  LogFeed feed = Feed(/*follow=*/true);
  Pull(feed);
  is_over_ = true;
  Pull(feed);
  now_ += LogFeed::kTrailingSeconds + 1;
  Keep(Last(Piece(kA, 3, {"a2"})));
  EXPECT_THAT(Pull(feed), ElementsAre("a2"));
  EXPECT_FALSE(ended_);
  now_ += LogFeed::kTrailingSeconds + 1;
  EXPECT_THAT(Pull(feed), IsEmpty());
  EXPECT_FALSE(ended_) << "the node of the other one is there, and has not sent all";
  Keep(Last(Piece(kB, 3, {"b2"})));
  EXPECT_THAT(Pull(feed), ElementsAre("b2"));
  now_ += LogFeed::kTrailingSeconds + 1;
  Pull(feed);
  EXPECT_TRUE(ended_);
}

TEST_F(LogFeedTest, FollowingWaitsForNobodyForLong) {
  Keep(Piece(kA, 0, {"a1"}));
  LogFeed feed = Feed(/*follow=*/true);
  is_over_ = true;
  Pull(feed);
  EXPECT_FALSE(ended_);
  now_ += LogFeed::kLongestTrailing + 1;
  Pull(feed);
  EXPECT_TRUE(ended_);
}

TEST_F(LogFeedTest, PagesAreBounded) {
  const std::string line(4000, 'x');
  for (int i = 0; i < 200; ++i) Keep(Piece(kA, i * 4001, {line}));
  LogFeed feed = Feed();
  size_t pages = 0;
  size_t lines = 0;
  for (bool more = true; more; ++pages) {
    const LogFeed::Pulled pulled =
        feed.Pull(*store_, bulletin_, {std::make_shared<const LogNodes>(nodes_), false, now_, wall_});
    EXPECT_LE(pulled.lines.ByteSizeLong(), 2 * kLogPageBytes);
    lines += pulled.lines.lines_size();
    more = pulled.more;
  }
  EXPECT_EQ(lines, 200u);
  EXPECT_GT(pages, 2u);
}

}  // namespace
}  // namespace rekindle::coordinator
