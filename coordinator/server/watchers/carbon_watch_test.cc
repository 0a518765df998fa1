#include "coordinator/server/watchers/carbon_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <filesystem>
#include <fstream>

#include "common/sync/mutex.h"
#include "common/testing/http_testing.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kAnswer[] =
    R"({"regions": {"ES": {"at": "1970-01-01T10:30:00Z", "gco2eq_per_kwh": 180, "forecast": [90]}}})";
constexpr double kNow = 11 * 3600;

// Serves a feed of carbon intensity on loopback, which gives its answers one after the other. The last answer is given
// to all further requests.
class Feed {
 public:
  struct Answer {
    int status = 200;
    std::string body;
  };
  explicit Feed(std::vector<Answer> answers) : answers_(std::move(answers)) {
    server_.Get("/carbon", [this](const httplib::Request& request, httplib::Response& response) {
      const common::MutexLock lock(mutex_);
      const Answer& answer = answers_[std::min(asked_, answers_.size() - 1)];
      query_ = request.get_param_value("key");
      response.status = answer.status;
      response.set_content(answer.body, "application/json");
      ++asked_;
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  ~Feed() {
    server_.stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/carbon?key=k"; }
  std::string query() const {
    const common::MutexLock lock(mutex_);
    return query_;
  }

 private:
  const std::vector<Answer> answers_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  mutable common::Mutex mutex_;
  size_t asked_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string query_ ABSL_GUARDED_BY(mutex_);
};

// Collects what the watch of carbon intensity has reported.
class Told {
 public:
  CarbonWatch::Options Options(const v1::Fleet::Carbon& carbon) {
    return {.carbon = carbon,
            .now = [] { return kNow; },
            .on_change =
                [this](core::CarbonBook book) {
                  const common::MutexLock lock(mutex_);
                  books_.push_back(std::move(book));
                  changed_.NotifyAll();
                }};
  }
  // Returns the first carbon book that was reported and for which `fits` returns true. Fails the test when none comes.
  core::CarbonBook Await(const std::function<bool(const core::CarbonBook&)>& fits) {
    common::MutexLock lock(mutex_);
    core::CarbonBook found;
    const bool came = changed_.WaitFor(lock, std::chrono::seconds(20), [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      const auto at = std::find_if(books_.begin(), books_.end(), fits);
      if (at != books_.end()) found = *at;
      return at != books_.end();
    });
    EXPECT_TRUE(came);
    return found;
  }

 private:
  common::Mutex mutex_;
  common::CondVar changed_;
  std::vector<core::CarbonBook> books_ ABSL_GUARDED_BY(mutex_);
};

v1::Fleet::Carbon FromUrl(const std::string& url, double poll_seconds) {
  v1::Fleet::Carbon carbon;
  carbon.set_url(url);
  carbon.set_poll_seconds(poll_seconds);
  carbon.set_stale_after_hours(2);
  return carbon;
}

bool HasRegion(const core::CarbonBook& book) { return book.regions.count("ES") > 0; }

TEST(CarbonWatch, AsksTheFeedUntilItAnswers) {
  Feed feed({{503, ""}, {200, "<html>"}, {200, std::string(5 << 20, ' ')}, {200, kAnswer}});
  Told told;
  auto watch = CarbonWatch::Open(told.Options(FromUrl(feed.url(), 0.05)));
  ASSERT_TRUE(watch.ok()) << watch.status();
  EXPECT_TRUE((*watch)->book().given);
  EXPECT_FALSE((*watch)->book().asked);
  (*watch)->Start();
  // The feed's first answer was an error. So the watch must report that it has asked the feed, and must report no
  // regions.
  EXPECT_TRUE(told.Await([](const auto& book) { return book.asked; }).regions.empty());
  const core::CarbonBook book = told.Await(HasRegion);
  EXPECT_THAT(book.regions.at("ES").intensity, ElementsAre(180, 90));
  EXPECT_EQ(book.stale_after, 7200);
  EXPECT_EQ(feed.query(), "k");
}

TEST(CarbonWatch, WhatFailsLaterLeavesWhatIsKnown) {
  Feed feed({{200, kAnswer}, {500, ""}});
  Told told;
  auto watch = CarbonWatch::Open(told.Options(FromUrl(feed.url(), 0.01)));
  ASSERT_TRUE(watch.ok()) << watch.status();
  (*watch)->Start();
  told.Await(HasRegion);
  EXPECT_TRUE(HasRegion((*watch)->book()));
}

TEST(CarbonWatch, EndsWhileAFeedIsSilent) {
  const common::Listening silent = common::ListenOnLoopback();
  Told told;
  CarbonWatch::Options options = told.Options(FromUrl(silent.endpoint + "/carbon", 10));
  options.seconds = 0.05;
  auto watch = CarbonWatch::Open(std::move(options));
  ASSERT_TRUE(watch.ok()) << watch.status();
  (*watch)->Start();
  told.Await([](const auto& book) { return book.asked; });
}

class CarbonFiles : public testing::Test {
 protected:
  CarbonFiles() { std::filesystem::create_directories(dir_); }
  ~CarbonFiles() override { std::filesystem::remove_all(dir_); }
  void Write(const std::string& text) {
    std::ofstream(dir_ + "/new") << text;
    std::filesystem::rename(dir_ + "/new", dir_ + "/carbon_ES_1970.csv");
  }
  CarbonWatch::Options Options(double poll_seconds) {
    v1::Fleet::Carbon carbon;
    carbon.add_files("carbon_ES_1970.csv");
    carbon.set_poll_seconds(poll_seconds);
    CarbonWatch::Options options = told_.Options(carbon);
    options.beside = dir_;
    return options;
  }

  static constexpr char kHeader[] = "datetime_utc,direct_gco2eq_per_kwh,lca_gco2eq_per_kwh\n";
  const std::string dir_ = testing::TempDir() + "/carbon_files";
  Told told_;
};

TEST_F(CarbonFiles, AreReadAtOnceAndWhenTheyChange) {
  Write(std::string(kHeader) + "1970-01-01 10:00:00,10,20\n");
  auto watch = CarbonWatch::Open(Options(0.01));
  ASSERT_TRUE(watch.ok()) << watch.status();
  EXPECT_TRUE((*watch)->book().asked);
  EXPECT_THAT((*watch)->book().regions.at("ES").intensity, ElementsAre(10));
  (*watch)->Start();
  Write(std::string(kHeader) + "1970-01-01 10:00:00,10,20\n1970-01-01 11:00:00,30,20\n");
  const auto longer = [](const core::CarbonBook& book) { return book.regions.at("ES").intensity.size() == 2; };
  EXPECT_THAT(told_.Await(longer).regions.at("ES").intensity, ElementsAre(10, 30));
}

TEST_F(CarbonFiles, ThatAreWrongAreRefusedAtTheStart) {
  EXPECT_THAT(std::string(CarbonWatch::Open(Options(300)).status().message()),
              testing::AllOf(HasSubstr("carbon.files: "), HasSubstr("carbon_ES_1970.csv")));
  Write("tick,zone\n0,1\n");
  EXPECT_THAT(std::string(CarbonWatch::Open(Options(300)).status().message()), HasSubstr("is a trace of capacity"));
}

}  // namespace
}  // namespace rekindle::coordinator
