#include "common/digest/sha256.h"

#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

// The expected values are those of FIPS 180-2.
TEST(Sha256Test, IsThatOfTheStandard) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256Test, PiecesHaveTheHashOfTheWhole) {
  Sha256Hasher hasher;
  for (const char* piece : {"a", "", "bc"}) hasher.Update(piece);
  EXPECT_EQ(hasher.Hex(), Sha256Hex("abc"));
  EXPECT_EQ(Sha256Hasher().Hex(), Sha256Hex(""));
}

}  // namespace
}  // namespace rekindle::common
