// Tests that what the coordinator has answered is still there after its machine lost power between any two operations
// on its disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "coordinator/store/sqlite_store.h"
#include "coordinator/store/testing/power_loss_disk.h"
#include "coordinator/store/testing/power_loss_vfs.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

// SQLite's write-ahead log gets so few pages that, during the requests, it is copied into the database's file and begun
// again.
constexpr int kLogPages = 12;
constexpr uint64_t kDrawn = 2;

class ConfirmedTest : public ServerFixture {
 protected:
  // Holds what the clients of the coordinator were told.
  struct Told {
    // The key of `uids` is the name of the job, which is also the id of its request.
    std::map<std::string, std::string> uids;
    v1::TrainerReport trainer;
    // `membership` is the membership in which the trainer was told to train.
    v1::Membership membership;
    // `cancelled` says that a client has cancelled the job named b, and was told so.
    bool cancelled = false;
  };

  void OpenStore() {
    auto store = SqliteStore::Open("state.db", {.vfs = vfs_->name(), .log_pages = kLogPages});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    options_.store = store_.get();
  }
  void NewDisk() {
    StopAll();
    vfs_.reset();
    disk_ = std::make_unique<PowerLossDisk>();
    vfs_ = std::make_unique<PowerLossVfs>(disk_.get());
    OpenStore();
    Start();
  }
  void LosePower(uint64_t kept) {
    StopAll();
    disk_->Crash(kept);
    OpenStore();
    if (!HasFatalFailure()) Start();
  }
  void StopAll() {
    server_.reset();
    store_.reset();
  }
  void TearDown() override {
    StopAll();
    ServerFixture::TearDown();
  }

  // Makes one request after the other until one is not answered. Returns whether all of them were answered.
  bool Ask(Told* told) {
    for (const char* name : {"a", "b"}) {
      const auto job = Submit(JobNamed(name), name);
      if (!job.ok()) return false;
      told->uids[name] = job->uid();
    }
    const auto node = Sync(AgentReport("node-a"));
    if (!node.ok() || node->trainers_size() != 1) return false;
    told->trainer = TrainerReportFor(node->trainers(0), "node-a");
    v1::TrainerReport& report = told->trainer;
    while (told->membership.generation() == 0) {
      const auto directive = Sync(report);
      if (!directive.ok()) return false;
      if (directive->action() == v1::TrainerDirective::RUN) told->membership = directive->membership();
      report.set_sequence(report.sequence() + 1);
      report.set_known_revision(directive->revision());
      report.set_wait_ms(500);
    }
    if (!Cancel("b", "cancel-b").ok()) return false;
    told->cancelled = true;
    return true;
  }

  void ExpectKept(const Told& told) {
    for (const auto& [name, uid] : told.uids) {
      const auto job = Get(name);
      ASSERT_TRUE(job.ok()) << name << ": " << job.status();
      EXPECT_EQ(job->uid(), uid);
      const auto again = Submit(JobNamed(name), name);
      ASSERT_TRUE(again.ok()) << "the same request: " << again.status();
      EXPECT_EQ(again->uid(), uid);
    }
    if (told.membership.generation() > 0) {
      EXPECT_GE(Get("a")->status().generation(), told.membership.generation());
      const auto renewed = Renew(told.trainer, told.membership);
      ASSERT_TRUE(renewed.ok()) << renewed.status();
      EXPECT_TRUE(*renewed) << "the trainer was told of that generation, and goes on in it";
    }
    if (told.cancelled) {
      EXPECT_EQ(Get("b")->status().state(), v1::CANCELLED);
    }
    EXPECT_TRUE(Submit(JobNamed("later"), "later").ok());
  }

  std::unique_ptr<PowerLossDisk> disk_;
  std::unique_ptr<PowerLossVfs> vfs_;
  std::unique_ptr<SqliteStore> store_;
};

TEST_F(ConfirmedTest, WhateverWasAnsweredIsThereAfterALossOfPower) {
  const char* given = std::getenv("REKINDLE_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  int losses = 0;
  bool all_answered = false;
  for (int64_t at = 0; !all_answered; ++at) {
    for (uint64_t drawn = 0; drawn < 1 + kDrawn; ++drawn) {
      const uint64_t kept =
          drawn == 0 ? 0 : 2 + (seed * 1'000'003 + static_cast<uint64_t>(at) * 1009 + drawn) % (1ULL << 40);
      SCOPED_TRACE(absl::StrCat("REKINDLE_SEED=", seed, ", operation ", at, ", what is kept: ", kept));
      NewDisk();
      if (HasFatalFailure()) return;
      disk_->LosePowerAt(static_cast<int64_t>(disk_->operations().size()) + at);
      Told told;
      const bool all = Ask(&told);
      all_answered = all && !disk_->lost();
      losses += disk_->lost() ? 1 : 0;
      const bool changes = disk_->lost() && PowerLossDisk::Changes(disk_->operations().back());
      LosePower(kept);
      if (HasFatalFailure()) return;
      ExpectKept(told);
      if (HasFailure()) return;
      // Each round of the inner loop lets the disk keep another part of what was not synced. If power was lost at an
      // operation that changes nothing, no new outcomes are possible, so one round is enough.
      if (!changes) break;
    }
  }
  EXPECT_GT(losses, 20);
  std::printf("%d losses of power\n", losses);
}

}  // namespace
}  // namespace rekindle::coordinator
