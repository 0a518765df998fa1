#include "common/metrics.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace rekindle::common {
namespace {

std::string Fetch(const std::string& address) {
  const int port = std::atoi(address.substr(address.rfind(':') + 1).c_str());
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string reply;
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
      write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
    char buffer[4096];
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) reply.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return reply;
}

TEST(Metrics, ServesWhatWasCounted) {
  Metrics metrics;
  metrics.Counter("rekindle_things_total", "Things.", {{"kind", "round"}}).Increment(3);
  metrics.Counter("rekindle_things_total", "Things.", {{"kind", "round"}}).Increment();
  metrics.Gauge("rekindle_level", "Level.").Set(2);
  metrics.Histogram("rekindle_wait_seconds", "Waits.").Observe(0.003);
  const auto address = metrics.Serve("127.0.0.1:0");
  ASSERT_TRUE(address.ok()) << address.status();
  const std::string page = Fetch(*address);
  EXPECT_THAT(page, testing::HasSubstr("rekindle_things_total{kind=\"round\"} 4"));
  EXPECT_THAT(page, testing::HasSubstr("rekindle_level 2"));
  EXPECT_THAT(page, testing::HasSubstr("rekindle_wait_seconds_bucket{le=\"0.004\"} 1"));
}

TEST(Metrics, RefusesWhatOthersCouldReachAndPortsInUse) {
  Metrics metrics;
  EXPECT_THAT(std::string(metrics.Serve("0.0.0.0:0").status().message()), testing::HasSubstr("give 127.0.0.1"));
  EXPECT_EQ(metrics.Serve("nonsense").status().code(), absl::StatusCode::kInvalidArgument);
  const auto address = metrics.Serve("127.0.0.1:0");
  ASSERT_TRUE(address.ok()) << address.status();
  Metrics second;
  const auto taken = second.Serve(*address);
  EXPECT_EQ(taken.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(taken.status().message()), testing::HasSubstr("in use"));
}

}  // namespace
}  // namespace rekindle::common
