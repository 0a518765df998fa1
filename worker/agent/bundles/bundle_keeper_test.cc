#include "worker/agent/bundles/bundle_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "common/bundle/bundle_writer.h"
#include "common/bundle/unpack.h"
#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"

namespace rekindle::agent {
namespace {

namespace fs = std::filesystem;

common::PackedBundle BundleOf(const std::string& content) {
  common::BundleWriter writer;
  EXPECT_TRUE(writer.Begin({"train.py", false, static_cast<int64_t>(content.size())}).ok());
  EXPECT_TRUE(writer.Content(content).ok());
  return *writer.Finish();
}

class BundleKeeperTest : public testing::Test {
 protected:
  ~BundleKeeperTest() override {
    keeper_.reset();
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_.path() + "/bundles", error)) {
      common::RemoveUnpacked(entry.path().string()).IgnoreError();
    }
  }

  // Starts a keeper whose coordinator sends the bundle in pieces of 10 bytes, as `answer` changes them.
  using Answer = std::function<absl::StatusOr<v1::GetBundleReply>(v1::GetBundleReply)>;
  void Start(Answer answer = [](v1::GetBundleReply reply) { return reply; }) {
    keeper_ = std::make_unique<BundleKeeper>(
        BundleKeeper::Options{
            .folder = folder_.path(), .spare = 1, .retry = {.first_seconds = 0.001, .longest_seconds = 0.01}},
        &waker_);
    keeper_->Run(
        [this, answer](const v1::GetBundleRequest& request) -> absl::StatusOr<v1::GetBundleReply> {
          ++calls_;
          EXPECT_EQ(request.job_uid(), "uid");
          const common::PackedBundle& bundle = bundles_.at(request.address());
          v1::GetBundleReply reply;
          reply.set_bytes(static_cast<int64_t>(bundle.packed.size()));
          reply.set_data(bundle.packed.substr(static_cast<size_t>(request.offset()), 10));
          return answer(std::move(reply));
        },
        [] {});
  }
  std::string Add(const std::string& content) {
    const common::PackedBundle bundle = BundleOf(content);
    bundles_[bundle.summary.address] = bundle;
    return bundle.summary.address;
  }
  // Waits until the keeper wakes the loop with the bundle.
  bool AwaitReady(const std::string& address) {
    const double end = common::SteadySeconds() + 60;
    while (!keeper_->IsReady(address) && common::SteadySeconds() < end) {
      pollfd wait{.fd = waker_.fd(), .events = POLLIN};
      poll(&wait, 1, 1000);
      waker_.Clear();
    }
    return keeper_->IsReady(address);
  }
  std::string Path(const std::string& address) const { return common::NodeBundleFolder(folder_.path(), address); }

  const common::TemporaryFolder folder_;
  const common::Waker waker_;
  std::map<std::string, common::PackedBundle> bundles_;
  std::atomic<int> calls_{0};
  std::unique_ptr<BundleKeeper> keeper_;
};

TEST_F(BundleKeeperTest, ABundleIsFetchedOnceAndThenThereForLaterAgents) {
  const std::string address = Add("print()\n");
  Start();
  EXPECT_FALSE(keeper_->IsReady(address));
  keeper_->Want({{address, "uid"}});
  ASSERT_TRUE(AwaitReady(address));
  EXPECT_TRUE(fs::exists(Path(address) + "/train.py"));
  const int calls = calls_;
  Start();
  keeper_->Want({{address, "uid"}});
  ASSERT_TRUE(AwaitReady(address));
  EXPECT_EQ(calls_, calls);
}

TEST_F(BundleKeeperTest, ACutGoesOnWhereItWas) {
  const std::string address = Add("print()\n");
  const int pieces = (static_cast<int>(bundles_.at(address).packed.size()) + 9) / 10;
  std::atomic<int> failures{3};
  Start([&failures](v1::GetBundleReply reply) -> absl::StatusOr<v1::GetBundleReply> {
    if (failures-- > 0) return absl::UnavailableError("cut");
    failures = 1;
    return reply;
  });
  keeper_->Want({{address, "uid"}});
  ASSERT_TRUE(AwaitReady(address));
  EXPECT_EQ(calls_, 3 + pieces + (pieces - 1)) << "each piece is fetched once, and a cut is between any two";
}

TEST_F(BundleKeeperTest, WhatIsChangedOnTheWayIsFetchedAnew) {
  const std::string address = Add("print()\n");
  std::atomic<bool> changes{true};
  Start([&changes](v1::GetBundleReply reply) {
    if (changes.exchange(false)) (*reply.mutable_data())[5] ^= 1;
    return reply;
  });
  keeper_->Want({{address, "uid"}});
  ASSERT_TRUE(AwaitReady(address));
  EXPECT_TRUE(common::CheckUnpacked(common::NodeBundleFile(folder_.path(), address), address, Path(address)).ok());
}

TEST_F(BundleKeeperTest, AChangedFolderIsUnpackedAnew) {
  const std::string address = Add("print()\n");
  Start();
  keeper_->Want({{address, "uid"}});
  ASSERT_TRUE(AwaitReady(address));
  keeper_.reset();
  fs::permissions(Path(address), fs::perms::owner_all);
  std::ofstream(Path(address) + "/torch.py") << "evil";
  Start();
  keeper_->Want({{address, "uid"}});
  ASSERT_TRUE(AwaitReady(address));
  EXPECT_FALSE(fs::exists(Path(address) + "/torch.py"));
}

TEST_F(BundleKeeperTest, WhyOneDoesNotComeIsToldAsLongAsItIsWanted) {
  const std::string address = Add("print()\n");
  std::atomic<bool> fails{true};
  Start([this, &fails](v1::GetBundleReply reply) -> absl::StatusOr<v1::GetBundleReply> {
    if (fails && calls_ <= 5) return absl::UnavailableError("the coordinator is away");
    if (fails) return absl::NotFoundError("it is gone\n");
    return reply;
  });
  const auto await_trouble = [&] {
    const double end = common::SteadySeconds() + 60;
    while (keeper_->Trouble(address).empty() && common::SteadySeconds() < end) {
      pollfd wait{.fd = waker_.fd(), .events = POLLIN};
      poll(&wait, 1, 1000);
      waker_.Clear();
    }
    return keeper_->Trouble(address);
  };
  EXPECT_EQ(keeper_->Trouble(address), "");
  keeper_->Want({{address, "uid"}});
  EXPECT_EQ(await_trouble(), "it is gone?");
  EXPECT_GE(calls_, 7) << "one failure may be a cut, and the coordinator may be away";
  keeper_->Want({});
  EXPECT_EQ(keeper_->Trouble(address), "");
  keeper_->Want({{address, "uid"}});
  EXPECT_EQ(await_trouble(), "it is gone?");
  fails = false;
  ASSERT_TRUE(AwaitReady(address));
  EXPECT_EQ(keeper_->Trouble(address), "");
}

TEST_F(BundleKeeperTest, OfThoseThatNoJobNeedsAFewStay) {
  std::vector<std::string> all = {Add("1"), Add("2"), Add("3")};
  Start();
  for (const std::string& address : all) {
    keeper_->Want({{address, "uid"}});
    ASSERT_TRUE(AwaitReady(address));
  }
  // The bundles are looked through before one is fetched, and then one that is not needed is spare.
  int there = 0;
  for (const std::string& address : all) there += fs::exists(Path(address)) ? 1 : 0;
  EXPECT_EQ(there, 2);
  EXPECT_TRUE(fs::exists(Path(all.back())));
}

}  // namespace
}  // namespace rekindle::agent
