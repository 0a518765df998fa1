#include "common/text/nearest.h"

#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

TEST(Nearest, FindsTheNameThatWasMeant) {
  const std::vector<std::string> known = {"constant", "cosine", "linear"};
  EXPECT_EQ(Nearest("cosin", known), "cosine");
  EXPECT_EQ(Nearest("consatnt", known), "constant");
  EXPECT_EQ(Nearest("zzzzzzzzz", known), "");
  EXPECT_EQ(Nearest("", known), "");
  EXPECT_EQ(Nearest(std::string(1000, 'c'), known), "");
  EXPECT_EQ(Nearest("x", {}), "");
}

TEST(Nearest, CountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

}  // namespace
}  // namespace rekindle::common
