#include "worker/agent/agent_metrics.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/process.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Fetch(const std::string& address) {
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str())));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const common::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) return "";
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  if (write(fd.get(), request.data(), request.size()) < 0) return "";
  std::string reply;
  char buffer[4096];
  for (ssize_t got; (got = read(fd.get(), buffer, sizeof buffer)) > 0;) reply.append(buffer, static_cast<size_t>(got));
  return reply;
}

v1::TrainerMetrics Said(int rank, double steps) {
  v1::TrainerMetrics metrics;
  metrics.set_rank(rank);
  metrics.set_steps(steps);
  return metrics;
}

TEST(AgentMetrics, SumsGoOnWhenATrainerIsReplaced) {
  AgentMetrics metrics;
  const auto address = metrics.Serve("127.0.0.1:0");
  ASSERT_TRUE(address.ok()) << address.status();
  metrics.SetTrainers(2);
  metrics.CountRestart();
  metrics.Advance("job", {}, Said(1, 5));
  metrics.Advance("job", Said(1, 5), Said(1, 8));
  metrics.Advance("job", {}, Said(1, 2));  // Its successor starts from zero.
  const std::string page = Fetch(*address);
  EXPECT_THAT(page, HasSubstr("rekindle_steps_total{job=\"job\",rank=\"1\"} 10"));
  EXPECT_THAT(page, HasSubstr("rekindle_worker_trainers 2"));
  EXPECT_THAT(page, HasSubstr("rekindle_worker_trainer_restarts_total 1"));
}

TEST(AgentMetrics, NoticesAreCountedBySourceAndKind) {
  AgentMetrics metrics;
  const auto address = metrics.Serve("127.0.0.1:0");
  ASSERT_TRUE(address.ok()) << address.status();
  metrics.CountNotices("aws", {.leaves = 1, .hints = 2});
  metrics.CountNotices("aws", {.leaves = 1, .withdrawn = 1});
  const std::string page = Fetch(*address);
  EXPECT_THAT(page, HasSubstr("rekindle_notices_total{kind=\"leaves\",source=\"aws\"} 2"));
  EXPECT_THAT(page, HasSubstr("rekindle_notices_total{kind=\"hint\",source=\"aws\"} 2"));
  EXPECT_THAT(page, HasSubstr("rekindle_notices_total{kind=\"withdrawn\",source=\"aws\"} 1"));
}

TEST(AgentMetrics, NonsenseFromATrainerChangesNothing) {
  AgentMetrics metrics;
  const auto address = metrics.Serve("127.0.0.1:0");
  ASSERT_TRUE(address.ok()) << address.status();
  metrics.Advance("job", {}, Said(-1, 5));
  metrics.Advance("job", {}, Said(1 << 30, 5));
  metrics.Advance("job", {}, Said(0, 7));
  metrics.Advance("job", Said(0, 7), Said(0, 3));
  metrics.Advance("job", Said(0, 7), Said(0, NAN));
  metrics.Advance("job", Said(0, 7), Said(0, HUGE_VAL));
  const std::string page = Fetch(*address);
  EXPECT_THAT(page, HasSubstr("rekindle_steps_total{job=\"job\",rank=\"0\"} 7"));
  EXPECT_THAT(page, Not(HasSubstr("rank=\"-1\"")));
  EXPECT_THAT(page, Not(HasSubstr("rank=\"1073741824\"")));
}

}  // namespace
}  // namespace rekindle::agent
