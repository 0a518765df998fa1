// Tests the web page without a network: which path has which answer for whom.
#include "coordinator/web/server/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "coordinator/web/server/assets.h"
#include "coordinator/web/testing/prepared_source_testing.h"

namespace rekindle::coordinator::web {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

class PageTest : public testing::Test {
 protected:
  common::PageAnswer Ask(const std::string& path, std::map<std::string, std::string> query = {},
                         std::map<std::string, std::string> headers = {}) {
    headers.emplace("host", "localhost:7080");
    headers.emplace("authorization", std::string("Bearer ") + kToken);
    return page_.Handle({.method = "GET", .path = path, .query = std::move(query), .headers = std::move(headers)});
  }
  json Read(const std::string& path, std::map<std::string, std::string> query = {}) {
    const common::PageAnswer answer = Ask(path, std::move(query));
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.content_type, "application/json");
    return answer.body ? json::parse(*answer.body) : json();
  }

  PreparedSource source_{20, 10};
  Page page_{&source_,
             {.access = {.token = kToken,
                         .scheme = "http",
                         .is_ours = [](const std::string& host) { return host == "localhost"; },
                         .names = "localhost"},
              .version = "1.2.3",
              .answer_seconds = 600}};
};

TEST_F(PageTest, FilesNeedNoTokenAndEverythingElseDoes) {
  for (const char* path :
       {"/", "/main.js", "/style.css", "/uPlot.iife.min.js", "/uPlot.min.css", "/favicon.svg", "/uPlot-LICENSE.txt"}) {
    const common::PageAnswer answer = Ask(path, {}, {{"authorization", ""}});
    EXPECT_EQ(answer.status, 200) << path;
    ASSERT_NE(answer.body, nullptr);
    EXPECT_GT(answer.body->size(), 100u) << path;
  }
  EXPECT_EQ(Ask("/").content_type, "text/html; charset=utf-8");
  EXPECT_EQ(Ask("/main.js").content_type, "text/javascript; charset=utf-8");
  for (const char* path : {"/api/summary", "/api/jobs", "/api/job", "/api/events", "/api/nodes", "/api/pools",
                           "/api/teams", "/api/", "/api/none"}) {
    EXPECT_EQ(Ask(path, {}, {{"authorization", "Bearer wrong"}}).status, 401) << path;
  }
  EXPECT_EQ(source_.asked, 0);
}

TEST_F(PageTest, UnknownPathsAndThoseThatLeadOutOfAFolderAreNotThere) {
  for (const char* path : {"/none", "/index.html", "/../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/etc/passwd",
                           "//etc/passwd", "/main.js/", "/main%2ejs", "/api", "/api/none", "/api/jobs/",
                           "/api/../main.js", "", "*", "http://localhost:7080/"}) {
    EXPECT_EQ(Ask(path).status, 404) << path;
  }
}

TEST_F(PageTest, EveryAnswerSaysWhatABrowserMayDoWithIt) {
  for (const char* path : {"/", "/api/jobs", "/none", "/api/none"}) {
    const common::PageAnswer answer = Ask(path);
    const std::string& policy = answer.headers.at("Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_EQ(answer.headers.at("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.headers.at("Referrer-Policy"), "no-referrer");
  }
  EXPECT_EQ(Ask("/api/jobs").headers.at("Cache-Control"), "no-store");
  EXPECT_EQ(Ask("/", {}, {{"host", "evil.example"}}).headers.count("Content-Security-Policy"), 1u);
}

// The page contains nothing that its content security policy forbids, and nothing of another server.
TEST_F(PageTest, ThePageHasNoInlineScriptOrStyleAndAsksNobodyElse) {
  for (const auto& [path, asset] : Assets()) {
    const std::string text(asset.content);
    if (path == "/") {
      EXPECT_THAT(text, Not(HasSubstr("<style")));
      EXPECT_THAT(text, Not(HasSubstr(" style=")));
      EXPECT_THAT(text, Not(HasSubstr("<script>")));
      EXPECT_THAT(text, Not(HasSubstr(" on"))) << "handlers";
    }
    EXPECT_THAT(text, Not(HasSubstr("innerHTML"))) << path;
    if (path.find("uPlot") != std::string::npos || path == "/favicon.svg" || path == "/dom.js") continue;
    EXPECT_THAT(text, Not(HasSubstr("://"))) << path;
  }
}

TEST_F(PageTest, ATagSavesWhatTheBrowserHas) {
  for (const char* path : {"/", "/api/jobs"}) {
    const std::string tag = Ask(path).headers.at("ETag");
    const common::PageAnswer again = Ask(path, {}, {{"if-none-match", tag}});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_EQ(again.body, nullptr);
    EXPECT_EQ(Ask(path, {}, {{"if-none-match", "\"other\""}}).status, 200);
  }
}

TEST_F(PageTest, ManyViewersCostOneQuestion) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Read("/api/jobs")["jobs"].size(), 20u);
  EXPECT_EQ(source_.asked, 1);
}

TEST_F(PageTest, SummaryAndLists) {
  const json summary = Read("/api/summary");
  EXPECT_EQ(summary["version"], "1.2.3");
  EXPECT_EQ(summary["jobs"]["RUNNING"], 3);
  EXPECT_EQ(summary["nodes"]["ready"], 10);
  EXPECT_EQ(summary["rate"], 4.5);
  EXPECT_EQ(Read("/api/jobs", {{"q", "job-00001"}})["matching"], 1);
  EXPECT_EQ(Ask("/api/jobs", {{"sort", "none"}}).status, 400);
  EXPECT_EQ(Read("/api/nodes", {{"limit", "3"}})["nodes"].size(), 3u);
  EXPECT_EQ(Read("/api/pools")["pools"].size(), 12u);
  EXPECT_EQ(Read("/api/teams")["all"], 20);
}

TEST_F(PageTest, OneJobWithItsSpeedAndWhatItsCostSays) {
  const json view = Read("/api/job", {{"name", "job-00000"}});
  EXPECT_EQ(view["job"]["status"]["loss_curve"].size(), 400u);
  EXPECT_EQ(view["says"]["spent"], "0.5000 USD");
  EXPECT_EQ(view["savings"][0]["by"], "spot");
  EXPECT_TRUE(view["speed"].empty());
  page_.Sample();
  EXPECT_EQ(Read("/api/job", {{"name", "00000000000000000000000000000000"}})["speed"].size(), 1u);
  EXPECT_EQ(Ask("/api/job", {{"name", "none"}}).status, 404);
  EXPECT_EQ(Ask("/api/job").status, 400);
  EXPECT_EQ(Ask("/api/job", {{"name", std::string(201, 'x')}}).status, 400);
}

TEST_F(PageTest, EventsComeAfterThoseThatAreKnown) {
  for (int i = 0; i < 5; ++i) source_.AddEvent(i == 3 ? "other" : "job");
  EXPECT_EQ(Read("/api/events")["events"].size(), 5u);
  const json of_job = Read("/api/events", {{"job", "job"}, {"after", "2"}});
  EXPECT_EQ(of_job["events"].size(), 2u);
  EXPECT_EQ(of_job["last"], 5);
  EXPECT_EQ(Read("/api/events", {{"job", "job"}, {"after", "5"}})["last"], 5);
  EXPECT_EQ(Ask("/api/events", {{"after", "x"}}).status, 400);
  EXPECT_EQ(Ask("/api/events", {{"after", "-1"}}).status, 400);
}

TEST_F(PageTest, WhatIsWrongWithTheCoordinatorIsSaid) {
  source_.SetTrouble(absl::FailedPreconditionError("superseded by \xff another"));
  const common::PageAnswer answer = Ask("/api/jobs");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(std::string(json::parse(*answer.body)["error"]), HasSubstr("superseded by"));
}

}  // namespace
}  // namespace rekindle::coordinator::web
