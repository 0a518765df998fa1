#include "coordinator/server/webhook.h"

#include <httplib.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/log.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kMaxAnswer = 64 << 10;
constexpr double kLonger = 4;

// Whether the server may take it another time.
bool IsPassing(int status) { return status == 408 || status == 429 || status >= 500; }

}  // namespace

absl::StatusOr<std::unique_ptr<Webhook>> Webhook::Open(const std::string& url, common::Metrics* metrics,
                                                       const Options& options) {
  absl::string_view rest = url;
  const bool known = absl::ConsumePrefix(&rest, "https://") || absl::ConsumePrefix(&rest, "http://");
  const size_t slash = rest.find('/');
  const absl::string_view host = rest.substr(0, slash);
  const bool plain = url.find_first_of(" \t\r\n") == std::string::npos && host.find('@') == absl::string_view::npos;
  const std::string origin = url.substr(0, url.size() - rest.size() + host.size());
  if (!known || host.empty() || !plain || !httplib::Client(origin).is_valid()) {
    return absl::InvalidArgumentError("--alert-webhook: must be https://HOST[:PORT][/PATH], or http, without a user");
  }
  const std::string path = slash == absl::string_view::npos ? "/" : std::string(rest.substr(slash));
  return std::unique_ptr<Webhook>(new Webhook(origin, path, metrics, options));
}

Webhook::Webhook(std::string origin, std::string path, common::Metrics* metrics, const Options& options)
    : origin_(std::move(origin)),
      path_(std::move(path)),
      options_(options),
      sent_(metrics->Counter("rekindle_alerts_sent_total", "Alerts that the webhook has taken.")),
      failed_(metrics->Counter("rekindle_alerts_failed_total", "Alerts that the webhook has not taken.")),
      thread_([this] { Run(); }) {}

Webhook::~Webhook() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    if (running_ != nullptr) running_->stop();
  }
  changed_.notify_all();
  thread_.join();
}

void Webhook::Send(std::string body) {
  std::lock_guard lock(mutex_);
  if (queue_.size() >= kMaxQueue) {
    queue_.pop_front();
    failed_.Increment();
  }
  queue_.push_back(std::move(body));
  changed_.notify_all();
}

void Webhook::Run() {
  for (;;) {
    std::string body;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
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
  httplib::Client client(origin_);
  const auto micros = static_cast<time_t>(options_.seconds * 1e6);
  client.set_connection_timeout(micros / 1'000'000, micros % 1'000'000);
  client.set_read_timeout(micros / 1'000'000, micros % 1'000'000);
  client.set_write_timeout(micros / 1'000'000, micros % 1'000'000);
  client.set_keep_alive(false);
  client.set_follow_location(false);
  {
    std::lock_guard lock(mutex_);
    if (stop_) return false;
    running_ = &client;
  }
  httplib::Request request;
  request.method = "POST";
  request.path = path_;
  request.body = body;
  request.headers.emplace("Content-Type", "application/json");
  size_t bytes = 0;
  request.content_receiver = [&bytes](const char*, size_t more, uint64_t, uint64_t) {
    return (bytes += more) <= kMaxAnswer;
  };
  const httplib::Result result = client.send(request);
  {
    std::lock_guard lock(mutex_);
    running_ = nullptr;
  }
  if (!result) {
    *error = httplib::to_string(result.error());
    return true;
  }
  *error = result->status / 100 == 2 ? "" : absl::StrCat("it answered ", result->status);
  return IsPassing(result->status);
}

bool Webhook::Wait(double seconds) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return stop_; });
}

}  // namespace rekindle::coordinator
