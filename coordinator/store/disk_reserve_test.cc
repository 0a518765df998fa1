// Tests the coordinator's disk reserve on a folder whose free space the test chooses, and the state store that uses the
// reserve.
#include "coordinator/store/disk_reserve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/store/reserved_store.h"
#include "coordinator/store/testing/memory_store.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kBytes = 1 << 20;

class DiskReserveTest : public testing::Test {
 protected:
  void TearDown() override {
    reserve_.reset();
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }

  // Mounts a small file system. Returns false when this user is not root, as only root can mount.
  bool MountSmall(const char* size) {
    mounted_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, absl::StrCat("size=", size).c_str()) == 0;
    return mounted_;
  }
  DiskReserve& Start() {
    reserve_ =
        std::make_unique<DiskReserve>(DiskReserve::Options{.folder = folder_,
                                                           .bytes = kBytes,
                                                           .space = [this](const std::string&) { return space_; },
                                                           .now = [this] { return now_; }},
                                      &metrics_);
    return *reserve_;
  }
  std::string Path() const { return folder_ + "/reserve"; }
  // Returns how many bytes of the reserve's file are really allocated.
  int64_t Allocated() const {
    struct stat facts = {};
    return stat(Path().c_str(), &facts) == 0 ? facts.st_blocks * 512 : 0;
  }
  std::vector<std::string> Kinds() {
    std::vector<std::string> kinds;
    for (const v1::Event& event : reserve_->TakeEvents()) kinds.push_back(event.kind());
    return kinds;
  }
  double Metric() { return metrics_.Gauge("rekindle_disk_reserve_bytes", "").Value(); }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  bool mounted_ = false;
  common::Metrics metrics_;
  absl::StatusOr<DiskSpace> space_ = DiskSpace{100 * kBytes, 1000 * kBytes};
  double now_ = 1000;
  std::unique_ptr<DiskReserve> reserve_;
};

TEST_F(DiskReserveTest, IsReallyAllocatedGivenOnceAndTakenAgainWhenThereIsRoom) {
  DiskReserve& reserve = Start();
  EXPECT_TRUE(reserve.held());
  EXPECT_GE(Allocated(), kBytes);
  EXPECT_EQ(Metric(), kBytes);
  EXPECT_THAT(Kinds(), ElementsAre());

  EXPECT_TRUE(reserve.Release());
  EXPECT_FALSE(std::filesystem::exists(Path()));
  EXPECT_EQ(Metric(), 0);
  EXPECT_FALSE(reserve.Release()) << "there is nothing more to give";
  EXPECT_THAT(Kinds(), ElementsAre("disk_reserve_used"));

  now_ += DiskReserve::kRetrySeconds / 2;
  reserve.Tend();
  EXPECT_FALSE(reserve.held()) << "too soon";
  now_ += DiskReserve::kRetrySeconds;
  space_->free = 2 * kBytes - 1;
  reserve.Tend();
  EXPECT_FALSE(reserve.held()) << "too little room";
  space_->free = 2 * kBytes;
  reserve.Tend();
  EXPECT_FALSE(reserve.held()) << "it has just looked";
  now_ += DiskReserve::kRetrySeconds;
  reserve.Tend();
  EXPECT_TRUE(reserve.held());
  EXPECT_GE(Allocated(), kBytes);
  EXPECT_EQ(Metric(), kBytes);
  EXPECT_THAT(Kinds(), ElementsAre("disk_reserve_kept"));
}

TEST_F(DiskReserveTest, WhatIsLeftOfAReserveIsMadeWhole) {
  Start();
  for (const int64_t left : {int64_t{0}, kBytes / 3, kBytes, 3 * kBytes}) {
    std::filesystem::resize_file(Path(), 0);
    // The reserve's file consists of holes, as a copied file may.
    std::filesystem::resize_file(Path(), static_cast<uintmax_t>(left));
    EXPECT_TRUE(Start().held());
    EXPECT_GE(Allocated(), kBytes) << left;
    EXPECT_EQ(std::filesystem::file_size(Path()), static_cast<uintmax_t>(kBytes));
  }
}

TEST_F(DiskReserveTest, WhatIsNotItsOwnIsNotTouched) {
  const auto refused = [this] {
    EXPECT_FALSE(Start().held());
    EXPECT_FALSE(reserve_->Release());
    const std::vector<v1::Event> events = reserve_->TakeEvents();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind(), "disk_reserve_missing");
    EXPECT_THAT(events[0].text(), HasSubstr(Path()));
  };
  const std::string text = std::string(3 * kBytes / 2, '\0') + "somebody's";
  std::ofstream(Path()) << text;
  refused();
  std::ifstream file(Path());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);

  std::filesystem::remove(Path());
  std::ofstream(folder_ + "/other") << "";
  std::filesystem::create_symlink(folder_ + "/other", Path());
  refused();
  EXPECT_EQ(std::filesystem::file_size(folder_ + "/other"), 0u);
  std::filesystem::remove(Path());
  std::filesystem::create_hard_link(folder_ + "/other", Path());
  refused();
  EXPECT_EQ(std::filesystem::file_size(folder_ + "/other"), 0u);
  std::filesystem::remove(Path());
  std::filesystem::create_directory(Path());
  refused();
  EXPECT_TRUE(std::filesystem::is_directory(Path()));
}

TEST_F(DiskReserveTest, OnADiskThatIsFullAtStartNothingIsLeftAndItIsTakenLater) {
  if (!MountSmall("1200k")) GTEST_SKIP() << "cannot mount a tmpfs: not root";
  const std::string filler = folder_ + "/filler";
  std::ofstream(filler) << std::string(600'000, 'x');
  EXPECT_FALSE(Start().held());
  EXPECT_FALSE(std::filesystem::exists(Path()));
  EXPECT_THAT(Kinds(), ElementsAre("disk_reserve_missing"));
  std::filesystem::remove(filler);
  now_ += DiskReserve::kRetrySeconds;
  reserve_->Tend();
  EXPECT_TRUE(reserve_->held());
  EXPECT_THAT(Kinds(), ElementsAre("disk_reserve_kept"));
}

TEST_F(DiskReserveTest, NewJobsNeedRoom) {
  DiskReserve& reserve = Start();
  space_ = DiskSpace{51 << 20, 1000 << 20};
  EXPECT_TRUE(reserve.CheckRoomForJobs().ok());
  space_ = DiskSpace{49 << 20, 1000 << 20};
  const absl::Status refused = reserve.CheckRoomForJobs();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr(folder_ + " has 4.9 % free (49 MiB)"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("free some disk space there"));
  space_ = absl::InternalError("cannot look");
  EXPECT_TRUE(reserve.CheckRoomForJobs().ok());
}

TEST_F(DiskReserveTest, RealSpaceIsThatOfTheFileSystem) {
  const auto space = common::SpaceOf(folder_);
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_GT(space->total, space->free);
  EXPECT_GT(space->free, 0);
  EXPECT_FALSE(common::SpaceOf(folder_ + "/none").ok());
}

// The commits of a FullStore fail with the error that `failure` returns, if any.
class FullStore final : public StateStore {
 public:
  explicit FullStore(std::function<absl::Status()> failure) : failure_(std::move(failure)) {}
  absl::StatusOr<int64_t> Commit(const Transaction& transaction) override {
    if (absl::Status failed = failure_(); !failed.ok()) return failed;
    return store_.Commit(transaction);
  }
  absl::StatusOr<std::optional<Entry>> Get(const std::string& key) override { return store_.Get(key); }
  absl::StatusOr<std::vector<Entry>> List(const std::string& prefix) override { return store_.List(prefix); }
  absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) override {
    return store_.Events(after, job, limit);
  }
  absl::StatusOr<int32_t> LastEventRevision() override { return store_.LastEventRevision(); }

 private:
  MemoryStore store_;
  const std::function<absl::Status()> failure_;
};

TEST_F(DiskReserveTest, ACommitThatFindsNoSpaceIsTriedAgainWithTheReserve) {
  DiskReserve& reserve = Start();
  FullStore full([&] { return reserve.held() ? absl::ResourceExhaustedError("full") : absl::OkStatus(); });
  ReservedStore store(&full, &reserve);
  const auto revision = store.Put("a", "1");
  ASSERT_TRUE(revision.ok()) << revision.status();
  EXPECT_EQ((*store.Get("a"))->revision, *revision);
  EXPECT_FALSE(reserve.held());
}

TEST_F(DiskReserveTest, OtherErrorsCostNoReserve) {
  DiskReserve& reserve = Start();
  absl::Status failure = absl::OutOfRangeError("as large as it may be");
  FullStore broken([&] { return failure; });
  ReservedStore store(&broken, &reserve);
  EXPECT_EQ(store.Put("a", "1").status(), failure);
  failure = absl::UnavailableError("no disk");
  EXPECT_EQ(store.Put("a", "1").status(), failure);
  EXPECT_TRUE(reserve.held());
  failure = absl::ResourceExhaustedError("quota");
  EXPECT_EQ(store.Put("a", "1").status(), failure) << "the reserve did not help";
  EXPECT_FALSE(reserve.held());
}

}  // namespace
}  // namespace rekindle::coordinator
