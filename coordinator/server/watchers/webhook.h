// Posts alerts to somebody's HTTP server, one JSON object per request. A Webhook has a thread of its own, so a slow or
// unreachable server delays nothing else. Delivery is best effort: the event of an alert stays in the store, and the
// POST is tried a few times.
#ifndef REKINDLE_COORDINATOR_SERVER_WATCHERS_WEBHOOK_H_
#define REKINDLE_COORDINATOR_SERVER_WATCHERS_WEBHOOK_H_

#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "common/metrics/metrics.h"
#include "common/net/http.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Returns the event as JSON, with the names of its fields as in the proto.
std::string AlertBody(const v1::Event& event);

// Webhook is thread-safe.
class Webhook {
 public:
  struct Options {
    // A connection, and each part of a request and of its answer, may take `seconds` seconds.
    double seconds = 5;
    int tries = 4;
    // `first_wait_seconds` is the wait before the second try, in seconds. Each further wait is four times as long.
    double first_wait_seconds = 1;
  };
  static constexpr size_t kMaxQueue = 100;

  // Opens a webhook for a URL of the form "https://host[:port][/path]" or "http://host[:port][/path]". The path may be
  // a secret, so only the host is ever logged, and the message of INVALID_ARGUMENT does not contain the URL.
  static absl::StatusOr<std::unique_ptr<Webhook>> Open(const std::string& url, common::Metrics* metrics,
                                                       const Options& options);
  // The destructor gives up the alerts that were not sent yet.
  ~Webhook();
  Webhook(const Webhook&) = delete;

  // Queues a JSON object and returns at once. If too many objects wait, the oldest one is given up.
  void Send(std::string body);

 private:
  Webhook(std::string origin, std::string path, std::unique_ptr<common::Http> http, common::Metrics* metrics,
          const Options& options);
  void Run();
  void Deliver(const std::string& body);
  // Tries once to send `body`. Returns whether another try makes sense.
  bool TryOnce(const std::string& body, std::string* error);
  // Waits for `seconds` seconds. Returns false when the webhook is ending.
  bool Wait(double seconds);

  const std::string origin_;
  const std::string path_;
  const std::unique_ptr<common::Http> http_;
  const Options options_;
  prometheus::Counter& sent_;
  prometheus::Counter& failed_;

  common::Mutex mutex_;
  common::CondVar changed_;
  std::deque<std::string> queue_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_WATCHERS_WEBHOOK_H_
