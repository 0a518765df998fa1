// Tests the web page over the network: addresses, tokens, and the file that says which address to open.
#include "coordinator/web/server/web_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "common/net/http.h"
#include "common/testing/raw_client_testing.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/web/parts/token.h"
#include "coordinator/web/server/web_file.h"
#include "coordinator/web/testing/prepared_source_testing.h"

namespace rekindle::coordinator::web {
namespace {

using common::RawClient;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class WebServerTest : public testing::Test {
 protected:
  void TearDown() override { server_.reset(); }

  absl::Status Start(const std::string& listen, const common::Security& security = {}) {
    server_.reset();
    auto server = WebServer::Start({.listen = listen, .security = security, .folder = folder_, .version = "1.2.3"},
                                   std::make_unique<PreparedSource>(3, 3));
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    return absl::OkStatus();
  }
  std::string Text(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ + "/" + name).rdbuf();
    return text.str();
  }
  int Mode(const std::string& name) const {
    struct stat facts = {};
    return stat((folder_ + "/" + name).c_str(), &facts) == 0 ? facts.st_mode & 0777 : -1;
  }
  std::string Ask(const std::string& path, const std::string& headers) {
    const std::string address = server_->address().substr(7, server_->address().size() - 8);
    return RawClient::Ask(address, path, headers);
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  std::unique_ptr<WebServer> server_;
};

TEST_F(WebServerTest, OnLoopbackTheAddressToOpenHasATokenOfThePagesOwn) {
  ASSERT_EQ(Start("127.0.0.1:0"), absl::OkStatus());
  EXPECT_THAT(server_->address(), StartsWith("http://127.0.0.1:"));
  EXPECT_THAT(server_->address(), Not(HasSubstr("token")));
  const std::string token = *PageToken("", folder_);
  EXPECT_GE(token.size(), 64u);
  EXPECT_THAT(server_->address_with_token(), StartsWith(server_->address() + "#token="));
  EXPECT_EQ(Text("web"), server_->address_with_token() + "\n");
  EXPECT_EQ(Mode("web"), 0600);
  EXPECT_EQ(Mode("page-token"), 0600);
  EXPECT_THAT(Ask("/api/summary", "Host: localhost\r\nAuthorization: Bearer " + token + "\r\n"), HasSubstr("1.2.3"));
  EXPECT_THAT(Ask("/api/summary", "Host: localhost\r\n"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(Ask("/", "Host: localhost\r\n"), HasSubstr("<!doctype html>"));
  EXPECT_THAT(Ask("/", "Host: evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("/", "Host: localhost\r\nHost: evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("/", ""), StartsWith("HTTP/1.1 403"));
  // After a restart of the server the token is still the same, so a page that is open in a browser goes on.
  ASSERT_EQ(Start("127.0.0.1:0"), absl::OkStatus());
  EXPECT_EQ(*PageToken("", folder_), token);
}

TEST_F(WebServerTest, AFileThatIsNoTokenIsNamed) {
  std::ofstream(folder_ + "/page-token") << "short\n";
  EXPECT_THAT(std::string(PageToken("", folder_).status().message()), HasSubstr(folder_ + "/page-token"));
  EXPECT_FALSE(PageToken("", folder_ + "/none").ok());
}

TEST_F(WebServerTest, TheCoordinatorsTokenIsThePagesWhereThereIsOne) {
  std::ofstream(folder_ + "/token") << "operator/token+with=signs&more\n";
  ASSERT_EQ(Start("localhost:0", {.token_file = folder_ + "/token"}), absl::OkStatus());
  EXPECT_THAT(server_->address_with_token(), HasSubstr("#token=operator%2ftoken%2bwith%3dsigns%26more"));
  EXPECT_THAT(Ask("/api/summary", "Host: localhost\r\nAuthorization: Bearer operator/token+with=signs&more\r\n"),
              HasSubstr("1.2.3"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/page-token"));
  std::ofstream(folder_ + "/token") << "short\n";
  EXPECT_THAT(std::string(Start("localhost:0", {.token_file = folder_ + "/token"}).message()),
              HasSubstr("--token-file"));
}

TEST_F(WebServerTest, BeyondLoopbackThereIsTlsOrNothing) {
  const std::string command =
      absl::StrCat("cd ", folder_, " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 ",
                   "-subj /CN=page -addext subjectAltName=DNS:page.example,IP:127.0.0.1 -keyout key.pem -out cert.pem ",
                   "> openssl.log 2>&1");
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ofstream(folder_ + "/token") << "0123456789abcdef-of-the-test\n";
  common::Security security{.tls_cert = folder_ + "/cert.pem",
                            .tls_key = folder_ + "/key.pem",
                            .tls_ca = "",
                            .token_file = folder_ + "/token"};
  for (std::string common::Security::*missing :
       {&common::Security::tls_cert, &common::Security::tls_key, &common::Security::token_file}) {
    common::Security without = security;
    (without.*missing).clear();
    const absl::Status refused = Start("0.0.0.0:0", without);
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("would be open to others"));
  }
  ASSERT_EQ(Start("0.0.0.0:0", security), absl::OkStatus());
  EXPECT_THAT(server_->address(), StartsWith("https://0.0.0.0:"));
  EXPECT_EQ(server_->address_with_token(), server_->address()) << "the token is for those who have it";
  const std::string port = server_->address().substr(std::string("https://0.0.0.0:").size());
  const auto ask = [&](const std::string& host) {
    return (*common::OpenHttp("https://127.0.0.1:" + port.substr(0, port.size() - 1),
                              {.seconds = 20, .reach = common::Reach::kSecure, .ca_file = folder_ + "/cert.pem"}))
        ->Send({.path = "/api/summary",
                .headers = {{"Host", host}, {"Authorization", "Bearer 0123456789abcdef-of-the-test"}}});
  };
  for (const char* ours : {"page.example", "page.example:443", "127.0.0.1"}) {
    const auto answer = ask(ours);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->status, 200) << ours;
  }
  EXPECT_EQ(ask("evil.example")->status, 403);
  EXPECT_EQ(ask("localhost")->status, 403);
}

TEST_F(WebServerTest, AddressesThatAreNoneAreRefused) {
  EXPECT_THAT(std::string(Start("7080").message()), HasSubstr("--web '7080' is no address"));
  EXPECT_EQ(Start("unix:/tmp/x").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(Start("127.0.0.1:0", {.token_file = "/none"}).message()), HasSubstr("--token-file /none"));
}

}  // namespace
}  // namespace rekindle::coordinator::web
