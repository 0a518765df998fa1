#include "common/bundle/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/bundle/bundle_reader.h"
#include "common/bundle/bundle_writer.h"

namespace rekindle::common {
namespace {

using testing::HasSubstr;

PackedBundle Packed(const std::vector<PlainFile>& files) {
  BundleWriter writer;
  for (const PlainFile& file : files) {
    EXPECT_TRUE(writer.Begin({file.name, file.executable, static_cast<int64_t>(file.content.size())}).ok());
    EXPECT_TRUE(writer.Content(file.content).ok());
  }
  absl::StatusOr<PackedBundle> bundle = writer.Finish();
  EXPECT_TRUE(bundle.ok()) << bundle.status();
  return bundle.ok() ? *std::move(bundle) : PackedBundle();
}

// Reads the bundle in pieces of `piece` bytes, and adds its files to `files`.
absl::StatusOr<BundleSummary> Read(const std::string& packed, const std::string& address, size_t piece,
                                   std::vector<PlainFile>* files) {
  BundleReader reader({.begin =
                           [files](const BundleEntry& entry) {
                             files->push_back({entry.name, "", entry.executable});
                             return absl::OkStatus();
                           },
                       .content =
                           [files](std::string_view content) {
                             files->back().content += content;
                             return absl::OkStatus();
                           }});
  for (size_t at = 0; at < packed.size(); at += piece) {
    if (absl::Status taken = reader.Take(std::string_view(packed).substr(at, piece)); !taken.ok()) return taken;
  }
  return reader.Finish(address);
}

absl::Status Parse(const std::string& plain) {
  BundleParser parser({});
  if (absl::Status taken = parser.Take(plain); !taken.ok()) return taken;
  return parser.Finish();
}

std::vector<PlainFile> SomeFiles() {
  return {
      {"a.py", "import b\n"}, {"b/run.sh", "#!/bin/sh\n", true}, {"b/z", ""}, {"data.bin", std::string(300'000, 'x')}};
}

TEST(BundleTest, ComesBackAsItWasInPiecesOfAnySize) {
  const PackedBundle bundle = Packed(SomeFiles());
  EXPECT_EQ(bundle.summary.address, Sha256Hex(PlainBundle(SomeFiles())));
  EXPECT_TRUE(IsBundleAddress(bundle.summary.address));
  for (const size_t piece : {size_t{1}, size_t{7}, bundle.packed.size()}) {
    std::vector<PlainFile> files;
    const auto read = Read(bundle.packed, bundle.summary.address, piece, &files);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->files, 4);
    EXPECT_EQ(PlainBundle(files), PlainBundle(SomeFiles()));
  }
}

TEST(BundleTest, TheAddressDependsOnNamesModesAndBytes) {
  const std::string address = Packed({{"a", "1"}}).summary.address;
  EXPECT_EQ(Packed({{"a", "1"}}).summary.address, address);
  EXPECT_NE(Packed({{"b", "1"}}).summary.address, address);
  EXPECT_NE(Packed({{"a", "2"}}).summary.address, address);
  EXPECT_NE(Packed({{"a", "1", true}}).summary.address, address);
}

TEST(BundleTest, AnyChangedOrMissingByteIsFound) {
  const PackedBundle bundle = Packed({{"a.py", "print('hello')\n"}, {"b.py", "print('there')\n"}});
  for (size_t at = 0; at < bundle.packed.size(); ++at) {
    std::string changed = bundle.packed;
    changed[at] = static_cast<char>(changed[at] ^ 0xff);
    const auto found = CheckPackedBundle(changed, bundle.summary.address);
    EXPECT_FALSE(found.ok()) << "byte " << at;
    EXPECT_FALSE(CheckPackedBundle(bundle.packed.substr(0, at), bundle.summary.address).ok()) << at << " bytes";
  }
  EXPECT_FALSE(CheckPackedBundle(bundle.packed + "x", bundle.summary.address).ok());
  EXPECT_THAT(std::string(CheckPackedBundle(bundle.packed, std::string(64, '0')).status().message()),
              HasSubstr("it should be 000000000000"));
}

TEST(BundleTest, NamesThatLeadOutOfTheFolderAreRefused) {
  for (const char* name :
       {"", "/etc/passwd", "..", "../a", "a/../b", "a/..", "./a", "a//b", "a/", "a\nb", "a\\b", "\xff", ".", "a/./b"}) {
    EXPECT_FALSE(CheckBundleName(name).ok()) << name;
    EXPECT_FALSE(Parse(PlainBundle({{name, "x"}})).ok()) << name;
  }
  EXPECT_FALSE(CheckBundleName(std::string(kMaxBundleNameBytes + 1, 'a')).ok());
  EXPECT_FALSE(CheckBundleName(std::string(256, 'a')).ok());
  EXPECT_FALSE(CheckBundleName(std::string_view("a\0b", 3)).ok()) << "a system call would end the name at the zero";
  std::string deep = "a";
  for (int i = 0; i < kMaxBundleDepth; ++i) deep += "/a";
  EXPECT_FALSE(CheckBundleName(deep).ok());
  for (const char* name : {"a", "..a", "a..", ".hidden/b", "with space", "\xc3\xa9.py"}) {
    EXPECT_TRUE(CheckBundleName(name).ok()) << name;
  }
}

TEST(BundleTest, NamesThatAreTheSamePlaceAreRefused) {
  EXPECT_THAT(std::string(Parse(PlainBundle({{"a", ""}, {"a", ""}})).message()), HasSubstr("twice"));
  EXPECT_THAT(std::string(Parse(PlainBundle({{"b", ""}, {"a", ""}})).message()), HasSubstr("order"));
  EXPECT_THAT(std::string(Parse(PlainBundle({{"A", ""}, {"a", ""}})).message()), HasSubstr("case"));
  EXPECT_THAT(std::string(Parse(PlainBundle({{"A/x", ""}, {"a/y", ""}})).message()), HasSubstr("case"));
  EXPECT_THAT(std::string(Parse(PlainBundle({{"a", ""}, {"a/b", ""}})).message()), HasSubstr("folder"));
  EXPECT_TRUE(Parse(PlainBundle({{"a", ""}, {"a.py", ""}, {"b/x", ""}, {"b/y", ""}})).ok());
}

TEST(BundleTest, NothingButAFileHasAMode) {
  std::string plain = PlainBundle({{"a", "x"}});
  const size_t mode = kBundleMagic.size() + 2 + 1;
  ASSERT_EQ(plain[mode], 0);
  for (const char bad : {2, 8, 127}) {
    plain[mode] = bad;
    EXPECT_THAT(std::string(Parse(plain).message()), HasSubstr("is no file"));
  }
}

TEST(BundleTest, WhatPromisesTooMuchIsRefusedBeforeItsContent) {
  std::string plain = PlainBundle({{"a", "x"}});
  const size_t size = kBundleMagic.size() + 2 + 1 + 1;
  plain[size + 3] = 0x20;  // 512 MB
  EXPECT_THAT(std::string(Parse(plain).message()), HasSubstr("more than 256 MB"));
  plain[size + 7] = '\xff';
  EXPECT_THAT(std::string(Parse(plain).message()), HasSubstr("more than 256 MB"));
  std::vector<PlainFile> many;
  for (int i = 0; i <= kMaxBundleFiles; ++i) many.push_back({absl::StrCat(100'000 + i), ""});
  EXPECT_THAT(std::string(Parse(PlainBundle(many)).message()), HasSubstr("more than 10000 files"));
  many.pop_back();
  EXPECT_TRUE(Parse(PlainBundle(many)).ok());
}

TEST(BundleTest, NamesCannotMakeFoldersWithoutEnd) {
  std::string below;
  for (int i = 2; i < kMaxBundleDepth; ++i) below += "/x";
  std::vector<PlainFile> many;
  for (int i = 0; i <= kMaxBundleFolders / (kMaxBundleDepth - 1); ++i) {
    many.push_back({absl::StrCat(100'000 + i, below, "/f"), ""});
  }
  EXPECT_THAT(std::string(Parse(PlainBundle(many)).message()), HasSubstr("one folder more than the 10000"));
  many.pop_back();
  EXPECT_TRUE(Parse(PlainBundle(many)).ok());
}

TEST(BundleTest, TheWriterKeepsTheLimits) {
  BundleWriter writer;
  EXPECT_TRUE(absl::IsResourceExhausted(writer.Begin({"a", false, kMaxBundleBytes + 1})));
  BundleWriter changed;
  ASSERT_TRUE(changed.Begin({"a", false, 3}).ok());
  ASSERT_TRUE(changed.Content("xy").ok());
  EXPECT_TRUE(absl::IsAborted(changed.Begin({"b", false, 1})));
  EXPECT_TRUE(absl::IsAborted(changed.Finish().status()));
  BundleWriter grown;
  ASSERT_TRUE(grown.Begin({"a", false, 1}).ok());
  EXPECT_TRUE(absl::IsAborted(grown.Content("xy")));
  EXPECT_TRUE(absl::IsInvalidArgument(BundleWriter().Finish().status()));
}

}  // namespace
}  // namespace rekindle::common
