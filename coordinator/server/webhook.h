// Tells somebody's HTTP server of alerts: one POST of JSON each, from a thread of its own, so that a server that is
// slow or away holds nothing up. Best effort: the event of an alert stays in the store, the POST is tried a few times.
#ifndef REKINDLE_COORDINATOR_SERVER_WEBHOOK_H_
#define REKINDLE_COORDINATOR_SERVER_WEBHOOK_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "common/http.h"
#include "common/metrics.h"

namespace rekindle::coordinator {

// Thread-safe.
class Webhook {
 public:
  struct Options {
    double seconds = 5;  // For a connection, and for each part of a request and of its answer.
    int tries = 4;
    double first_wait_seconds = 1;  // Between tries; four times as long each time.
  };
  static constexpr size_t kMaxQueue = 100;

  // "https://host[:port][/path]", or http. The path may be a secret: only the host is ever logged. INVALID_ARGUMENT
  // without the URL in it.
  static absl::StatusOr<std::unique_ptr<Webhook>> Open(const std::string& url, common::Metrics* metrics,
                                                       const Options& options);
  // Gives up what was not sent.
  ~Webhook();
  Webhook(const Webhook&) = delete;

  // A JSON object. Returns at once; where too many wait, the oldest is given up.
  void Send(std::string body);

 private:
  Webhook(std::string origin, std::string path, std::unique_ptr<common::Http> http, common::Metrics* metrics,
          const Options& options);
  void Run();
  void Deliver(const std::string& body);
  // Whether to try again.
  bool TryOnce(const std::string& body, std::string* error);
  // False: it is ending.
  bool Wait(double seconds);

  const std::string origin_;
  const std::string path_;
  const std::unique_ptr<common::Http> http_;
  const Options options_;
  prometheus::Counter& sent_;
  prometheus::Counter& failed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> queue_;  // Under mutex_, as are the next.
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_WEBHOOK_H_
