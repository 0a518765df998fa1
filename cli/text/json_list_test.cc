#include "cli/text/json_list.h"

#include <gtest/gtest.h>

#include <sstream>

namespace rekindle::cli {
namespace {

TEST(JsonListTest, NothingIsWrittenBeforeItIsWhole) {
  std::ostringstream out;
  JsonList list(out, "jobs");
  list.Add("{\"name\": \"a\"}");
  list.Add("{\"name\": \"b\"}");
  EXPECT_EQ(out.str(), "");
  list.Finish();
  EXPECT_EQ(out.str(), "{\"jobs\": [\n{\"name\": \"a\"},\n{\"name\": \"b\"}\n]}\n");
}

TEST(JsonListTest, OneThatIsLargeTakesNoMemory) {
  std::ostringstream whole, pieces;
  JsonList one(whole, "x"), other(pieces, "x", /*limit=*/10);
  for (int i = 0; i < 20; ++i) {
    one.Add(std::to_string(i));
    other.Add(std::to_string(i));
    if (i == 10) {
      EXPECT_GT(pieces.str().size(), 20u);
    }
  }
  one.Finish();
  other.Finish();
  EXPECT_EQ(pieces.str(), whole.str());
}

TEST(JsonListTest, AnEmptyOneIsADocumentToo) {
  std::ostringstream out;
  JsonList(out, "nodes").Finish();
  EXPECT_EQ(out.str(), "{\"nodes\": [\n]}\n");
}

}  // namespace
}  // namespace rekindle::cli
