#include "coordinator/server/watchers/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <future>
#include <vector>

#include "common/sync/mutex.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Serves HTTP, and answers each request with the next of the given statuses. The last status answers all further
// requests.
class Hook {
 public:
  explicit Hook(std::vector<int> statuses) : statuses_(std::move(statuses)) {
    server_.Post("/hooks/secret", [this](const httplib::Request& request, httplib::Response& response) {
      const common::MutexLock lock(mutex_);
      response.status = statuses_[std::min(got_.size(), statuses_.size() - 1)];
      got_.push_back(request.body);
      changed_.NotifyAll();
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  ~Hook() {
    server_.stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/hooks/secret"; }
  std::vector<std::string> Await(size_t count) {
    common::MutexLock lock(mutex_);
    changed_.WaitFor(lock, std::chrono::seconds(20),
                     [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return got_.size() >= count; });
    return got_;
  }

 private:
  std::vector<int> statuses_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  common::Mutex mutex_;
  common::CondVar changed_;
  std::vector<std::string> got_ ABSL_GUARDED_BY(mutex_);
};

constexpr Webhook::Options kFast{.seconds = 5, .tries = 3, .first_wait_seconds = 0.01};

TEST(Webhook, TriesAgainWhatMayPass) {
  common::Metrics metrics;
  Hook hook({500, 429, 200});
  const auto webhook = Webhook::Open(hook.url(), &metrics, kFast);
  ASSERT_TRUE(webhook.ok()) << webhook.status();
  (*webhook)->Send("{\"text\":\"a\"}");
  EXPECT_THAT(hook.Await(3), ElementsAre("{\"text\":\"a\"}", "{\"text\":\"a\"}", "{\"text\":\"a\"}"));
}

TEST(Webhook, GivesUpWhatIsRefused) {
  common::Metrics metrics;
  Hook hook({404, 200});
  const auto webhook = Webhook::Open(hook.url(), &metrics, kFast);
  ASSERT_TRUE(webhook.ok()) << webhook.status();
  (*webhook)->Send("1");
  (*webhook)->Send("2");
  // A refused alert was not tried again.
  EXPECT_THAT(hook.Await(2), ElementsAre("1", "2"));
}

TEST(Webhook, EndsAtOnceWhileNobodyAnswers) {
  common::Metrics metrics;
  const auto webhook = Webhook::Open("http://127.0.0.1:9/x", &metrics, {.seconds = 60, .first_wait_seconds = 3600});
  ASSERT_TRUE(webhook.ok()) << webhook.status();
  for (size_t i = 0; i < 2 * Webhook::kMaxQueue; ++i) (*webhook)->Send("x");
}

TEST(Webhook, WrongAddressesAreRefusedWithoutTheSecret) {
  common::Metrics metrics;
  for (const char* url : {"ftp://host/secret", "https:///secret", "host/secret", "http://user:secret@host/",
                          "http://host/secret with spaces"}) {
    const auto webhook = Webhook::Open(url, &metrics, kFast);
    EXPECT_EQ(webhook.status().code(), absl::StatusCode::kInvalidArgument) << url;
    EXPECT_THAT(std::string(webhook.status().message()), Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace rekindle::coordinator
