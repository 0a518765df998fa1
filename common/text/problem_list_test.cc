#include "common/text/problem_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::SizeIs;

TEST(ProblemListTest, FewAreToldOneALine) {
  EXPECT_EQ(ListProblems({}), "");
  EXPECT_EQ(ListProblems({"a"}), "a");
  EXPECT_EQ(ListProblems({"a", "b"}), "a\nb");
  EXPECT_EQ(ListProblems({"a"}, 4), "a\nand 4 more");
}

TEST(ProblemListTest, ManyAreCounted) {
  const std::vector<std::string> many(kMostProblemsTold + 3, "wrong");
  const std::string text = ListProblems(many, 2);
  EXPECT_THAT(text, EndsWith("wrong\nand 5 more"));
  size_t more = 0;
  EXPECT_THAT(SplitProblems(text, &more), SizeIs(kMostProblemsTold));
  EXPECT_EQ(more, 5u);
}

TEST(ProblemListTest, ATextFitsAStatusAlsoWhenItsBytesAreEscaped) {
  std::string umlauts;
  for (int i = 0; i < 250; ++i) umlauts += "\xc3\xa4";
  const std::string text = ListProblems(std::vector<std::string>(10, umlauts), 0, kMostStatusBytes);
  size_t more = 0;
  EXPECT_THAT(SplitProblems(text, &more), SizeIs(3)) << "1500 bytes each when sent";
  EXPECT_EQ(more, 7u);
}

TEST(ProblemListTest, OneThatIsNotALongListIsLeftAsItIs) {
  size_t more = 1;
  EXPECT_THAT(SplitProblems("and then some more", &more), ElementsAre("and then some more"));
  EXPECT_EQ(more, 0u);
}

TEST(ProblemListTest, OneLineIsOneAndShort) {
  EXPECT_EQ(OneLine("a\nb\x1b[31m"), "a?b?[31m");
  EXPECT_EQ(OneLine("123456", 6), "123456");
  EXPECT_EQ(OneLine("1234567", 6), "123...");
  EXPECT_EQ(OneLine("12\xc3\xa4"
                    "4567",
                    6),
            "12...")
      << "no half of a character is left";
}

}  // namespace
}  // namespace rekindle::common
