#include "common/metrics.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cassert>
#include <chrono>
#include <exception>
#include <future>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

// Opens and closes one connection, whatever comes of it.
void Poke(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  (void)connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  close(fd);
}

}  // namespace

Metrics::Metrics() : registry_(std::make_shared<prometheus::Registry>()) {}

Metrics::~Metrics() {
  if (!exposer_) return;
  // The HTTP server looks for its end only every 2 s unless a connection wakes it: too long for a restart.
  const int port = exposer_->GetListeningPorts().front();
  const auto stopped = std::async(std::launch::async, [this] { exposer_.reset(); });
  while (stopped.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready) Poke(port);
}

prometheus::Counter& Metrics::Counter(const std::string& name, const std::string& help, const Labels& labels) {
  assert(absl::StartsWith(name, "rekindle_"));
  return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Gauge& Metrics::Gauge(const std::string& name, const std::string& help, const Labels& labels) {
  assert(absl::StartsWith(name, "rekindle_"));
  return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Histogram& Metrics::Histogram(const std::string& name, const std::string& help, const Buckets& buckets,
                                          const Labels& labels) {
  assert(absl::StartsWith(name, "rekindle_"));
  return prometheus::BuildHistogram().Name(name).Help(help).Register(*registry_).Add(labels, buckets);
}

void Metrics::RemoveGauge(const std::string& name, const std::string& help, const Labels& labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(*registry_);
  if (family.Has(labels)) family.Remove(&family.Add(labels));
}

Metrics::Buckets Metrics::Seconds() {
  Buckets buckets;
  for (double bound = 0.001; bound < 150; bound *= 2) buckets.push_back(bound);
  return buckets;
}

absl::StatusOr<std::string> Metrics::Serve(const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = -1;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("--metrics '", address, "' is no address: write host:port, as 127.0.0.1:9090"));
  }
  const std::string host = address.substr(0, colon) == "localhost" ? "127.0.0.1" : address.substr(0, colon);
  if (!absl::StartsWith(host, "127.") && host != "[::1]") {
    return absl::InvalidArgumentError(absl::StrCat("--metrics ", address,
                                                   " would be open to others: give 127.0.0.1 and let a scraper on the "
                                                   "machine forward them"));
  }
  try {
    exposer_ = std::make_unique<prometheus::Exposer>(absl::StrCat(host, ":", port), 1);
  } catch (const std::exception& error) {
    return absl::UnavailableError(absl::StrCat("cannot serve metrics on ", address, ": ", error.what(),
                                               ": is the port in use? --metrics ", host, ":0 takes any free one"));
  }
  exposer_->RegisterCollectable(registry_);
  return absl::StrCat(host, ":", exposer_->GetListeningPorts().front());
}

}  // namespace rekindle::common
