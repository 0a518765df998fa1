#include "coordinator/server/loop/alerts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace rekindle::coordinator {
namespace {

std::string Text(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Alerts, TheDocumentsNameEach) {
  const std::string documents = Text("docs/costs.md") + Text("docs/operations.md");
  for (const std::string_view kind : kAlertKinds) {
    EXPECT_THAT(documents, testing::HasSubstr(absl::StrCat("`", std::string(kind), "`")));
  }
}

TEST(Alerts, OtherEventsAreNone) {
  v1::Event event;
  EXPECT_FALSE(IsAlert(event));
  event.set_kind("node_ready");
  EXPECT_FALSE(IsAlert(event));
  event.set_kind("steps_lost");
  EXPECT_TRUE(IsAlert(event));
}

}  // namespace
}  // namespace rekindle::coordinator
