#include "common/net/http.h"

#include <arpa/inet.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/sync/mutex.h"

namespace rekindle::common {
namespace {

bool IsLocal(const std::string& host) {
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    const uint32_t address = ntohl(v4.s_addr);
    return address >> 24 == 127 || address >> 16 == (169 << 8 | 254);
  }
  in6_addr v6;
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1) return false;
  // `kEc2` is the beginning of fd00:ec2::254, the address of EC2's metadata service in IPv6.
  static constexpr uint8_t kEc2[] = {0xfd, 0x00, 0x0e, 0xc2};
  return IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_LINKLOCAL(&v6) || std::memcmp(&v6, kEc2, sizeof kEc2) == 0;
}

struct Endpoint {
  bool secure = false;
  // `host` has no brackets, even if it is an IPv6 address.
  std::string host;
};

absl::StatusOr<Endpoint> Split(const std::string& text) {
  Endpoint endpoint;
  absl::string_view rest = text;
  endpoint.secure = absl::ConsumePrefix(&rest, "https://");
  if (!endpoint.secure && !absl::ConsumePrefix(&rest, "http://")) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' must be http://HOST[:PORT]"));
  }
  const bool bracketed = absl::ConsumePrefix(&rest, "[");
  const size_t end = rest.find(bracketed ? ']' : ':');
  endpoint.host = std::string(rest.substr(0, end));
  absl::string_view port = end == absl::string_view::npos ? "" : rest.substr(end);
  const bool closed = !bracketed || absl::ConsumePrefix(&port, "]");
  const bool has_port = port.empty() || (absl::ConsumePrefix(&port, ":") && !port.empty());
  if (endpoint.host.empty() || endpoint.host.find_first_of("/@?#\\% \t\r\n") != std::string::npos || !closed ||
      !has_port || port.find_first_not_of("0123456789") != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' must be http://HOST[:PORT]"));
  }
  return endpoint;
}

absl::Status ToStatus(httplib::Error error, const std::string& endpoint) {
  const std::string text = absl::StrCat(endpoint, ": ", httplib::to_string(error));
  switch (error) {
    case httplib::Error::Read:
    case httplib::Error::Write:
    case httplib::Error::ConnectionTimeout:
      return absl::DeadlineExceededError(text);
    case httplib::Error::SSLServerVerification:
    case httplib::Error::SSLLoadingCerts:
      return absl::FailedPreconditionError(text);
    default:
      return absl::UnavailableError(text);
  }
}

// Ends an HTTP call when its time is over, whatever the call waits for. The time limits of cpp-httplib would begin
// again with each byte.
class Deadline {
 public:
  Deadline(double seconds, httplib::Client* client) : thread_([this, seconds, client] { Wait(seconds, client); }) {}
  ~Deadline() {
    {
      const MutexLock lock(mutex_);
      is_over_ = true;
    }
    over_.NotifyAll();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;

  bool has_passed() const { return has_passed_; }

 private:
  void Wait(double seconds, httplib::Client* client) {
    MutexLock lock(mutex_);
    // A connection that is still being made cannot be ended yet, so the client is stopped again and again until the
    // call returns.
    const auto is_over = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return is_over_; };
    for (auto wait = std::chrono::duration<double>(seconds); !over_.WaitFor(lock, wait, is_over);
         wait = std::chrono::duration<double>(0.1)) {
      has_passed_ = true;
      client->stop();
    }
  }

  Mutex mutex_;
  CondVar over_;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> has_passed_{false};
  std::thread thread_;
};

class HttpClient final : public Http {
 public:
  HttpClient(std::string endpoint, HttpOptions options)
      : endpoint_(std::move(endpoint)), options_(std::move(options)) {}

  absl::StatusOr<HttpAnswer> Send(const HttpRequest& request) override {
    httplib::Client client(endpoint_, options_.cert_file, options_.key_file);
    if (!client.is_valid()) return absl::InvalidArgumentError(absl::StrCat("'", endpoint_, "' cannot be used"));
    const auto micros = static_cast<time_t>(options_.seconds * 1e6);
    client.set_connection_timeout(micros / 1'000'000, micros % 1'000'000);
    client.set_read_timeout(micros / 1'000'000, micros % 1'000'000);
    client.set_write_timeout(micros / 1'000'000, micros % 1'000'000);
    client.set_keep_alive(false);
    client.set_follow_location(false);
    client.set_decompress(false);
    client.enable_server_certificate_verification(true);
    if (!options_.ca_file.empty()) client.set_ca_cert_path(options_.ca_file);

    HttpAnswer answer;
    absl::Status stopped;
    httplib::Request sent;
    sent.method = request.method;
    sent.path = request.path;
    sent.body = request.body;
    for (const auto& [name, value] : request.headers) sent.headers.emplace(name, value);
    if (!request.body.empty() && request.headers.count("Content-Type") == 0) {
      sent.headers.emplace("Content-Type", "application/json");
    }
    sent.content_receiver = [&](const char* data, size_t bytes, uint64_t, uint64_t) {
      if (answer.body.size() + bytes > options_.max_body) {
        stopped = absl::ResourceExhaustedError(
            absl::StrCat(endpoint_, ": an answer of more than ", options_.max_body, " bytes"));
      }
      if (stopped.ok()) answer.body.append(data, bytes);
      return stopped.ok();
    };
    if (!Begin(&client)) return absl::CancelledError(absl::StrCat(endpoint_, ": stopped"));
    std::optional<Deadline> deadline(std::in_place, options_.seconds, &client);
    const httplib::Result result = client.send(sent);
    const bool has_passed = deadline->has_passed();
    deadline.reset();
    Begin(nullptr);
    if (!stopped.ok()) return stopped;
    if (!result && has_passed) {
      return absl::DeadlineExceededError(absl::StrCat(endpoint_, ": no whole answer in ", options_.seconds, " s"));
    }
    if (!result) return ToStatus(result.error(), endpoint_);
    answer.status = result->status;
    if (answer.status >= 300 && answer.status < 400) {
      return absl::FailedPreconditionError(absl::StrCat(endpoint_, ": a redirect, which is not followed"));
    }
    for (const auto& [name, value] : result->headers) answer.headers[absl::AsciiStrToLower(name)] = value;
    return answer;
  }

  void Stop() override {
    const MutexLock lock(mutex_);
    stop_ = true;
    if (running_ != nullptr) running_->stop();
  }

 private:
  // Registers the client of the running call, so that Stop can end it. Returns false if Stop was called before.
  bool Begin(httplib::Client* client) {
    const MutexLock lock(mutex_);
    running_ = client;
    return !stop_;
  }

  const std::string endpoint_;
  const HttpOptions options_;
  Mutex mutex_;
  httplib::Client* running_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

absl::Status CheckEndpoint(const std::string& endpoint, const HttpOptions& options) {
  const absl::StatusOr<Endpoint> parts = Split(endpoint);
  if (!parts.ok()) return parts.status();
  if (options.reach == Reach::kAny) return absl::OkStatus();
  if (options.reach == Reach::kSecure && parts->secure) return absl::OkStatus();
  if (!options.allowed_host.empty() && parts->host == options.allowed_host) return absl::OkStatus();
  if (IsLocal(parts->host) && !parts->secure) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'", endpoint, "': use http on a link-local or loopback address",
                                                 options.reach == Reach::kSecure ? ", or https" : ""));
}

absl::StatusOr<std::unique_ptr<Http>> OpenHttp(const std::string& endpoint, const HttpOptions& options) {
  const absl::Status allowed = CheckEndpoint(endpoint, options);
  if (!allowed.ok()) return allowed;
  return std::make_unique<HttpClient>(endpoint, options);
}

}  // namespace rekindle::common
