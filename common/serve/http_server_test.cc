#include "common/serve/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"

namespace rekindle::common {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kToken[] = "0123456789abcdef-of-this-test";

HttpAnswer Page(const HttpRequest& request) {
  if (request.path != "/page") return {404, {}, "none\n"};
  return {200, {{"content-type", "text/plain"}}, "what it says\n"};
}

class HttpServerTest : public testing::Test {
 protected:
  // Makes an authority with certificates for the server and a client, and a certificate of a foreign authority.
  void MakeCertificates() {
    const std::string script =
        "cd " + folder_ +
        " && authority() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=$1"
        "      -keyout $1.key -out $1.pem; }"
        " && leaf() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=$1 -keyout $1.key"
        "      -out $1.csr && printf 'subjectAltName=IP:127.0.0.1' > $1.ext"
        "      && openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -days 2 -extfile $1.ext"
        "      -out $1.pem; }"
        " && { authority ca && authority other && leaf server ca && leaf second ca && leaf client ca"
        "   && leaf stranger other; } > openssl.log 2>&1";
    ASSERT_EQ(std::system(script.c_str()), 0) << folder_;
    std::ofstream(File("token")) << kToken << "\n";
  }
  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  Security Files() const { return {File("server.pem"), File("server.key"), File("ca.pem"), File("token")}; }

  std::unique_ptr<HttpServer> Serve(const std::string& listen, const Security& security = {}, double seconds = 10) {
    auto server = HttpServer::Start({listen, "--page", security, seconds}, Page);
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? *std::move(server) : nullptr;
  }
  static absl::Status Refusal(const std::string& listen, const Security& security = {}) {
    return HttpServer::Start({listen, "--page", security}, Page).status();
  }
  static int PortOf(const HttpServer& server) {
    return std::atoi(server.address().substr(server.address().rfind(':') + 1).c_str());
  }

  // Returns an https client that trusts the test's authority. `who` names the client's certificate, and an empty `who`
  // gives it none.
  std::unique_ptr<httplib::SSLClient> Client(const HttpServer& server, const std::string& who) const {
    auto client = who.empty() ? std::make_unique<httplib::SSLClient>("127.0.0.1", PortOf(server))
                              : std::make_unique<httplib::SSLClient>("127.0.0.1", PortOf(server), File(who + ".pem"),
                                                                     File(who + ".key"));
    client->set_ca_cert_path(File("ca.pem").c_str());
    client->enable_server_certificate_verification(true);
    return client;
  }
  static httplib::Headers Bearer(const std::string& token) { return {{"Authorization", "Bearer " + token}}; }

  // Sends a text and returns all that comes back until the server ends the connection.
  static std::string Say(const HttpServer& server, const std::string& text) {
    const UniqueFd socket = Open(server);
    for (size_t at = 0; at < text.size();) {
      const ssize_t sent = send(socket.get(), text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) break;
      at += static_cast<size_t>(sent);
    }
    std::string reply;
    char buffer[4096];
    for (ssize_t got; (got = recv(socket.get(), buffer, sizeof buffer, 0)) > 0;) reply.append(buffer, got);
    return reply;
  }
  static UniqueFd Open(const HttpServer& server) {
    UniqueFd connected(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(PortOf(server)));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(connected.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return connected;
  }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(HttpServerTest, LoopbackIsServedInTheClear) {
  for (const char* listen : {"127.0.0.1:0", "localhost:0", "[::1]:0"}) {
    // A machine without IPv6 cannot listen on [::1], and the test leaves that address out.
    if (std::string(listen) == "[::1]:0" && !HttpServer::Start({listen, "--page"}, Page).ok()) continue;
    auto server = Serve(listen);
    ASSERT_NE(server, nullptr);
    httplib::Client client("http://" + server->address());
    const auto page = client.Get("/page");
    ASSERT_TRUE(page) << httplib::to_string(page.error());
    EXPECT_EQ(page->status, 200);
    EXPECT_EQ(page->body, "what it says\n");
    EXPECT_EQ(page->get_header_value("Content-Type"), "text/plain");
    EXPECT_EQ(client.Get("/page?query=1")->body, page->body);
    EXPECT_EQ(client.Get("/other")->status, 404);
    EXPECT_EQ(client.Post("/page", "x", "text/plain")->status, 405);
    EXPECT_EQ(client.Head("/page")->status, 200);
  }
}

TEST_F(HttpServerTest, ANameThatWasMadeToLeadHereIsRefused) {
  auto server = Serve("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  for (const char* host : {"127.0.0.1:9090", "127.0.0.1", "localhost", "localhost:1", "[::1]:7", "[::1]"}) {
    EXPECT_THAT(Say(*server, std::string("GET /page HTTP/1.1\r\nHost: ") + host + "\r\n\r\n"),
                StartsWith("HTTP/1.1 200"))
        << host;
  }
  for (const char* host : {"example.org", "example.org:9090", "127.0.0.1.example.org", "10.0.0.1"}) {
    EXPECT_THAT(Say(*server, std::string("GET /page HTTP/1.1\r\nHost: ") + host + "\r\n\r\n"),
                StartsWith("HTTP/1.1 403"))
        << host;
  }
  EXPECT_THAT(Say(*server, "GET /page HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, AddressesAreChecked) {
  for (const char* bad : {"", "nonsense", "127.0.0.1", ":9090", "127.0.0.1:x", "127.0.0.1:70000", "::1:80"}) {
    const absl::Status status = Refusal(bad);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << bad;
    EXPECT_THAT(std::string(status.message()), HasSubstr("--page")) << bad;
  }
  auto first = Serve("127.0.0.1:0");
  ASSERT_NE(first, nullptr);
  const absl::Status taken = Refusal(first->address());
  EXPECT_TRUE(absl::IsUnavailable(taken)) << taken;
  EXPECT_THAT(std::string(taken.message()), HasSubstr("takes any free port"));
}

TEST_F(HttpServerTest, BeyondLoopbackItNeedsAllFiles) {
  MakeCertificates();
  const Security all = Files();
  for (std::string Security::*file :
       {&Security::tls_cert, &Security::tls_key, &Security::tls_ca, &Security::token_file}) {
    Security some = all;
    (some.*file).clear();
    EXPECT_TRUE(absl::IsInvalidArgument(Refusal("0.0.0.0:0", some)));
  }
  EXPECT_THAT(std::string(Refusal("0.0.0.0:0").message()), HasSubstr("REKINDLE_TOKEN_FILE"));
  Security unfit = all;
  unfit.tls_key = File("client.key");
  EXPECT_THAT(std::string(Refusal("0.0.0.0:0", unfit).message()), HasSubstr("is not the key of"));
  EXPECT_NE(Serve("0.0.0.0:0", all), nullptr);
}

TEST_F(HttpServerTest, BeyondLoopbackItWantsACertificateAndTheToken) {
  MakeCertificates();
  auto server = Serve("0.0.0.0:0", Files());
  ASSERT_NE(server, nullptr);
  const auto page = Client(*server, "client")->Get("/page", Bearer(kToken));
  ASSERT_TRUE(page) << httplib::to_string(page.error());
  EXPECT_EQ(page->body, "what it says\n");

  EXPECT_EQ(Client(*server, "client")->Get("/page")->status, 401);
  for (const std::string& wrong : {std::string(kToken) + "x", std::string(kToken, sizeof kToken - 2),
                                   std::string("1123456789abcdef-of-this-test"), std::string()}) {
    const auto refused = Client(*server, "client")->Get("/page", Bearer(wrong));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 401) << wrong;
    EXPECT_EQ(refused->body.find("what it says"), std::string::npos);
    EXPECT_EQ(Client(*server, "client")->Get("/other", Bearer(wrong))->status, 401) << "nor does it say what is there";
  }
  EXPECT_FALSE(Client(*server, "")->Get("/page", Bearer(kToken))) << "without a certificate";
  EXPECT_FALSE(Client(*server, "stranger")->Get("/page", Bearer(kToken))) << "of a foreign authority";
  EXPECT_EQ(Say(*server, "GET /page HTTP/1.1\r\n\r\n").find("what it says"), std::string::npos) << "in the clear";
}

TEST_F(HttpServerTest, CertificatesAreReadAgain) {
  MakeCertificates();
  auto server = Serve("0.0.0.0:0", Files());
  ASSERT_NE(server, nullptr);
  const auto subject = [&] {
    auto client = Client(*server, "client");
    std::string name;
    const auto page = client->Get("/page", Bearer(kToken));
    if (!page) return httplib::to_string(page.error());
    // openssl asks for the certificate that the server shows, because the client does not report it.
    const std::string out = File("shown");
    const std::string command = "echo | openssl s_client -connect 127.0.0.1:" + std::to_string(PortOf(*server)) +
                                " -cert " + File("client.pem") + " -key " + File("client.key") + " 2>/dev/null" +
                                " | openssl x509 -noout -subject > " + out;
    if (std::system(command.c_str()) != 0) return std::string("openssl failed");
    std::getline(std::ifstream(out), name);
    return name;
  };
  EXPECT_THAT(subject(), HasSubstr("server"));
  // The new key does not fit the certificate until the new certificate is there too, so the earlier certificate is
  // still used.
  std::filesystem::copy_file(File("second.key"), File("server.key"), std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(subject(), HasSubstr("server"));
  std::filesystem::copy_file(File("second.pem"), File("server.pem"), std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(subject(), HasSubstr("second"));
}

TEST_F(HttpServerTest, ARequestIsBounded) {
  auto server = Serve("127.0.0.1:0", {}, /*seconds=*/1);
  ASSERT_NE(server, nullptr);
  std::string many = "GET /page HTTP/1.1\r\n";
  for (int i = 0; i < 100'000; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  EXPECT_EQ(Say(*server, many + "\r\n").find("HTTP/1.1 200"), std::string::npos);
  EXPECT_EQ(Say(*server, "GET /" + std::string(1 << 20, 'x') + " HTTP/1.1\r\n\r\n").find("HTTP/1.1 200"),
            std::string::npos);
  EXPECT_EQ(Say(*server, std::string(1000, '\0')).find("HTTP/1.1 200"), std::string::npos);
  // The server ignores the header Range, and sends a page once and whole.
  std::string ranges = "GET /page HTTP/1.1\r\nRange: bytes=0-";
  for (int i = 0; i < 1000; ++i) ranges += ",0-";
  const std::string page = Say(*server, ranges + "\r\n\r\n");
  EXPECT_THAT(page, HasSubstr("what it says"));
  EXPECT_LT(page.size(), 1000u);
  EXPECT_THAT(Say(*server, "GET /page HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, WhoeverIsSlowIsCutOffAndOthersAreServed) {
  auto server = Serve("127.0.0.1:0", {}, /*seconds=*/0.5);
  ASSERT_NE(server, nullptr);
  std::vector<UniqueFd> slow;
  for (int i = 0; i < HttpServer::kConnections; ++i) {
    slow.push_back(Open(*server));
    ASSERT_EQ(send(slow.back().get(), "GET", 3, MSG_NOSIGNAL), 3);
  }
  EXPECT_THAT(Say(*server, "GET /page HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200")) << "once these were cut off";
  char byte;
  for (const UniqueFd& each : slow) EXPECT_EQ(recv(each.get(), &byte, 1, 0), 0);
}

TEST_F(HttpServerTest, ItsEndWaitsForNobody) {
  auto server = Serve("127.0.0.1:0", {}, /*seconds=*/600);
  ASSERT_NE(server, nullptr);
  std::vector<UniqueFd> idle;
  for (int i = 0; i < HttpServer::kConnections + 2; ++i) idle.push_back(Open(*server));
  const double begun = SteadySeconds();
  server.reset();
  EXPECT_LT(SteadySeconds() - begun, 5);
}

}  // namespace
}  // namespace rekindle::common
