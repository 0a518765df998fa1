#include "worker/user_code/scrubber.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rekindle::user_code {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

TEST(Scrubber, ValuesAreReplacedByTheirNames) {
  const Scrubber scrubber(Values{{"TOKEN", "hf_12345678"}, {"MODE", "off"}});
  EXPECT_EQ(scrubber.Scrub("401 for hf_12345678, hf_12345678!"), "401 for [TOKEN], [TOKEN]!");
  EXPECT_EQ(scrubber.Scrub("offline is off"), "offline is off") << "short values would be found in words";
  EXPECT_EQ(Scrubber().Scrub("hf_12345678"), "hf_12345678");
}

TEST(Scrubber, ValuesAreFoundAsJsonAndPythonWriteThem) {
  const Scrubber scrubber(Values{{"KEY", "a\"b\\c'd\xc3\xa9"}});
  EXPECT_EQ(scrubber.Scrub("a\"b\\c'd\xc3\xa9"), "[KEY]");
  EXPECT_EQ(scrubber.Scrub("{\"k\": \"a\\\"b\\\\c'd\\u00e9\"}"), "{\"k\": \"[KEY]\"}");
  EXPECT_EQ(scrubber.Scrub("'a\"b\\\\c\\'d\xc3\xa9'"), "'[KEY]'");
}

TEST(Scrubber, EachLineOfALongValueIsFound) {
  const Scrubber scrubber(Values{{"PEM", "-----BEGIN-----\nMIIEvQIBADAN\nx\n-----END-----"}});
  EXPECT_EQ(scrubber.Scrub("key: MIIEvQIBADAN"), "key: [PEM]");
  EXPECT_EQ(scrubber.Scrub("x"), "x");
}

TEST(Scrubber, AValueThatIsCutAtTheEndIsFound) {
  const Scrubber scrubber(Values{{"TOKEN", "hf_12345678"}, {"LONG", std::string(5000, 'k')}});
  EXPECT_EQ(scrubber.Scrub("401 for hf_12345678, hf_1234"), "401 for [TOKEN], [TOKEN]");
  EXPECT_EQ(scrubber.Scrub("hf_123"), "[TOKEN]");
  EXPECT_EQ(scrubber.Scrub("hf_12"), "hf_12") << "so little would be found in words";
  EXPECT_EQ(scrubber.Scrub("hf_1234 and more"), "hf_1234 and more") << "it is not at the end";
  EXPECT_EQ(scrubber.Scrub("x" + std::string(4999, 'k')), "x[LONG]");
  EXPECT_EQ(scrubber.Longest(), 5000u);
}

TEST(Scrubber, AValueThatHoldsAnotherIsReplacedWhole) {
  const Scrubber scrubber(Values{{"SHORT", "abcdef"}, {"LONG", "abcdef123456"}});
  EXPECT_EQ(scrubber.Scrub("abcdef123456 abcdef"), "[LONG] [SHORT]");
}

}  // namespace
}  // namespace rekindle::user_code
