// Runs the HTTP client against a correct server and against servers that stall or break the rules of HTTP and TLS.
#include "common/net/http.h"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/net/ec2_metadata.h"
#include "common/process/process.h"
#include "common/testing/http_testing.h"
#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"

namespace rekindle::common {
namespace {

using ::testing::HasSubstr;

class HttpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    port_ = server_.bind_to_any_port("127.0.0.1");
    ASSERT_GT(port_, 0);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  void TearDown() override {
    server_.stop();
    thread_.join();
  }
  std::string Endpoint() const { return absl::StrCat("http://127.0.0.1:", port_); }
  absl::StatusOr<HttpAnswer> Get(const std::string& path, HttpOptions options = {.seconds = 5}) {
    auto http = OpenHttp(Endpoint(), options);
    EXPECT_TRUE(http.ok()) << http.status();
    return (*http)->Send({.path = path, .headers = {{"X-Word", "abc"}}});
  }

  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
};

TEST_F(HttpTest, MethodHeadersBodyAndStatusArrive) {
  server_.Get("/hello", [](const httplib::Request& request, httplib::Response& response) {
    response.set_header("X-Answer", request.get_header_value("X-Word"));
    response.set_content("hi", "text/plain");
  });
  server_.Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.body, "application/json");
  });
  const auto answer = Get("/hello");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hi");
  EXPECT_EQ(answer->headers.at("x-answer"), "abc");
  EXPECT_EQ(Get("/missing")->status, 404);
  EXPECT_EQ((*OpenHttp(Endpoint()))->Send({.method = "POST", .path = "/echo", .body = "{}"})->body, "{}");
}

TEST_F(HttpTest, ARedirectIsNotFollowed) {
  bool followed = false;
  server_.Get("/from", [](const httplib::Request&, httplib::Response& response) { response.set_redirect("/to"); });
  server_.Get("/to", [&](const httplib::Request&, httplib::Response&) { followed = true; });
  EXPECT_TRUE(absl::IsFailedPrecondition(Get("/from").status()));
  EXPECT_FALSE(followed);
}

TEST_F(HttpTest, AnEndlessBodyIsCutOff) {
  server_.Get("/endless", [](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("text/plain", [](size_t, httplib::DataSink& sink) {
      const std::string part(4096, 'x');
      return sink.write(part.data(), part.size());
    });
  });
  EXPECT_TRUE(absl::IsResourceExhausted(Get("/endless").status()));
  server_.Get("/large", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(100, 'x'), "text/plain");
  });
  EXPECT_TRUE(absl::IsResourceExhausted(Get("/large", {.seconds = 5, .max_body = 99}).status()));
  EXPECT_EQ(Get("/large", {.seconds = 5, .max_body = 100})->body.size(), 100u);
}

TEST_F(HttpTest, AnInstanceMetadataServiceWithTokensThatExpire) {
  std::string token = "one";
  server_.Put("/latest/api/token",
              [&](const httplib::Request&, httplib::Response& response) { response.set_content(token, "text/plain"); });
  server_.Get(
      "/latest/meta-data/spot/instance-action", [&](const httplib::Request& request, httplib::Response& response) {
        if (request.get_header_value("X-aws-ec2-metadata-token") != token) {
          response.status = 401;
        } else {
          response.set_content(R"({"action": "terminate", "time": "2017-09-18T08:22:00Z"})", "application/json");
        }
      });
  Ec2Metadata metadata(*OpenHttp(Endpoint(), {.seconds = 5}));
  EXPECT_THAT(*metadata.Get("/latest/meta-data/spot/instance-action", 0), HasSubstr("terminate"));
  token = "two";
  EXPECT_THAT(*metadata.Get("/latest/meta-data/spot/instance-action", 1), HasSubstr("terminate"));
  EXPECT_EQ(*metadata.Get("/latest/meta-data/none", 2), "");
}

// Makes two certificate authorities, and a certificate for 127.0.0.1 that the first one has signed.
class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string script =
        "cd " + dir_ +
        " && key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'"
        " && for a in ca other; do openssl req -x509 $key -days 2 -subj /CN=$a -keyout $a.key -out $a.pem; done"
        " && openssl req $key -subj /CN=api -keyout api.key -out api.csr"
        " && printf 'subjectAltName=IP:127.0.0.1' > api.ext"
        " && openssl x509 -req -in api.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile api.ext -out "
        "api.pem";
    ASSERT_EQ(std::system(("(" + script + ") > /dev/null 2>&1").c_str()), 0);
    server_ = std::make_unique<httplib::SSLServer>((dir_ + "/api.pem").c_str(), (dir_ + "/api.key").c_str());
    server_->Get(
        "/", [](const httplib::Request&, httplib::Response& response) { response.set_content("hi", "text/plain"); });
    port_ = server_->bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_->listen_after_bind(); });
  }
  void TearDown() override {
    server_->stop();
    thread_.join();
  }
  absl::StatusOr<HttpAnswer> Get(const std::string& authority) {
    auto http = OpenHttp(absl::StrCat("https://127.0.0.1:", port_),
                         {.seconds = 5, .ca_file = dir_ + "/" + authority, .allowed_host = "127.0.0.1"});
    EXPECT_TRUE(http.ok()) << http.status();
    return (*http)->Send({.path = "/"});
  }

  TemporaryFolder temporary_;
  const std::string dir_ = temporary_.path();
  std::unique_ptr<httplib::SSLServer> server_;
  std::thread thread_;
  int port_ = 0;
};

TEST_F(TlsTest, OnlyTheClustersAuthorityIsBelieved) {
  const auto answer = Get("ca.pem");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->body, "hi");
  EXPECT_TRUE(absl::IsFailedPrecondition(Get("other.pem").status())) << Get("other.pem").status();
  EXPECT_FALSE(Get("missing.pem").ok());
}

// A `MuteServer` accepts one connection, sends `words` on it, and then sends nothing more.
class MuteServer {
 public:
  explicit MuteServer(std::string words = "") : words_(std::move(words)), listening_(ListenOnLoopback()) {
    thread_ = std::thread([this] {
      connection_ = UniqueFd(accept(listening_.socket.get(), nullptr, nullptr));
      EXPECT_EQ(write(connection_.get(), words_.data(), words_.size()), ssize_t(words_.size()));
    });
  }
  ~MuteServer() {
    shutdown(listening_.socket.get(), SHUT_RDWR);
    thread_.join();
  }
  const std::string& endpoint() const { return listening_.endpoint; }

 private:
  const std::string words_;
  const Listening listening_;
  UniqueFd connection_;
  std::thread thread_;
};

TEST(HttpHang, AnAnswerThatDoesNotComeIsGivenUp) {
  for (const char* words : {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"}) {
    const MuteServer server(words);
    const double begun = SteadySeconds();
    const auto answer = (*OpenHttp(server.endpoint(), {.seconds = 0.2}))->Send({.path = "/"});
    EXPECT_TRUE(absl::IsDeadlineExceeded(answer.status())) << answer.status() << " after: " << words;
    EXPECT_LT(SteadySeconds() - begun, 5);
  }
}

TEST(HttpHang, HeadersWithoutAnEndAreGivenUp) {
  const Listening listening = ListenOnLoopback();
  std::thread server([&listening] {
    const UniqueFd connection(accept(listening.socket.get(), nullptr, nullptr));
    const std::string begin = "HTTP/1.1 200 OK\r\n", header = "X-More: yes\r\n";
    if (send(connection.get(), begin.data(), begin.size(), MSG_NOSIGNAL) <= 0) return;
    pollfd hung_up = {.fd = connection.get(), .events = POLLRDHUP, .revents = 0};
    // The server sends one byte at a time, always before the client's timeout for a single read ends.
    for (size_t at = 0; poll(&hung_up, 1, 20) == 0; at = (at + 1) % header.size()) {
      if (send(connection.get(), &header[at], 1, MSG_NOSIGNAL) <= 0) return;
    }
  });
  const double begun = SteadySeconds();
  const auto answer = (*OpenHttp(listening.endpoint, {.seconds = 0.5}))->Send({.path = "/"});
  EXPECT_TRUE(absl::IsDeadlineExceeded(answer.status())) << answer.status();
  EXPECT_LT(SteadySeconds() - begun, 5);
  server.join();
}

TEST(HttpHang, WhatIsNoHttpAndNobodyAtAll) {
  const MuteServer server("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_FALSE((*OpenHttp(server.endpoint(), {.seconds = 0.2}))->Send({.path = "/"}).ok());
  EXPECT_FALSE((*OpenHttp("http://127.0.0.1:1", {.seconds = 0.2}))->Send({.path = "/"}).ok());
}

TEST(Endpoints, OnlyLocalOnes) {
  for (const char* good :
       {"http://169.254.169.254", "http://127.0.0.1:8080", "http://[fd00:ec2::254]", "http://[::1]:80"}) {
    EXPECT_TRUE(CheckEndpoint(good, {}).ok()) << good;
  }
  for (const char* bad :
       {"https://169.254.169.254", "http://localhost", "http://10.0.0.1", "http://169.254.169.254.x.org",
        "http://127.0.0.1@evil", "http://127.0.0.1/path", "ftp://127.0.0.1", "http://", "http://[::1"}) {
    EXPECT_FALSE(CheckEndpoint(bad, {}).ok()) << bad;
  }
  EXPECT_TRUE(CheckEndpoint("https://10.96.0.1:443", {.allowed_host = "10.96.0.1"}).ok());
  EXPECT_FALSE(CheckEndpoint("https://10.96.0.2:443", {.allowed_host = "10.96.0.1"}).ok());
}

TEST(Endpoints, TheReachSaysWhoIsAsked) {
  EXPECT_TRUE(CheckEndpoint("https://autoscaling.us-east-2.amazonaws.com", {.reach = Reach::kSecure}).ok());
  EXPECT_TRUE(CheckEndpoint("http://127.0.0.1:5000", {.reach = Reach::kSecure}).ok());
  EXPECT_THAT(std::string(CheckEndpoint("http://example.com", {.reach = Reach::kSecure}).message()),
              HasSubstr("or https"));
  EXPECT_TRUE(CheckEndpoint("http://example.com", {.reach = Reach::kAny}).ok());
  EXPECT_FALSE(CheckEndpoint("http://example.com/path", {.reach = Reach::kAny}).ok());
}

}  // namespace
}  // namespace rekindle::common
