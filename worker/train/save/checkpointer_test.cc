// Tests what a snapshot holds, whatever training does meanwhile, and what happens to snapshots for which the memory
// comes too late.
#include "worker/train/save/checkpointer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <thread>
#include <utility>

#include "checkpoint/client/staged_shards.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "worker/train/testing/host_state.h"
#include "worker/train/testing/memory_checkpoints.h"

namespace rekindle::train {
namespace {

using checkpoint::Manifest;
using checkpoint::MutableState;
using checkpoint::ShardRange;
using testing::HasSubstr;

constexpr double kLong = 30;

// A closed gate stops every thread that passes it until the gate is opened.
class Gate {
 public:
  void Close() { Set(true); }
  void Open() { Set(false); }
  void Pass() {
    common::MutexLock lock(mutex_);
    ++waiting_;
    changed_.NotifyAll();
    changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !closed_; });
    --waiting_;
  }
  void AwaitWaiting() {
    common::MutexLock lock(mutex_);
    changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return waiting_ > 0; });
  }

 private:
  void Set(bool closed) {
    const common::MutexLock lock(mutex_);
    closed_ = closed;
    changed_.NotifyAll();
  }
  common::Mutex mutex_;
  common::CondVar changed_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

// `GatedClient` is a client whose calls a closed gate can stop.
class GatedClient final : public checkpoint::CheckpointClient {
 public:
  explicit GatedClient(std::unique_ptr<CheckpointClient> client) : client_(std::move(client)) {}

  absl::StatusOr<std::unique_ptr<checkpoint::StagedShards>> Stage(const checkpoint::SnapshotKey& snapshot,
                                                                  const std::vector<ShardRange>& ranges) override {
    stage.Pass();
    auto staged = client_->Stage(snapshot, ranges);
    if (!staged.ok()) return staged.status();
    return std::make_unique<Staged>(*std::move(staged), *this, snapshot.memory_only);
  }
  absl::StatusOr<std::string> WriteManifest(Manifest manifest, const checkpoint::JobFile& job_file,
                                            const checkpoint::Retention& retention, double wait_seconds) override {
    if (shards_missing-- > 0) return absl::NotFoundError("a shard of another rank is not there");
    return client_->WriteManifest(std::move(manifest), job_file, retention, wait_seconds);
  }
  absl::Status KeepManifest(Manifest manifest) override { return client_->KeepManifest(std::move(manifest)); }
  absl::Status WriteJobFile(int generation, const std::string& text, double seconds) override {
    return client_->WriteJobFile(generation, text, seconds);
  }
  absl::StatusOr<std::string> ReadJobFile() override { return client_->ReadJobFile(); }
  absl::StatusOr<checkpoint::SearchResult> FindNewest(bool verify) override { return client_->FindNewest(verify); }
  absl::StatusOr<checkpoint::SearchResult> FindNamed(const std::string& name, bool verify) override {
    return client_->FindNamed(name, verify);
  }
  absl::StatusOr<checkpoint::Restored> RestoreShards(int generation, const std::string& name, int64_t total,
                                                     const checkpoint::ReadShard& read) override {
    return client_->RestoreShards(generation, name, total, read);
  }
  absl::StatusOr<checkpoint::ServiceInfo> GetInfo() override { return client_->GetInfo(); }
  void Cancel() override { client_->Cancel(); }

  Gate stage, commit;
  std::atomic<double> held_up_seconds{0};
  // The next `shards_missing` manifests are refused because a shard is missing.
  std::atomic<int> shards_missing{0};

 private:
  class Staged final : public checkpoint::StagedShards {
   public:
    Staged(std::unique_ptr<StagedShards> staged, GatedClient& client, bool memory_only)
        : staged_(std::move(staged)), client_(client), memory_only_(memory_only) {}
    absl::Status Copy(const checkpoint::StateView& state) override { return staged_->Copy(state); }
    absl::Status CopySplit(const NextSplit& next) override { return staged_->CopySplit(next); }
    const std::vector<checkpoint::ShardRef>& refs() const override { return staged_->refs(); }
    absl::Status Commit() override {
      if (!memory_only_) client_.commit.Pass();
      return staged_->Commit();
    }
    double held_up_seconds() const override { return client_.held_up_seconds; }

   private:
    const std::unique_ptr<StagedShards> staged_;
    GatedClient& client_;
    const bool memory_only_;
  };
  const std::unique_ptr<CheckpointClient> client_;
};

class CheckpointerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("REKINDLE_LOG_LEVEL", "error", 0);
    log::Init("checkpointer_test");
  }
  void SetUp() override {
    ParameterLayout layout{.parameters = {{"p", {kTotal}, 0, kTotal, true}}, .total = kTotal};
    state_ = ZeroState(layout);
  }
  // Changes every number of the state, as an optimizer step does.
  void Write(int64_t step) {
    state_.scalars.step = step;
    for (const FloatBuffer* buffer : {&state_.weights, &state_.first_moment, &state_.second_moment}) {
      std::ranges::fill(FloatsOf(*buffer), static_cast<float>(step));
    }
  }
  void Begin() {
    checkpointer_.Begin({.generation = 1, .ranges = checkpoint::CutShards(state_.weights.size(), 1)}, state_);
  }
  void BeginInMemory() {
    checkpointer_.Begin(
        {.generation = 1, .ranges = checkpoint::CutShards(state_.weights.size(), 1), .memory_only = true}, state_);
  }
  // Passes the lists of all copied shards to Collect(), as the exchanges of the next steps do.
  void GatherAll() {
    for (ShardNotes notes = checkpointer_.TakeNotes(); !notes.refs.empty(); notes = checkpointer_.TakeNotes()) {
      checkpointer_.Collect(1, notes);
    }
  }
  void ExpectHolds(const checkpoint::ManifestName& name) {
    const TrainState read = ZeroState({.parameters = {{"p", {kTotal}, 0, kTotal, true}}, .total = kTotal});
    const auto restored = client_.Restore(1, FormatName(name),
                                          {FloatsOf(read.weights).data(), FloatsOf(read.first_moment).data(),
                                           FloatsOf(read.second_moment).data(), kTotal});
    ASSERT_TRUE(restored.ok()) << restored.status();
    for (const FloatBuffer* buffer : {&read.weights, &read.first_moment, &read.second_moment}) {
      for (float value : FloatsOf(*buffer)) ASSERT_EQ(value, static_cast<float>(name.step));
    }
  }
  std::vector<int> SavedSteps() {
    std::vector<int> steps;
    for (const checkpoint::ManifestName& name : store_.Names()) steps.push_back(name.step);
    return steps;
  }

  static constexpr int64_t kTotal = 3 * checkpoint::kBlockElements + 5;
  MemoryCheckpoints store_;
  GatedClient client_{store_.ClientOf("t")};
  TrainState state_;
  std::atomic<bool> has_job_file_{true};
  Checkpointer checkpointer_{
      TestHost(),
      client_,
      {.spec_digest = "d",
       .retention = {.keep_last = 2},
       .tensors = {},
       .job_file = [this] { return checkpoint::JobFile{.text = has_job_file_ ? "of the job" : "", .required = true}; },
       .changed = [](const CheckpointStatus&) {}}};
};

TEST_F(CheckpointerTest, ParametersChangedRightAfterTheHandOverNeverTearASnapshot) {
  for (int64_t step = 1; step <= 100; ++step) {
    Write(step);
    Begin();
    checkpointer_.WaitCopied(kLong);
    // The state changes right after the copy, while the snapshot is still being written.
    Write(-1);
    GatherAll();
    // Only every second step waits for the writes, so the snapshots of two steps are in flight at once.
    if (step % 2 == 0) {
      ASSERT_TRUE(checkpointer_.Drain(kLong));
    }
  }
  ASSERT_TRUE(checkpointer_.Drain(kLong));
  GatherAll();
  ASSERT_TRUE(checkpointer_.Drain(kLong));
  EXPECT_EQ(checkpointer_.Status().failed, 0) << checkpointer_.Status().error;
  const auto names = store_.Names();
  EXPECT_EQ(names.size(), 100u);
  for (const checkpoint::ManifestName& name : names) ExpectHolds(name);
}

TEST_F(CheckpointerTest, TwoAreWrittenAtOnceAndAThirdIsRefused) {
  client_.commit.Close();
  for (int64_t step = 1; step <= 3; ++step) {
    Write(step);
    Begin();
    checkpointer_.WaitCopied(kLong);
    GatherAll();
  }
  EXPECT_EQ(checkpointer_.Status().failed, 1);
  EXPECT_THAT(checkpointer_.Status().error, HasSubstr("still being written"));
  client_.commit.Open();
  ASSERT_TRUE(checkpointer_.Drain(kLong));
  EXPECT_THAT(SavedSteps(), testing::ElementsAre(1, 2));
  for (const checkpoint::ManifestName& name : store_.Names()) ExpectHolds(name);
  EXPECT_GT(checkpointer_.write_rate(), 0);
}

TEST_F(CheckpointerTest, AStoreThatIsSlowHoldsUpNothingThatGoesToMemory) {
  client_.commit.Close();
  Write(1);
  Begin();
  checkpointer_.WaitCopied(kLong);
  GatherAll();
  for (int64_t step = 2; step <= 3; ++step) {
    Write(step);
    BeginInMemory();
    checkpointer_.WaitCopied(kLong);
    // The list of the shards comes when the nodes hold them.
    ShardNotes notes;
    while (notes.refs.empty()) notes = checkpointer_.TakeNotes();
    checkpointer_.Collect(1, notes);
    while (store_.Kept().empty() || store_.Kept().back().step != step) std::this_thread::yield();
    ExpectHolds(store_.Kept().back());
  }
  EXPECT_THAT(SavedSteps(), testing::IsEmpty());
  EXPECT_EQ(checkpointer_.Status().committed.manifest, "");
  client_.commit.Open();
  ASSERT_TRUE(checkpointer_.Drain(kLong));
  EXPECT_THAT(SavedSteps(), testing::ElementsAre(1));
  EXPECT_EQ(checkpointer_.Status().failed, 0);
}

TEST_F(CheckpointerTest, WhatWouldHoldUpTrainingIsNotKeptInMemoryAndThatIsNoFailure) {
  client_.stage.Close();
  Write(1);
  Begin();
  client_.stage.AwaitWaiting();
  Write(2);
  BeginInMemory();
  client_.stage.Open();
  checkpointer_.WaitCopied(kLong);
  ASSERT_TRUE(checkpointer_.Drain(kLong));
  EXPECT_THAT(store_.Kept(), testing::IsEmpty());
  EXPECT_EQ(checkpointer_.Status().failed, 0);
}

// The store was moved away while a checkpoint was being written, so the commit waits for shards. The error of a later
// checkpoint must say this, because taking checkpoints less often would not help.
TEST_F(CheckpointerTest, WhoIsRefusedBehindOneThatWaitsHearsWhatThatLacks) {
  constexpr int kOften = std::numeric_limits<int>::max();
  client_.shards_missing = kOften;
  Write(1);
  Begin();
  checkpointer_.WaitCopied(kLong);
  GatherAll();
  // The loop ends when the client has refused the manifest twice. By then the checkpointer has noted why the client
  // refused it the first time.
  while (client_.shards_missing > kOften - 2) std::this_thread::yield();
  for (int64_t step = 2; step <= 4; ++step) {
    Write(step);
    Begin();
    checkpointer_.WaitCopied(kLong);
    GatherAll();
  }
  EXPECT_THAT(checkpointer_.Status().error, HasSubstr("waits, as a shard of another rank is not there"));
  client_.shards_missing = 0;
  ASSERT_TRUE(checkpointer_.Drain(kLong));
}

// Memory for the first snapshot came when training had already gone on. The snapshot must not copy the present state as
// that of an earlier step.
TEST_F(CheckpointerTest, MemoryThatComesTooLateCostsTheSnapshotAlone) {
  client_.stage.Close();
  Write(1);
  Begin();
  client_.stage.AwaitWaiting();
  EXPECT_GT(checkpointer_.WaitCopied(/*stall_seconds=*/0.001), 0);
  Write(2);
  Begin();
  client_.stage.Open();
  checkpointer_.WaitCopied(kLong);
  Write(-1);
  GatherAll();
  ASSERT_TRUE(checkpointer_.Drain(kLong));
  EXPECT_EQ(checkpointer_.Status().failed, 1);
  EXPECT_THAT(SavedSteps(), testing::ElementsAre(2));
  ExpectHolds(store_.Names().front());
}

TEST_F(CheckpointerTest, TheWriteRateIsWithoutWhatTrainingHeldUp) {
  const auto rate_after = [&](int64_t step) {
    Write(step);
    Begin();
    checkpointer_.WaitCopied(kLong);
    EXPECT_TRUE(checkpointer_.Drain(kLong));
    return checkpointer_.write_rate();
  };
  const double beside_training = rate_after(1);
  // The client says that training held up the write for `kLong`, which is longer than the whole write took.
  client_.held_up_seconds = kLong;
  EXPECT_GT(rate_after(2), 10 * beside_training);
}

TEST_F(CheckpointerTest, AManifestWaitsForShardsOfRanksThatAreHeldUp) {
  client_.shards_missing = 3;
  Write(1);
  Begin();
  checkpointer_.WaitCopied(kLong);
  GatherAll();
  ASSERT_TRUE(checkpointer_.Drain(kLong));
  EXPECT_EQ(checkpointer_.Status().failed, 0) << checkpointer_.Status().error;
  EXPECT_THAT(SavedSteps(), testing::ElementsAre(1));
}

TEST_F(CheckpointerTest, NothingIsSavedBesideNoFileOfTheJob) {
  const auto save = [&](int64_t step) {
    Write(step);
    Begin();
    checkpointer_.WaitCopied(kLong);
    GatherAll();
    ASSERT_TRUE(checkpointer_.Drain(kLong));
  };
  has_job_file_ = false;
  save(1);
  EXPECT_EQ(checkpointer_.Status().failed, 1);
  EXPECT_EQ(checkpointer_.Status().refused_generation, 0) << "no reason to end the generation";
  EXPECT_THAT(SavedSteps(), testing::IsEmpty());
  has_job_file_ = true;
  save(2);
  EXPECT_EQ(store_.job_file(), "of the job");
  has_job_file_ = false;
  save(3);
  EXPECT_THAT(SavedSteps(), testing::ElementsAre(2, 3)) << "what is there will do";
}

}  // namespace
}  // namespace rekindle::train
