// Runs the server against correct clients, and against clients that are slow, idle or break the rules of HTTP.
#include "common/serve/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/testing/raw_client_testing.h"
#include "common/time/clock.h"

namespace rekindle::common {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Answers with what was requested: the method, the path, and the values of the query and of a header.
PageAnswer Echo(const PageRequest& request) {
  return {.status = 200,
          .headers = {{"X-Own", "yes"}},
          .content_type = "text/plain",
          .body = std::make_shared<const std::string>(request.method + " " + request.path + " " + request.Query("q") +
                                                      " " + request.Header("x-word") + " end")};
}

class PageServerTest : public testing::Test {
 protected:
  void Start(PageServer::Options options = {}, PageServer::Handler handler = Echo) {
    options.listen = "127.0.0.1:0";
    auto server = PageServer::Start(options, std::move(handler));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  std::string Ask(const std::string& path, const std::string& headers = "", const std::string& method = "GET") {
    return RawClient::Ask(server_->address(), path, headers, method);
  }

  std::unique_ptr<PageServer> server_;
};

TEST_F(PageServerTest, AnswersGetAndHead) {
  Start();
  const std::string got = Ask("/a%20b/c?q=1%2B1&q=2", "X-Word: hi\r\nx-word: ho\r\n");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(got, HasSubstr("X-Own: yes\r\n"));
  EXPECT_THAT(got, HasSubstr("\r\n\r\nGET /a%20b/c 1+1 hi, ho end"));
  const std::string head = Ask("/x", "", "HEAD");
  EXPECT_THAT(head, HasSubstr("Content-Length: 13\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("end")));
}

TEST_F(PageServerTest, AConnectionHasSeveralRequestsAlsoWhereTheyComeAtOnce) {
  Start();
  RawClient client(server_->address());
  ASSERT_TRUE(client.Send("GET /1 HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(client.Read("end"), HasSubstr("GET /1"));
  ASSERT_TRUE(client.Send("GET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\nConnection: close\r\n\r\n"));
  const std::string got = client.Read();
  EXPECT_THAT(got, HasSubstr("GET /2"));
  EXPECT_THAT(got, HasSubstr("GET /3"));
}

TEST_F(PageServerTest, WhatIsInABodyIsNoRequest) {
  Start();
  for (const char* length : {"Content-Length: 36\r\n", "Transfer-Encoding: chunked\r\n"}) {
    RawClient client(server_->address());
    client.Send(std::string("POST /first HTTP/1.1\r\n") + length + "\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string got = client.Read();
    EXPECT_THAT(got, HasSubstr("POST /first"));
    EXPECT_THAT(got, HasSubstr("Connection: close"));
    EXPECT_THAT(got, Not(HasSubstr("/second")));
  }
}

TEST_F(PageServerTest, NothingIsCompressedOrCutIntoRanges) {
  Start();
  const std::string got = Ask("/x", "Accept-Encoding: br, gzip\r\nRange: bytes=0-1\r\nExpect: 100-continue\r\n");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(got, Not(HasSubstr("Content-Encoding")));
  EXPECT_THAT(got, HasSubstr("\r\n\r\nGET /x   end"));
}

TEST_F(PageServerTest, ALongHeaderOfRangesHarmsNobody) {
  Start();
  std::string ranges = "bytes=0-1";
  while (ranges.size() < 15'000) ranges += ",2-3";
  EXPECT_THAT(Ask("/x", "Range: " + ranges + "\r\n"), HasSubstr("\r\n\r\nGET /x   end"));
  EXPECT_THAT(Ask("/y"), HasSubstr("GET /y"));
}

TEST_F(PageServerTest, AMalformedHeadIsRefusedWithHeadersThatKeepItFromBeingAPage) {
  Start();
  const std::string got = Ask("/x", "Content-Length : 5\r\n", "POST");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(got, HasSubstr("X-Content-Type-Options: nosniff"));
  EXPECT_THAT(got, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(got, HasSubstr("Cache-Control: no-store"));
}

TEST_F(PageServerTest, ManySlowRequestsKeepNobodyAway) {
  Start({.threads = 2, .read_seconds = 600});
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 10; ++i) {
    slow.push_back(std::make_unique<RawClient>(server_->address()));
    ASSERT_TRUE(slow.back()->Send("GET /slow HTTP/1.1\r\n"));
  }
  // The first two slow requests arrived while no other request was waiting, so they were given the full time. They are
  // ended early once other requests wait.
  EXPECT_THAT(Ask("/other"), HasSubstr("GET /other"));
}

TEST_F(PageServerTest, ARequestHasAMostOfBytes) {
  Start({.request_bytes = 2000});
  EXPECT_THAT(Ask("/x", "X-Word: " + std::string(1000, 'x') + "\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask("/x", "X-Word: " + std::string(3000, 'x') + "\r\n"), Not(HasSubstr("200")));
  EXPECT_THAT(Ask("/" + std::string(1 << 20, 'x')), Not(HasSubstr("200")));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "a: b\r\n";
  EXPECT_THAT(Ask("/x", many), Not(HasSubstr("200")));
  EXPECT_THAT(Ask("/x"), StartsWith("HTTP/1.1 200"));
}

TEST_F(PageServerTest, WhatIsNoHttpIsRefused) {
  Start({.read_seconds = 0.5});
  for (const char* bytes : {"GET /\r\n\r\n", "HELLO / HTTP/1.1\r\n\r\n", "GET / HTTP/9\r\n\r\n", "\r\n\r\n", "\n",
                            "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"}) {
    RawClient client(server_->address());
    client.Send(bytes);
    EXPECT_THAT(client.Read(), Not(HasSubstr("200 OK"))) << bytes;
  }
}

// Only one thread serves, and a slow or idle client does not hold it for ever.
TEST_F(PageServerTest, ASlowRequestEndsInTime) {
  Start({.threads = 1, .read_seconds = 0.3});
  RawClient slow(server_->address());
  ASSERT_TRUE(slow.Send("GET /slow HTTP/1.1\r\n"));
  const double begun = SteadySeconds();
  const std::string other = Ask("/other");
  EXPECT_THAT(other, HasSubstr("GET /other"));
  EXPECT_LT(SteadySeconds() - begun, 10);
  EXPECT_THAT(slow.Read(), Not(HasSubstr("200 OK")));
}

TEST_F(PageServerTest, OneThatReadsNothingEndsInTime) {
  const auto large = std::make_shared<const std::string>(64 << 20, 'x');
  Start({.threads = 1, .write_seconds = 0.3}, [large](const PageRequest& request) {
    return request.path == "/large" ? PageAnswer{.content_type = "text/plain", .body = large} : Echo(request);
  });
  RawClient idle(server_->address());
  ASSERT_TRUE(idle.Send("GET /large HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(Ask("/other"), HasSubstr("GET /other"));
}

TEST_F(PageServerTest, IdleConnectionsHaveNoThreadAndTheOldestGoesForANewOne) {
  Start({.threads = 1, .connections = 4});
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 4; ++i) {
    idle.push_back(std::make_unique<RawClient>(server_->address()));
    ASSERT_TRUE(idle.back()->Send("GET /idle HTTP/1.1\r\n\r\n"));
    EXPECT_THAT(idle.back()->Read("end"), HasSubstr("GET /idle"));
  }
  EXPECT_THAT(Ask("/new"), HasSubstr("GET /new"));
  EXPECT_EQ(idle.front()->Read(), "");
  ASSERT_TRUE(idle.back()->Send("GET /again HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(idle.back()->Read("end"), HasSubstr("GET /again"));
}

TEST_F(PageServerTest, AnIdleConnectionIsClosed) {
  Start({.idle_seconds = 0.1});
  RawClient client(server_->address());
  ASSERT_TRUE(client.Send("GET /1 HTTP/1.1\r\n\r\n"));
  const std::string got = client.Read();
  EXPECT_THAT(got, HasSubstr("GET /1"));
  EXPECT_THAT(got, Not(HasSubstr("(nothing more came)")));
}

TEST_F(PageServerTest, EndsAtOnceWhateverItsClientsDo) {
  Start({.threads = 2, .read_seconds = 600, .idle_seconds = 600});
  RawClient silent(server_->address()), half(server_->address()), idle(server_->address());
  half.Send("GET /half HTTP/1.1\r\n");
  idle.Send("GET /idle HTTP/1.1\r\n\r\n");
  EXPECT_THAT(idle.Read("end"), HasSubstr("GET /idle"));
  const double begun = SteadySeconds();
  server_.reset();
  EXPECT_LT(SteadySeconds() - begun, 5);
}

TEST_F(PageServerTest, AnAddressThatCannotBeHadIsSaid) {
  Start();
  const auto second = PageServer::Start({.listen = server_->address()}, Echo);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("in use"));
  EXPECT_THAT(std::string(PageServer::Start({.listen = "7080"}, Echo).status().message()),
              HasSubstr("--web '7080' is no address"));
  EXPECT_FALSE(PageServer::Start({.listen = "no.such.host.invalid:0"}, Echo).ok());
  EXPECT_EQ(PageServer::Start({.listen = "192.0.2.1:0"}, Echo).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace rekindle::common
