#include "coordinator/bundles/bundle_shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/bundle/bundle_writer.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

common::PackedBundle BundleOf(const std::string& content) {
  common::BundleWriter writer;
  EXPECT_TRUE(writer.Begin({"train.py", false, static_cast<int64_t>(content.size())}).ok());
  EXPECT_TRUE(writer.Content(content).ok());
  return *writer.Finish();
}

class BundleShelfTest : public testing::Test {
 protected:
  BundleShelfTest() { Open(); }

  void Open() {
    shelf_.reset();
    auto shelf = BundleShelf::Open({.folder = folder_.path() + "/bundles",
                                    .max_bytes = max_bytes_,
                                    .max_bundles = max_bundles_,
                                    .space = [this](const std::string&) { return space_; },
                                    .wall = [this] { return now_; }});
    ASSERT_TRUE(shelf.ok()) << shelf.status();
    shelf_ = *std::move(shelf);
  }
  absl::StatusOr<BundleShelf::Progress> Begin(const common::PackedBundle& bundle) {
    return shelf_->Begin(bundle.summary.address, static_cast<int64_t>(bundle.packed.size()), named_);
  }
  absl::StatusOr<BundleShelf::Progress> Append(const common::PackedBundle& bundle, int64_t offset, size_t bytes) {
    return shelf_->Append(bundle.summary.address, static_cast<int64_t>(bundle.packed.size()), offset,
                          bundle.packed.substr(static_cast<size_t>(offset), bytes));
  }
  void Put(const common::PackedBundle& bundle) {
    ASSERT_TRUE(Begin(bundle).ok()) << Begin(bundle).status();
    const auto done = Append(bundle, 0, bundle.packed.size());
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_TRUE(done->complete);
  }

  const common::TemporaryFolder folder_;
  int64_t max_bytes_ = 1 << 20;
  size_t max_bundles_ = 100;
  common::DiskSpace space_ = {.free = 1LL << 40, .total = 1LL << 41};
  double now_ = common::WallSeconds();
  std::set<std::string> named_;
  std::unique_ptr<BundleShelf> shelf_;
};

TEST_F(BundleShelfTest, ABundleArrivesInPiecesAndGoesOnAfterARestart) {
  const common::PackedBundle bundle = BundleOf("some code");
  const auto size = static_cast<int64_t>(bundle.packed.size());
  EXPECT_EQ(Begin(bundle)->have, 0);
  EXPECT_EQ(Append(bundle, 0, 5)->have, 5);
  EXPECT_EQ(Append(bundle, 0, 5)->have, 5) << "a piece that was repeated is not taken twice";
  EXPECT_EQ(Append(bundle, 9, 3)->have, 5) << "nor one that leaves a hole";
  Open();
  EXPECT_FALSE(shelf_->Has(bundle.summary.address));
  EXPECT_EQ(Begin(bundle)->have, 5);
  const auto done = Append(bundle, 5, bundle.packed.size());
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_TRUE(done->complete);
  EXPECT_TRUE(shelf_->Has(bundle.summary.address));
  EXPECT_TRUE(Begin(bundle)->complete);
  Open();
  EXPECT_THAT(*shelf_->Hold(), ElementsAre(bundle.summary.address));
  std::string read;
  while (static_cast<int64_t>(read.size()) < size) {
    const auto piece = shelf_->Read(bundle.summary.address, static_cast<int64_t>(read.size()));
    ASSERT_TRUE(piece.ok()) << piece.status();
    EXPECT_EQ(piece->bytes, size);
    read += piece->data;
  }
  EXPECT_EQ(read, bundle.packed);
  EXPECT_TRUE(shelf_->Read(bundle.summary.address, size)->data.empty());
  EXPECT_TRUE(absl::IsOutOfRange(shelf_->Read(bundle.summary.address, size + 1).status()));
}

TEST_F(BundleShelfTest, OneThatHasArrivedWholeButWasNotCheckedIsSentAnew) {
  const common::PackedBundle bundle = BundleOf("some code");
  std::ofstream(folder_.path() + "/bundles/" + bundle.summary.address + ".part") << bundle.packed;
  Open();
  EXPECT_EQ(Begin(bundle)->have, 0) << "a client that is told to go on at the end could never finish";
  Put(bundle);
  EXPECT_TRUE(shelf_->Has(bundle.summary.address));
}

TEST_F(BundleShelfTest, OneThatIsClaimedForAJobOrHeldForABackupStays) {
  const common::PackedBundle first = BundleOf("first"), second = BundleOf("other"), third = BundleOf("three");
  max_bytes_ = static_cast<int64_t>(first.packed.size() + second.packed.size());
  Open();
  Put(first);
  Put(second);
  now_ += BundleShelf::kUnnamedSeconds + 2;
  EXPECT_TRUE(shelf_->Claim(first.summary.address));
  auto held = shelf_->Hold();
  EXPECT_THAT(*held, testing::SizeIs(2));
  EXPECT_TRUE(absl::IsResourceExhausted(Begin(third).status()));
  shelf_->Hold();
  EXPECT_TRUE(absl::IsResourceExhausted(Begin(third).status())) << "the end of one hold is not that of another";
  held.reset();
  Put(third);
  EXPECT_TRUE(shelf_->Claim(first.summary.address));
  EXPECT_FALSE(shelf_->Claim(second.summary.address));
}

TEST_F(BundleShelfTest, TheirNumberHasAnEnd) {
  max_bundles_ = 2;
  Open();
  Put(BundleOf("1"));
  Put(BundleOf("2"));
  EXPECT_THAT(std::string(Begin(BundleOf("3")).status().message()), HasSubstr("has 2 of at most 2 bundles"));
  now_ += BundleShelf::kUnnamedSeconds + 2;
  Put(BundleOf("3"));
}

TEST_F(BundleShelfTest, OneThatIsNotWhatItsAddressSaysIsNotKept) {
  common::PackedBundle bundle = BundleOf("some code");
  bundle.summary.address = std::string(64, 'a');
  ASSERT_TRUE(Begin(bundle).ok());
  const auto done = Append(bundle, 0, bundle.packed.size());
  EXPECT_TRUE(absl::IsDataLoss(done.status())) << done.status();
  EXPECT_THAT(*shelf_->Hold(), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() + "/bundles"));
  EXPECT_TRUE(absl::IsNotFound(Append(bundle, 0, 1).status()));
}

TEST_F(BundleShelfTest, WhatCannotBeIsRefused) {
  for (const char* address : {"", "../../etc/passwd", "ABC"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(shelf_->Begin(address, 10, {}).status())) << address;
    EXPECT_TRUE(absl::IsInvalidArgument(shelf_->Read(address, 0).status())) << address;
  }
  for (const int64_t bytes : {int64_t{0}, int64_t{-1}, common::kMaxPackedBundleBytes + 1}) {
    EXPECT_TRUE(absl::IsInvalidArgument(shelf_->Begin(std::string(64, 'a'), bytes, {}).status())) << bytes;
  }
  EXPECT_TRUE(absl::IsNotFound(shelf_->Read(std::string(64, 'a'), 0).status()));
  const common::PackedBundle bundle = BundleOf("x");
  ASSERT_TRUE(Begin(bundle).ok());
  const auto beyond =
      shelf_->Append(bundle.summary.address, static_cast<int64_t>(bundle.packed.size()), 0, bundle.packed + "more");
  EXPECT_TRUE(absl::IsInvalidArgument(beyond.status()));
}

TEST_F(BundleShelfTest, TheOldestThatNoJobNamesMakesRoom) {
  const common::PackedBundle first = BundleOf("first"), second = BundleOf("other"), third = BundleOf("three");
  max_bytes_ = static_cast<int64_t>(first.packed.size() + second.packed.size());
  Open();
  Put(first);
  now_ += 1;
  Put(second);
  EXPECT_THAT(std::string(Begin(third).status().message()), HasSubstr("`rekindle rm JOB`"))
      << "a job may be submitted from a young one next";
  now_ += BundleShelf::kUnnamedSeconds + 2;
  named_ = {first.summary.address, second.summary.address};
  EXPECT_TRUE(absl::IsResourceExhausted(Begin(third).status()));
  named_ = {first.summary.address};
  Put(third);
  EXPECT_TRUE(shelf_->Has(first.summary.address));
  EXPECT_FALSE(shelf_->Has(second.summary.address));
}

TEST_F(BundleShelfTest, TheDiskLimitsThemToo) {
  const common::PackedBundle bundle = BundleOf("x");
  space_ = {.free = 100, .total = static_cast<int64_t>(bundle.packed.size()) * 10 - 10};
  EXPECT_THAT(std::string(Begin(bundle).status().message()), HasSubstr("no room for a bundle of 1 MB"));
  space_ = {.free = 1, .total = 1 << 20};
  EXPECT_THAT(std::string(Begin(bundle).status().message()), HasSubstr("disk has no room"));
  space_ = {};
  EXPECT_TRUE(Begin(bundle).ok()) << "a file system need not say how large it is";
}

TEST_F(BundleShelfTest, ABundleIsPlacedInAFolderThatNoCoordinatorHas) {
  const common::PackedBundle bundle = BundleOf("x");
  const std::string data = folder_.path() + "/data";
  EXPECT_TRUE(absl::IsDataLoss(PlaceBundle(data, std::string(64, 'a'), bundle.packed)));
  ASSERT_TRUE(PlaceBundle(data, bundle.summary.address, bundle.packed).ok());
  ASSERT_TRUE(PlaceBundle(data, bundle.summary.address, bundle.packed).ok()) << "again";
  EXPECT_TRUE(std::filesystem::exists(data + "/bundles/" + bundle.summary.address));
}

}  // namespace
}  // namespace rekindle::coordinator
