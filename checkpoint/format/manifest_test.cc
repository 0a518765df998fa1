// Checks that a written manifest is read back, and that all other texts are refused.
#include "checkpoint/format/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "checkpoint/testing/fuzz_testing.h"
#include "checkpoint/testing/manifest_testing.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;

TEST(ManifestTest, RoundTrip) {
  const Manifest manifest = SomeManifest();
  ASSERT_TRUE(Validate(manifest).ok()) << Validate(manifest);
  const auto decoded = DecodeManifest(EncodeManifest(manifest));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, manifest);
  // Any JSON reader can read a manifest.
  EXPECT_EQ(nlohmann::json::parse(EncodeManifest(manifest))["manifest"]["step"], 1200);
}

TEST(ManifestTest, TheLargestFits) {
  Manifest manifest = SomeManifest();
  const ShardRef ref{.name = manifest.shards[0].name,
                     .bytes = kMaxShardBytes,
                     .xxh3 = manifest.shards[0].xxh3,
                     .generation = 7,
                     .count = kMaxShards};
  manifest.shards.assign(size_t{kMaxShards} * kMaxPlanes, ref);
  for (size_t i = 0; i < manifest.shards.size(); ++i) {
    manifest.shards[i].index = static_cast<int>(i / kMaxPlanes);
    manifest.shards[i].plane = static_cast<int>(i % kMaxPlanes);
  }
  manifest.tensors.clear();
  for (size_t i = 0; i < kMaxTensors; ++i) {
    manifest.tensors.push_back({"transformer.layers." + std::to_string(i) + ".attention.weight", {4096, 1024}});
  }
  ASSERT_TRUE(Validate(manifest).ok()) << Validate(manifest);
  const auto decoded = DecodeManifest(EncodeManifest(manifest));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, manifest);
}

TEST(ManifestTest, EveryFlippedBitAndEveryTruncationIsFound) {
  const std::string text = EncodeManifest(SomeManifest());
  for (size_t at = 0; at < text.size(); ++at) {
    EXPECT_FALSE(DecodeManifest(text.substr(0, at)).ok()) << at;
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_FALSE(DecodeManifest(flipped).ok()) << at << " bit " << bit;
    }
  }
  EXPECT_FALSE(DecodeManifest(text + " ").ok());
  EXPECT_FALSE(DecodeManifest(text + text).ok());
}

TEST(ManifestTest, RefusesWhatDoesNotHoldTogether) {
  const auto refused = [](void (*change)(Manifest&), const char* why) {
    Manifest manifest = SomeManifest();
    change(manifest);
    const absl::Status status = Validate(manifest);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << why;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  };
  refused([](Manifest& m) { m.format = 1; }, "format 1");
  refused([](Manifest& m) { m.job_uid = "../x"; }, "job_uid");
  refused([](Manifest& m) { m.writer = ".hidden"; }, "writer");
  refused([](Manifest& m) { m.writer = std::string(129, 'a'); }, "writer");
  refused([](Manifest& m) { m.generation = -1; }, "generation");
  refused([](Manifest& m) { m.step = -1; }, "step");
  refused([](Manifest& m) { m.shards.clear(); }, "no shard");
  refused([](Manifest& m) { m.shards.pop_back(); }, "5 files of 3 shards");
  refused([](Manifest& m) { m.shards.resize(4); }, "4 files of 3 shards");
  refused([](Manifest& m) { m.shards.resize(3); }, "shard 1: it is plane 1 of index 0");
  refused([](Manifest& m) { std::swap(m.shards[0], m.shards[2]); }, "shard 0: it is plane 0 of index 1");
  refused([](Manifest& m) { m.shards[1] = m.shards[0]; }, "shard 1: it is plane 0 of index 0");
  refused([](Manifest& m) { m.shards[1].count = 2; }, "shard 1: one of 2");
  refused([](Manifest& m) { m.shards[0].count = 0; }, "0 shards");
  refused([](Manifest& m) { m.tensors[1].name = m.tensors[0].name; }, "twice");
  refused([](Manifest& m) { m.tensors[1].name = "a b"; }, "printable");
  refused([](Manifest& m) { m.tensors[1].name = std::string(257, 'x'); }, "printable");
  refused([](Manifest& m) { m.tensors[1].shape = {0}; }, "impossible shape");
  refused([](Manifest& m) { m.tensors[1].shape = {int64_t{1} << 40, int64_t{1} << 40}; }, "impossible shape");
  refused([](Manifest& m) { m.tensors[1].shape = std::vector<int64_t>(9, 1); }, "impossible shape");
  refused([](Manifest& m) { m.tensors.resize(kMaxTensors + 1); }, "tensors");
  refused([](Manifest& m) { m.loss = std::numeric_limits<double>::quiet_NaN(); }, "finite");
  refused([](Manifest& m) { m.shards[2].generation = 6; }, "shard 2: staged in generation 6");
  refused([](Manifest& m) { m.shards[2].name = "../../x.safetensors"; }, "named by its hash");
  refused([](Manifest& m) { m.shards[2].xxh3[0] = 'A'; }, "hex");
  refused([](Manifest& m) { m.shards[2].bytes = kMaxShardBytes + 1; }, "bytes");
  refused([](Manifest& m) { m.shards[2].bytes = 0; }, "bytes");
  refused([](Manifest& m) { m.scalars = "{"; }, "scalars");
  refused([](Manifest& m) { m.scalars = "\"\xff\""; }, "scalars");
  refused([](Manifest& m) { m.scalars = '"' + std::string(kMaxManifestBytes, 'x') + '"'; }, "scalars");
}

TEST(ManifestTest, RefusesUnknownMissingRepeatedAndMistypedFields) {
  const std::string body = BodyOf(SomeManifest());
  ASSERT_TRUE(DecodeManifest(Framed(body)).ok());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = body;
    changed.replace(changed.find(from), from.size(), to);
    return DecodeManifest(Framed(changed)).status();
  };
  EXPECT_THAT(std::string(with(R"("format":2)", R"("format":2,"extra":2)").message()),
              HasSubstr("manifest has an unknown field 'extra'"));
  EXPECT_THAT(std::string(with(R"("plane":1)", R"("plane":1,"tier":1)").message()),
              HasSubstr("shard has an unknown field 'tier'"));
  EXPECT_THAT(std::string(with(R"("format":2)", R"("format":2,"format":2)").message()), HasSubstr("twice"));
  EXPECT_THAT(std::string(with(R"("step":1200,)", "").message()), HasSubstr("manifest.step is missing"));
  EXPECT_THAT(std::string(with(R"("step":1200)", R"("step":"1200")").message()),
              HasSubstr("manifest.step is no number"));
  EXPECT_FALSE(with(R"("step":1200)", R"("step":1200.0)").ok());
  EXPECT_FALSE(with(R"("step":1200)", R"("step":2147483648)").ok());
  EXPECT_FALSE(with(R"("step":1200)", R"("step":-1)").ok());
  EXPECT_FALSE(with(R"("index":0)", R"("index":[[[[[[[[[[0]]]]]]]]]])").ok());
}

TEST(ManifestTest, DeepAndWideTextIsBounded) {
  for (const std::string& body :
       {std::string(1 << 20, '['), "[" + std::string(1 << 20, ',') + "]", "{" + std::string(1 << 20, '{'), [] {
          std::string many = "[0";
          for (int i = 0; i < 1'000'000; ++i) many += ",0";
          return many + "]";
        }()}) {
    const size_t before = AllocatedBytes();
    EXPECT_FALSE(DecodeManifest(Framed(body)).ok());
    EXPECT_LT(AllocatedBytes() - before, size_t{64} << 20);
  }
  EXPECT_FALSE(DecodeManifest(std::string(kMaxManifestBytes + 1, ' ')).ok());
}

TEST(ManifestNameTest, OnlyOneSpelling) {
  EXPECT_EQ(FormatName({3, 40, "w"}), "3-40-w");
  const auto name = ParseName("3-40-a-b.c");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(*name, (ManifestName{3, 40, "a-b.c"}));
  EXPECT_EQ(ParseName("0-0-w")->generation, 0);
  for (const char* bad : {"", "3", "3-40", "3-40-", "03-40-w", "3-040-w", "-3-40-w", "+3-40-w", " 3-40-w", "3-40-w/x",
                          "3-40-..", "3-40-.w", "2147483648-1-w", "99999999999-1-w", "3-4x-w", "3-40-w\n"}) {
    EXPECT_FALSE(ParseName(bad).ok()) << bad;
  }
  EXPECT_LT((ManifestName{3, 40, "z"}), (ManifestName{3, 100, "a"}));
  EXPECT_LT((ManifestName{9, 999, "z"}), (ManifestName{10, 1, "a"}));
  EXPECT_EQ(SafeName("node a/0"), "node_a_0");
  EXPECT_EQ(SafeName("../.."), "writer");
  EXPECT_TRUE(IsSafeName(SafeName(std::string(300, '/') + std::string(300, 'x'))));
}

TEST(ShardRecordTest, RoundTrip) {
  const ShardRef ref = SomeManifest().shards[1];
  const auto record = EncodeShardRef(ref);
  EXPECT_EQ(DecodeShardRef(record.data()).value(), ref);
  EXPECT_EQ(DecodeShardRef(std::array<uint8_t, kShardRecordBytes>{}.data())->count, 0);
}

}  // namespace
}  // namespace rekindle::checkpoint
