// Tests TLS with a certificate that openssl made, through the project's own client.
#include "common/serve/page_tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/net/http.h"
#include "common/serve/page_server.h"
#include "common/testing/raw_client_testing.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

using testing::HasSubstr;

class PageTlsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string command = absl::StrCat(
        "cd ", folder_, " && for name in one other; do openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 ",
        "-nodes -days 2 -subj /CN=page -addext subjectAltName=DNS:page.example,DNS:*.pages.example,IP:127.0.0.1 ",
        "-keyout $name.key -out $name.pem; done > openssl.log 2>&1");
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  std::string File(const std::string& name) const { return folder_ + "/" + name; }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(PageTlsTest, ServesWhoeverBelievesTheCertificate) {
  auto tls = PageTls::Open(File("one.pem"), File("one.key"));
  ASSERT_TRUE(tls.ok()) << tls.status();
  const auto server = PageServer::Start({.listen = "127.0.0.1:0", .tls = tls->get()}, [](const PageRequest&) {
    return PageAnswer{.content_type = "text/plain", .body = std::make_shared<const std::string>("hi")};
  });
  ASSERT_TRUE(server.ok()) << server.status();
  HttpOptions options{.seconds = 20, .reach = Reach::kSecure, .ca_file = File("one.pem")};
  const auto ask = [&] { return (*OpenHttp("https://" + (*server)->address(), options))->Send({.path = "/"}); };
  const auto answer = ask();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->body, "hi");
  options.ca_file = File("other.pem");
  EXPECT_FALSE(ask().ok());
  // A client without TLS gets nothing, and the server continues.
  EXPECT_EQ(RawClient::Ask((*server)->address(), "/").find("hi"), std::string::npos);
  options.ca_file = File("one.pem");
  EXPECT_TRUE(ask().ok());
}

TEST_F(PageTlsTest, KnowsWhomTheCertificateNames) {
  auto tls = PageTls::Open(File("one.pem"), File("one.key"));
  ASSERT_TRUE(tls.ok()) << tls.status();
  for (const char* host : {"page.example", "PAGE.example", "a.pages.example", "127.0.0.1"}) {
    EXPECT_TRUE((*tls)->Names(host)) << host;
  }
  for (const char* host : {"", "example", "pages.example", "a.b.pages.example", "evil.example", "127.0.0.2"}) {
    EXPECT_FALSE((*tls)->Names(host)) << host;
  }
}

TEST_F(PageTlsTest, FilesThatDoNotFitAreNamed) {
  const auto refusal = [&](const std::string& cert, const std::string& key) {
    return std::string(PageTls::Open(File(cert), File(key)).status().message());
  };
  std::ofstream(File("text")) << "no certificate\n";
  EXPECT_THAT(refusal("none", "one.key"), HasSubstr("--tls-cert"));
  EXPECT_THAT(refusal("text", "one.key"), HasSubstr("--tls-cert"));
  EXPECT_THAT(refusal("one.pem", "other.key"), HasSubstr("is not the key of --tls-cert"));
}

}  // namespace
}  // namespace rekindle::common
