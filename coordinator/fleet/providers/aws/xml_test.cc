#include "coordinator/fleet/providers/aws/xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::fleet {
namespace {

TEST(Xml, ElementsTextAndEntities) {
  const auto xml =
      ParseXml("<?xml version=\"1.0\"?>\n<!-- c --><a x=\"1\">\n <b>1 &lt; 2 &amp;&#34;</b><c/><b>second</b></a>\n");
  ASSERT_TRUE(xml.ok()) << xml.status();
  EXPECT_EQ(xml->name, "a");
  EXPECT_EQ((*xml)["b"].text, "1 < 2 &?");
  EXPECT_EQ((*xml)["c"].text, "");
  EXPECT_EQ((*xml)["missing"]["deeper"].text, "");
  EXPECT_EQ(xml->children.size(), 3u);
}

TEST(Xml, WhatIsNotOneElementIsRefused) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  for (const std::string& text :
       {std::string(), std::string("text"), std::string("<a>"), std::string("<a></b>"), std::string("</a>"),
        std::string("<a/><b/>"), std::string("<a"), std::string("<a>&unknown;</a>"), std::string("<>"),
        std::string("<!DOCTYPE a [<!ENTITY x \"y\">]><a/>"), std::string("<?xml"), deep}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseXml(text).status())) << text;
  }
}

// Every truncated XML text, and many with one changed byte, must give a document or an error, and do no other harm.
TEST(Xml, MutantsDoNoHarm) {
  const std::string text = "<?xml v?><a><member><Id>i-1 &amp; &#9;</Id><S/></member><!-- x --></a>";
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(ParseXml(text.substr(0, i)).ok());
    for (const char c : {'<', '>', '&', '/', '\0', '!'}) {
      std::string mutant = text;
      mutant[i] = c;
      const auto parsed = ParseXml(mutant);
      EXPECT_TRUE(parsed.ok() || absl::IsInvalidArgument(parsed.status()));
    }
  }
}

}  // namespace
}  // namespace rekindle::fleet
