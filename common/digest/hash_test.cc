#include "common/digest/hash.h"

#include <gtest/gtest.h>

#include <vector>

namespace rekindle::common {
namespace {

TEST(HashTest, KnownValues) {
  // The expected values are what `xxhsum -H128` prints for an empty text and for "abc".
  EXPECT_EQ(Xxh3_128Hex(std::string_view("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(Xxh3_128Hex(std::string_view("abc")), "06b05ab6733a618578af5f94892f3950");
}

TEST(HashTest, PiecesGiveTheSameAsTheWhole) {
  std::vector<uint8_t> data(1'000'003);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
  const std::string whole = Xxh3_128Hex(data.data(), data.size());
  Hasher hasher;
  for (size_t at = 0; at < data.size();) {
    const size_t n = std::min<size_t>(1 + at % 7919, data.size() - at);
    hasher.Update(data.data() + at, n);
    at += n;
  }
  EXPECT_EQ(hasher.Hex(), whole);
  hasher.Reset();
  hasher.Update(data.data(), data.size());
  EXPECT_EQ(hasher.Hex(), whole);
}

TEST(HashTest, Hex) {
  const std::vector<uint8_t> bytes = {0, 0x1f, 0xff};
  EXPECT_EQ(HexEncode(bytes), "001fff");
  std::vector<uint8_t> out(3);
  EXPECT_TRUE(HexDecode("001fff", out));
  EXPECT_EQ(out, bytes);
  for (const char* bad : {"001ff", "001fff0", "001FFF", "001ffg", ""}) EXPECT_FALSE(HexDecode(bad, out)) << bad;
}

}  // namespace
}  // namespace rekindle::common
