// Tests Coordinator.Backup against a whole coordinator: its answers, that only one backup runs at a time, and what is
// left when it ends.
#include "coordinator/server/services/backups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/time/clock.h"
#include "coordinator/restoring/backup_file.h"
#include "coordinator/restoring/restore.h"
#include "coordinator/store/sqlite_store.h"
#include "coordinator/store/testing/memory_store.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr char kBusy[] = "another backup is being made";

class BackupsTest : public ServerFixture {
 protected:
  struct Call {
    explicit Call(v1::Coordinator::Stub& users) {
      SetDeadline(context, 30);
      stream = users.Backup(&context, v1::BackupRequest());
    }
    bool Read() {
      v1::BackupChunk chunk;
      const bool read = stream->Read(&chunk);
      content += chunk.data();
      return read;
    }
    grpc::Status End() {
      while (Read()) {
      }
      return stream->Finish();
    }

    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::BackupChunk>> stream;
    std::string content;
  };

  // Starts a coordinator whose state is larger than what a connection buffers before the client reads.
  void StartWithMuch() {
    std::filesystem::create_directories(options_.data);
    const auto store = SqliteStore::Open(options_.data + "/state.db");
    ASSERT_TRUE(store.ok()) << store.status();
    for (int i = 0; i < 24; ++i) {
      ASSERT_TRUE((*store)->Put(absl::StrCat("much/", i), std::string(1 << 20, static_cast<char>('a' + i))).ok());
    }
    Start();
  }

  // Starts a call of Backup and reads only its first chunk.
  std::unique_ptr<Call> Begin() {
    auto call = std::make_unique<Call>(*users_);
    EXPECT_TRUE(call->Read());
    return call;
  }

  // Calls Backup again and again while it is refused because the previous backup still runs, and expects that the first
  // call that is not refused succeeds.
  void ExpectTheNextWorks() {
    const double end = common::SteadySeconds() + 10;
    for (;;) {
      Call call(*users_);
      const grpc::Status status = call.End();
      if (status.ok()) return;
      ASSERT_THAT(status.error_message(), HasSubstr(kBusy));
      ASSERT_LT(common::SteadySeconds(), end);
    }
  }

  // Returns the files that carry the name of a backup's copy, among the open files of this process and in the data
  // folder.
  std::vector<std::string> Copies() const {
    std::vector<std::string> copies;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string target = std::filesystem::read_symlink(entry.path(), gone);
      if (absl::StrContains(target, options_.data + "/backup.tmp")) copies.push_back(target);
    }
    for (const auto& entry : std::filesystem::directory_iterator(options_.data)) {
      if (absl::StrContains(entry.path().string(), "backup.tmp")) copies.push_back(entry.path());
    }
    return copies;
  }

  absl::StatusOr<Restored> Restore(const std::string& content) {
    std::ofstream(folder_ + "/file", std::ios::trunc) << content;
    return RestoreBackup(folder_ + "/file", folder_ + "/restored");
  }
};

TEST_F(BackupsTest, IsAFileFromWhichTheStateComesBack) {
  Start();
  const auto job = Submit(JobNamed("job"));
  ASSERT_TRUE(job.ok()) << job.status();
  Call call(*users_);
  const grpc::Status status = call.End();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(Copies(), IsEmpty());
  const auto restored = Restore(call.content);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->backup.release, common::kVersion);
  EXPECT_NEAR(static_cast<double>(restored->backup.taken_at), common::WallSeconds(), 60);
  EXPECT_EQ(restored->identity.epoch, 2);
  EXPECT_THAT(restored->jobs, ElementsAre(Pair(v1::PENDING, 1)));
  options_.data = folder_ + "/restored";
  Restart();
  EXPECT_EQ(Get("job")->uid(), job->uid());
}

TEST_F(BackupsTest, OneIsMadeAtATimeAndTheLoopGoesOn) {
  StartWithMuch();
  const auto first = Begin();
  Call second(*users_);
  const grpc::Status refused = second.End();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr(kBusy));
  EXPECT_TRUE(Submit(JobNamed("job")).ok());
  ASSERT_TRUE(first->End().ok());
  Call third(*users_);
  EXPECT_TRUE(third.End().ok()) << "who has its answer may ask again at once";
  EXPECT_THAT(Copies(), IsEmpty());
  const auto restored = Restore(first->content);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_THAT(restored->jobs, IsEmpty()) << "it came later";
}

TEST_F(BackupsTest, ACallerThatGoesAwayFreesTheCopy) {
  StartWithMuch();
  const auto first = Begin();
  EXPECT_THAT(Copies(), ElementsAre(options_.data + "/backup.tmp (deleted)"));
  first->context.TryCancel();
  EXPECT_EQ(first->End().error_code(), grpc::StatusCode::CANCELLED);
  ExpectTheNextWorks();
  EXPECT_THAT(Copies(), IsEmpty());
}

TEST_F(BackupsTest, ACallerThatTakesNothingIsGivenUp) {
  options_.backup_stalled_seconds = 0.1;
  StartWithMuch();
  const auto first = Begin();
  ExpectTheNextWorks();
  EXPECT_EQ(first->End().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_THAT(Copies(), IsEmpty());
}

TEST_F(BackupsTest, EndsWhenTheCoordinatorStops) {
  StartWithMuch();
  const auto first = Begin();
  server_->Stop();
  EXPECT_FALSE(first->End().ok());
  EXPECT_THAT(Copies(), IsEmpty());
}

TEST_F(BackupsTest, WhatADeadCoordinatorLeftIsRemovedAtTheNextStart) {
  std::filesystem::create_directories(options_.data);
  std::ofstream(options_.data + "/backup.tmp") << "half of it";
  std::ofstream(options_.data + "/backup.tmp-journal") << "x";
  Start();
  EXPECT_THAT(Copies(), IsEmpty());
  Call call(*users_);
  EXPECT_TRUE(call.End().ok());
}

TEST_F(BackupsTest, AHalfRestoredFolderIsRefused) {
  std::filesystem::create_directories(options_.data);
  std::ofstream(options_.data + "/state.db.restoring") << "half of it";
  const auto server = CoordinatorServer::Start(options_);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("did not come to its end"));
  EXPECT_FALSE(std::filesystem::exists(options_.data + "/state.db"));
}

TEST_F(BackupsTest, StateThatIsInNoFileHasNone) {
  MemoryStore store;
  options_.store = &store;
  Start();
  Call call(*users_);
  EXPECT_EQ(call.End().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  server_.reset();
}

}  // namespace
}  // namespace rekindle::coordinator
