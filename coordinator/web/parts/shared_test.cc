#include "coordinator/web/parts/shared.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/web/parts/answer_cache.h"

namespace rekindle::coordinator::web {
namespace {

TEST(Shared, IsMadeOnceForAllWhoAskMeanwhile) {
  Shared<int> shared(600);
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) sum += **shared.Get([&]() -> absl::StatusOr<int> { return ++made; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(sum, 1000);
}

TEST(Shared, AnOldOneIsMadeAnewAndAnErrorIsSharedToo) {
  Shared<int> old(0);
  int made = 0;
  const auto make = [&]() -> absl::StatusOr<int> { return ++made; };
  EXPECT_EQ(**old.Get(make), 1);
  EXPECT_EQ(**old.Get(make), 2);
  Shared<int> failing(600);
  int failed = 0;
  const auto fail = [&]() -> absl::StatusOr<int> { return absl::UnavailableError(std::to_string(++failed)); };
  EXPECT_EQ(failing.Get(fail).status().message(), "1");
  EXPECT_EQ(failing.Get(fail).status().message(), "1");
}

TEST(AnswerCache, EachQuestionHasAnAnswerOfItsOwnAndATagOfItsText) {
  AnswerCache cache(600);
  int made = 0;
  const auto make = [&](const std::string& text) {
    return [&made, text]() -> absl::StatusOr<std::string> {
      ++made;
      return text;
    };
  };
  const auto one = cache.Get("one", make("a"));
  const auto same = cache.Get("one", make("b"));
  const auto other = cache.Get("other", make("a"));
  const auto third = cache.Get("third", make("c"));
  EXPECT_EQ(made, 3);
  EXPECT_EQ(*same->body, "a");
  EXPECT_EQ(one->tag, other->tag);
  EXPECT_NE(one->tag, third->tag);
}

TEST(AnswerCache, KeepsTheQuestionsThatWereAskedLast) {
  AnswerCache cache(600);
  int made = 0;
  const auto ask = [&](const std::string& key) {
    return cache.Get(key, [&]() -> absl::StatusOr<std::string> { return std::to_string(++made); });
  };
  EXPECT_TRUE(ask("first").ok());
  for (size_t i = 0; i < AnswerCache::kAnswers; ++i) {
    EXPECT_TRUE(ask(std::to_string(i)).ok());
    if (i == 0) {
      EXPECT_EQ(*ask("first")->body, "1");
    }
  }
  const int before = made;
  EXPECT_TRUE(ask(std::to_string(AnswerCache::kAnswers - 1)).ok());
  EXPECT_EQ(made, before);
  EXPECT_TRUE(ask("0").ok());
  EXPECT_EQ(made, before + 1) << "it was the oldest";
}

}  // namespace
}  // namespace rekindle::coordinator::web
