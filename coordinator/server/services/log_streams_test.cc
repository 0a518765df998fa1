// Tests that lines of logs get from nodes to users, also through a coordinator that is restarted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/time/clock.h"
#include "coordinator/testing/log_testing.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

constexpr char kTrainer[] = "node-a/0/x";

class LogStreamsTest : public ServerFixture {
 protected:
  // Submits a job of one worker, which gets a slot on node-a, and returns its uid.
  std::string Submitted(const std::string& name) {
    v1::Job one = JobNamed(name);
    one.mutable_spec()->mutable_workers()->set_max(1);
    const auto job = Submit(one);
    EXPECT_TRUE(job.ok()) << job.status();
    v1::NodeReport node = AgentReport("node-a");
    node.set_slots(4);
    EXPECT_TRUE(Sync(node).ok());
    return job.ok() ? job->uid() : "";
  }
  static v1::LogReport Report(const std::vector<v1::LogPiece>& pieces, const std::string& node = "node-a") {
    v1::LogReport report;
    report.set_node(node);
    report.set_incarnation("folder-1");
    for (const v1::LogPiece& piece : pieces) *report.add_pieces() = piece;
    return report;
  }
  absl::StatusOr<v1::LogReply> Keep(const v1::LogReport& report) {
    grpc::ClientContext context;
    SetDeadline(context);
    return Checked<v1::LogReply>([&](v1::LogReply* reply) { return nodes_->KeepLines(&context, report, reply); });
  }
  v1::LogPosition KeepOne(const v1::LogPiece& piece) {
    const auto reply = Keep(Report({piece}));
    EXPECT_TRUE(reply.ok()) << reply.status();
    if (!reply.ok() || reply->positions_size() != 1) return {};
    process_ = reply->process();
    return reply->positions(0);
  }
  absl::StatusOr<std::vector<std::string>> Read(const v1::ReadLogRequest& request) {
    grpc::ClientContext context;
    SetDeadline(context, 20);
    auto stream = users_->ReadLog(&context, request);
    std::vector<std::string> lines;
    for (v1::LogLines page; stream->Read(&page);) {
      log_ = page.log();
      for (const v1::LogLine& line : page.lines()) lines.push_back(Text(line));
    }
    const grpc::Status status = stream->Finish();
    if (!status.ok()) return common::StatusFromGrpc(status);
    return lines;
  }
  std::vector<std::string> Lines(const std::string& job, bool follow = false, int tail = 0) {
    v1::ReadLogRequest request;
    request.set_job(job);
    request.set_follow(follow);
    request.set_tail(tail);
    const auto lines = Read(request);
    EXPECT_TRUE(lines.ok()) << lines.status();
    return lines.value_or(std::vector<std::string>());
  }
  static bool Soon(const std::function<bool()>& holds) {
    const double until = common::SteadySeconds() + 20;
    while (!holds()) {
      if (common::SteadySeconds() > until) return false;
    }
    return true;
  }
  bool HasFolder(const std::string& uid) { return std::filesystem::exists(folder_ + "/data/logs/" + uid); }

  std::string process_;
  std::string log_;
};

TEST_F(LogStreamsTest, LinesAreThereOnceAfterRestartsAlsoOfAJobThatIsOver) {
  Start();
  const std::string uid = Submitted("job");
  EXPECT_EQ(KeepOne(Piece(kTrainer, 0, {}, uid)).end(), 0);
  EXPECT_EQ(KeepOne(Piece(kTrainer, 0, {"one", "two"}, uid)).end(), 8);
  EXPECT_EQ(KeepOne(Piece(kTrainer, 0, {"one", "two"}, uid)).end(), 8);
  const std::string process = process_;
  EXPECT_NE(process, "");
  ASSERT_TRUE(Cancel("job").ok());
  Restart();
  EXPECT_THAT(Lines("job"), ElementsAre("one", "two"));
  EXPECT_EQ(KeepOne(Piece(kTrainer, 0, {}, uid)).end(), 8);
  EXPECT_NE(process_, process);
  EXPECT_TRUE(KeepOne(Last(Piece(kTrainer, 8, {"three"}, uid))).last());
  EXPECT_THAT(Lines("job", false, 2), ElementsAre("two", "three"));
  EXPECT_THAT(Lines(uid, /*follow=*/true), ElementsAre("one", "two", "three")) << "ends after the job's end";
  v1::ReadLogRequest request;
  request.set_job("job");
  request.set_log(log_);
  request.set_after(2);
  const auto rest = Read(request);
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_THAT(*rest, ElementsAre("three"));
}

TEST_F(LogStreamsTest, AFollowerGetsLinesAsTheyCome) {
  Start();
  const std::string uid = Submitted("job");
  grpc::ClientContext context;
  SetDeadline(context, 20);
  v1::ReadLogRequest request;
  request.set_job("job");
  request.set_follow(true);
  auto stream = users_->ReadLog(&context, request);
  v1::LogLines page;
  for (int i = 0; i < 3; ++i) {
    KeepOne(Piece(kTrainer, 2 * i, {std::to_string(i)}, uid));
    ASSERT_TRUE(stream->Read(&page));
    ASSERT_EQ(page.lines_size(), 1);
    EXPECT_EQ(page.lines(0).text(), std::to_string(i));
    EXPECT_EQ(page.lines(0).number(), i + 1);
    EXPECT_GT(page.lines(0).at(), 1e9);
  }
  server_->Stop();
  EXPECT_FALSE(stream->Read(&page));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(LogStreamsTest, ANodeWritesIntoTheLogsOfItsOwnTrainersAlone) {
  Start();
  const std::string uid = Submitted("job");
  EXPECT_TRUE(KeepOne(Piece(kTrainer, 0, {"x"}, "unknown")).not_welcome());
  EXPECT_TRUE(KeepOne(Piece(kTrainer, 0, {"x"}, "job")).not_welcome()) << "a name is no uid";
  EXPECT_TRUE(KeepOne(Piece("node-b/0/x", 0, {"x"}, uid)).not_welcome());
  const auto mixed = Keep(Report({Piece("node-b/0/x", 0, {"evil"}, uid), Piece(kTrainer, 0, {"own"}, uid)}));
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  ASSERT_EQ(mixed->positions_size(), 2);
  EXPECT_TRUE(mixed->positions(0).not_welcome());
  EXPECT_EQ(mixed->positions(1).end(), 4);
  EXPECT_THAT(Lines("job"), ElementsAre("own"));
  EXPECT_FALSE(HasFolder("unknown"));
}

TEST_F(LogStreamsTest, ANodeWritesIntoTheLogsOfJobsThatRunThereAlone) {
  Start();
  const std::string uid = Submitted("job");
  const auto from = [&](const std::string& node, const std::string& trainer) {
    const auto reply = Keep(Report({Piece(trainer, 0, {"of " + trainer}, uid)}, node));
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() && reply->positions_size() == 1 ? reply->positions(0) : v1::LogPosition();
  };
  EXPECT_TRUE(from("node-b", "node-b/0/x").not_welcome()) << "nothing of it runs there";
  ASSERT_TRUE(Sync(AgentReport("node-b")).ok());
  EXPECT_TRUE(from("node-b", "node-b/0/x").not_welcome()) << "nor when the node is known";
  EXPECT_FALSE(from("node-a", "node-a/0/x").not_welcome());
  ASSERT_TRUE(Cancel("job").ok());
  EXPECT_FALSE(from("node-a", "node-a/0/y").not_welcome()) << "the last lines come after the end";
  Restart();
  EXPECT_EQ(KeepOne(Last(Piece("node-a/0/x", 14, {"more"}, uid))).last(), true) << "whose lines are there already";
  EXPECT_TRUE(from("node-b", "node-b/0/x").not_welcome());
  EXPECT_THAT(Lines("job"), ElementsAre("of node-a/0/x", "of node-a/0/y", "more"));
}

TEST_F(LogStreamsTest, WhatIsNoReportIsRefused) {
  Start();
  const std::string uid = Submitted("job");
  EXPECT_TRUE(absl::IsInvalidArgument(Keep(Report({Piece(kTrainer, 0, {"x"}, uid)}, "")).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Keep(Report({Piece(kTrainer, 0, {"x"}, "../../etc")})).status()));
  const std::vector<v1::LogPiece> many(LogStreams::kMaxPieces + 1, Piece(kTrainer, 0, {}, uid));
  EXPECT_TRUE(absl::IsInvalidArgument(Keep(Report(many)).status()));
  v1::LogReport foreign = Report({Piece(kTrainer, 0, {"x"}, uid)});
  common::ToMessage({.cluster = std::string(32, 'a'), .epoch = 1, .epoch_tag = 1}, foreign.mutable_obeys());
  EXPECT_TRUE(absl::IsFailedPrecondition(Keep(foreign).status()));
  v1::ReadLogRequest request;
  request.set_job("none");
  EXPECT_TRUE(absl::IsNotFound(Read(request).status()));
  EXPECT_THAT(Lines("job"), IsEmpty());
}

TEST_F(LogStreamsTest, AForgottenJobTakesItsLogWithItAlsoWhereThatHadNoTime) {
  Start();
  const std::string uid = Submitted("job");
  const std::string kept = Submitted("kept");
  for (const std::string& job : {uid, kept}) KeepOne(Piece(kTrainer, 0, {"one"}, job));
  ASSERT_TRUE(HasFolder(uid));
  std::filesystem::copy(folder_ + "/data/logs/" + uid, folder_ + "/aside");
  ASSERT_TRUE(Cancel("job").ok());
  grpc::ClientContext context;
  SetDeadline(context);
  v1::JobRequest request;
  request.set_job("job");
  v1::ForgetJobReply reply;
  ASSERT_TRUE(users_->ForgetJob(&context, request, &reply).ok());
  EXPECT_TRUE(Soon([&] { return !HasFolder(uid); }));
  EXPECT_TRUE(KeepOne(Piece(kTrainer, 0, {"one"}, uid)).not_welcome());
  server_.reset();
  // The test puts the folder of the forgotten job's log back, as a crash just after ForgetJob may leave it.
  std::filesystem::rename(folder_ + "/aside", folder_ + "/data/logs/" + uid);
  Start();
  EXPECT_TRUE(Soon([&] { return !HasFolder(uid); }));
  EXPECT_THAT(Lines("kept"), ElementsAre("one"));
}

TEST_F(LogStreamsTest, WhereANodeIsLostTheLogSaysSo) {
  options_.tunables.node_lost_seconds = 0.3;
  Start();
  const std::string uid = Submitted("job");
  v1::NodeReport node = AgentReport("node-a");
  ASSERT_TRUE(Sync(node).ok());
  KeepOne(Piece(kTrainer, 0, {"one"}, uid));
  const auto is_told = [&] { return Lines("job").back() == "<LOST_WITH_NODE>"; };
  EXPECT_TRUE(Soon(is_told));
  ASSERT_TRUE(Cancel("job").ok());
  // The machine of node-a starts again with an empty disk. The log must still say that lines were lost.
  node.set_incarnation("folder-2");
  ASSERT_TRUE(Sync(node).ok());
  EXPECT_TRUE(Soon(is_told));
  Restart();
  EXPECT_TRUE(Soon(is_told));
  EXPECT_THAT(Lines("job"), ElementsAre("one", "<LOST_WITH_NODE>"));
}

TEST_F(LogStreamsTest, TheLimitsOfItsFlagsHold) {
  options_.job_log_bytes = options_.log_bytes = 1 << 20;
  Start();
  const std::string uid = Submitted("job");
  const std::vector<std::string> lines(100, std::string(1023, 'x'));
  int64_t at = 0;
  for (int i = 0; i < 20; ++i) at = KeepOne(Piece(kTrainer, at, lines, uid)).end();
  EXPECT_EQ(at, 20 * 100 * 1024);
  int64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_ + "/data/logs/" + uid)) {
    bytes += static_cast<int64_t>(file.file_size());
  }
  EXPECT_LE(bytes, 1 << 20);
  const std::vector<std::string> kept = Lines("job");
  EXPECT_THAT(kept[0], StartsWith("<NOT_KEPT 1"));
  EXPECT_GT(kept.size(), 500u);
}

TEST_F(LogStreamsTest, MoreLinesThanOnePageArriveInOrder) {
  Start();
  const std::string uid = Submitted("job");
  int64_t at = 0;
  int number = 0;
  for (int i = 0; i < 30; ++i) {
    std::vector<std::string> lines;
    for (int j = 0; j < 1000; ++j) lines.push_back(std::to_string(number++));
    at = KeepOne(Piece(kTrainer, at, lines, uid)).end();
  }
  const std::vector<std::string> lines = Lines("job");
  ASSERT_EQ(lines.size(), static_cast<size_t>(number));
  for (int i = 0; i < number; ++i) ASSERT_EQ(lines[static_cast<size_t>(i)], std::to_string(i));
}

}  // namespace
}  // namespace rekindle::coordinator
