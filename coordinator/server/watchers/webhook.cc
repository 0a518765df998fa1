#include "coordinator/server/watchers/webhook.h"

#include <google/protobuf/util/json_util.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kMaxAnswer = 64 << 10;
constexpr double kLonger = 4;

// Returns whether a request that was answered with the HTTP status `status` may succeed when it is sent again.
bool IsPassing(int status) { return status == 408 || status == 429 || status >= 500; }

}  // namespace

std::string AlertBody(const v1::Event& event) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  return google::protobuf::util::MessageToJsonString(event, &text, options).ok() ? text : "{}";
}

absl::StatusOr<std::unique_ptr<Webhook>> Webhook::Open(const std::string& url, common::Metrics* metrics,
                                                       const Options& options) {
  const size_t scheme = url.find("://");
  const size_t slash = scheme == std::string::npos ? scheme : url.find('/', scheme + 3);
  const std::string origin = url.substr(0, slash);
  const bool plain = url.find_first_of(" \t\r\n") == std::string::npos && origin.find('@') == std::string::npos;
  auto http =
      common::OpenHttp(origin, {.seconds = options.seconds, .max_body = kMaxAnswer, .reach = common::Reach::kAny});
  if (!plain || !http.ok()) {
    return absl::InvalidArgumentError("--alert-webhook: must be https://HOST[:PORT][/PATH], or http, without a user");
  }
  const std::string path = slash == std::string::npos ? "/" : url.substr(slash);
  return std::unique_ptr<Webhook>(new Webhook(origin, path, *std::move(http), metrics, options));
}

Webhook::Webhook(std::string origin, std::string path, std::unique_ptr<common::Http> http, common::Metrics* metrics,
                 const Options& options)
    : origin_(std::move(origin)),
      path_(std::move(path)),
      http_(std::move(http)),
      options_(options),
      sent_(metrics->Counter("rekindle_alerts_sent_total", "Alerts that the webhook has taken.")),
      failed_(metrics->Counter("rekindle_alerts_failed_total", "Alerts that the webhook has not taken.")),
      thread_([this] { Run(); }) {}

Webhook::~Webhook() {
  {
    const common::MutexLock lock(mutex_);
    stop_ = true;
  }
  http_->Stop();
  changed_.NotifyAll();
  thread_.join();
}

void Webhook::Send(std::string body) {
  const common::MutexLock lock(mutex_);
  if (queue_.size() >= kMaxQueue) {
    queue_.pop_front();
    failed_.Increment();
  }
  queue_.push_back(std::move(body));
  changed_.NotifyAll();
}

void Webhook::Run() {
  for (;;) {
    std::string body;
    {
      common::MutexLock lock(mutex_);
      changed_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !queue_.empty(); });
      if (stop_) return;
      body = std::move(queue_.front());
      queue_.pop_front();
    }
    Deliver(body);
  }
}

void Webhook::Deliver(const std::string& body) {
  std::string error;
  double wait = options_.first_wait_seconds;
  for (int i = 0; i < options_.tries; ++i, wait *= kLonger) {
    if (i > 0 && !Wait(wait)) return;
    const bool again = TryOnce(body, &error);
    if (error.empty()) return sent_.Increment();
    if (!again) break;
  }
  failed_.Increment();
  log::Warning("an alert was not delivered", {{"webhook", origin_}, {"error", error}});
}

bool Webhook::TryOnce(const std::string& body, std::string* error) {
  const absl::StatusOr<common::HttpAnswer> answer = http_->Send({.method = "POST", .path = path_, .body = body});
  if (!answer.ok()) {
    *error = std::string(answer.status().message());
    return true;
  }
  *error = answer->status / 100 == 2 ? "" : absl::StrCat("it answered ", answer->status);
  return IsPassing(answer->status);
}

bool Webhook::Wait(double seconds) {
  common::MutexLock lock(mutex_);
  return !changed_.WaitFor(lock, std::chrono::duration<double>(seconds),
                           [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; });
}

}  // namespace rekindle::coordinator
