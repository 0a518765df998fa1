// Mutates every document that a source of interruption notices may answer with. No answer may do harm, however it is
// formed.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "worker/agent/notices/aws_notices.h"
#include "worker/agent/notices/azure_notices.h"
#include "worker/agent/notices/gcp_notices.h"
#include "worker/agent/notices/kubernetes_notices.h"
#include "worker/agent/notices/operator_notices.h"
#include "worker/agent/notices/parse.h"

namespace rekindle::agent {
namespace {

using Parser = std::function<absl::StatusOr<std::vector<Notice>>(std::string_view)>;

struct Target {
  Parser parse;
  std::string valid;
};

std::vector<Target> Targets() {
  const std::string event =
      R"({"EventId": "A1", "EventStatus": "Scheduled", "EventType": "Preempt", "Resources": ["vm1", "vm2"],
          "NotBefore": "Thu, 22 Jul 2021 04:50:17 GMT"})";
  return {
      {ParseInstanceAction, R"({"action": "terminate", "time": "2017-09-18T08:22:00Z"})"},
      {ParseRebalance, R"({"noticeTime": "2020-10-27T08:22:00Z"})"},
      {ParseScheduledMaintenance,
       R"([{"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": "system-reboot", "EventId": "i", "State": "active"}])"},
      {[](std::string_view text) { return ParsePreempted(text, 1e9); }, "TRUE"},
      {[](std::string_view text) { return ParseMaintenanceEvent(text, 1e9); }, "TERMINATE_ON_HOST_MAINTENANCE"},
      {[](std::string_view text) { return ParseScheduledEvents(text, "vm1", 1e9); },
       R"({"DocumentIncarnation": 1, "Events": [)" + event + "," + event + "]}"},
      {ParsePod, R"({"metadata": {"name": "p", "deletionTimestamp": "2026-11-22T03:29:07Z"}})"},
      {[](std::string_view text) { return ParseNode(text, 1e9); },
       R"({"spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "value": "1"}, )"
       R"({"key": "karpenter.sh/disrupted"}]}})"},
      {[](std::string_view text) { return std::vector<Notice>{ParseNoticeLine(text, 1e9)}; }, "30s maintenance\n"},
  };
}

std::string Mutate(std::string text, std::mt19937& random) {
  static const char* const kPieces[] = {"{",    "[",     "]",  "}",       "\"",   ",",   ":",
                                        "null", "1e999", "-1", "\\u0000", "\xff", "[[[["};
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (size_t changes = 1 + pick(4); changes > 0; --changes) {
    const size_t at = pick(text.size() + 1);
    switch (pick(4)) {
      case 0:
        text.insert(at, kPieces[pick(std::size(kPieces))]);
        break;
      case 1:
        text.erase(at, pick(8));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(pick(256));
        break;
      default:
        text.insert(at, text.substr(pick(text.size() + 1), pick(40)));
    }
  }
  return text;
}

void ExpectHarmless(const std::vector<Notice>& notices, const std::string& text) {
  EXPECT_LE(notices.size(), kMaxNotices);
  for (const Notice& notice : notices) {
    EXPECT_LE(notice.what.size(), 200u) << text;
    EXPECT_TRUE(std::all_of(notice.what.begin(), notice.what.end(), [](char c) { return c >= ' ' && c <= '~'; }))
        << text;
    if (notice.at) {
      EXPECT_GT(*notice.at, 9e8) << text;
      EXPECT_LT(*notice.at, 1e12) << text;
    }
  }
}

TEST(Hostile, MutantsOfEveryDocument) {
  const char* given = std::getenv("REKINDLE_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
  SCOPED_TRACE("REKINDLE_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  int accepted = 0;
  for (const Target& target : Targets()) {
    ASSERT_TRUE(target.parse(target.valid).ok()) << target.valid;
    EXPECT_EQ(target.parse(target.valid)->empty(), false) << target.valid;
    for (int i = 0; i < 3000; ++i) {
      const std::string text = Mutate(target.valid, random);
      const auto notices = target.parse(text);
      if (!notices.ok()) continue;
      ++accepted;
      ExpectHarmless(*notices, text);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(Hostile, WhatIsManyOrDeepOrLongIsBounded) {
  std::string many = "[";
  for (int i = 0; i < 100; ++i) {
    many += (i > 0 ? "," : "") +
            std::string(R"({"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": "x", "EventId": "i", "State": "active"})");
  }
  EXPECT_EQ(ParseScheduledMaintenance(many + "]")->size(), kMaxNotices);
  EXPECT_FALSE(ParseNode(std::string(1 << 20, '['), 0).ok());
  EXPECT_FALSE(ParseInstanceAction(std::string(1 << 16, '{')).ok());
  std::string values = "[";
  for (int i = 0; i < 5000; ++i) values += "0,";
  EXPECT_FALSE(ParseScheduledMaintenance(values + "0]").ok());
  EXPECT_FALSE(ParseInstanceAction(R"({"action": "stop", "action": "stop", "time": "2017-09-18T08:22:00Z"})").ok());
}

TEST(Timestamps, KnownFormsWithinBounds) {
  EXPECT_EQ(*ParseTimestamp("2017-09-18T08:22:00Z"), 1505722920);
  EXPECT_EQ(*ParseTimestamp("2017-09-18T10:22:00.5+02:00"), 1505722920);
  EXPECT_EQ(*ParseTimestamp("Mon, 18 Sep 2017 08:22:00 GMT"), 1505722920);
  EXPECT_EQ(*ParseTimestamp("18 Sep 2017 08:22:00 GMT"), 1505722920);
  for (const char* bad : {"", "1970-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "infinite-future", "infinite-past", "now",
                          "18 Sep 2017 08:22:00", "2017-13-18T08:22:00Z", "99999999999999999999-01-01T00:00:00Z"}) {
    EXPECT_FALSE(ParseTimestamp(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace rekindle::agent
