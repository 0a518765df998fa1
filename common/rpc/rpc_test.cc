#include "common/rpc/rpc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/testing/rpc_testing.h"

namespace rekindle::common {
namespace {

using testing::HasSubstr;

class TlsRpcTest : public RpcTest {
 protected:
  // Makes an authority and certificates that it signed for the server (127.0.0.1), a client and a node, whose names
  // contain no address. It also makes a certificate of a foreign authority.
  void MakeCertificates() {
    const std::string script =
        "cd " + folder_ +
        " && authority() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=$1"
        "      -keyout $1.key -out $1.pem; }"
        " && leaf() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=$1 -keyout $1.key"
        "      -out $1.csr && printf \"subjectAltName=${3:-IP:127.0.0.1,DNS:localhost}\" > $1.ext"
        "      && openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -days 2 -extfile $1.ext"
        "      -out $1.pem; }"
        " && { authority ca && authority other && leaf server ca && leaf client ca && leaf stranger other"
        "   && leaf node ca DNS:rekindle-node; }"
        "    > openssl.log 2>&1";
    ASSERT_EQ(std::system(script.c_str()), 0) << folder_;
  }

  Security Files(const std::string& who) {
    return {folder_ + "/" + who + ".pem", folder_ + "/" + who + ".key", folder_ + "/ca.pem", ""};
  }
};

TEST_F(RpcTest, LoopbackAndUnixSocketsAreOpenByDefault) {
  auto tcp = Serve({.listen = "127.0.0.1:0"});
  ASSERT_NE(tcp, nullptr);
  EXPECT_GT(tcp->port(), 0);
  EXPECT_EQ(*Call(tcp->address(), {}), "x");
  auto unix_socket = Serve({.listen = "unix:" + folder_ + "/socket"});
  ASSERT_NE(unix_socket, nullptr);
  EXPECT_EQ(*Call(unix_socket->address(), {}), "x");
  EXPECT_THAT(Refusal({.listen = unix_socket->address()}).ToString(), HasSubstr("served by another process"));
}

TEST_F(RpcTest, AddressesAreChecked) {
  for (const char* bad : {"", "7070", ":7070", "host:", "host:70000", "::1:80", "host:x"}) {
    EXPECT_THAT(Refusal({.listen = bad}).ToString(), HasSubstr("is no address")) << bad;
    EXPECT_FALSE(Connect(bad).ok()) << bad;
  }
  EXPECT_THAT(Refusal({.listen = "unix:" + std::string(200, 'x')}).ToString(), HasSubstr("use a shorter folder"));
  EXPECT_THAT(Refusal({.listen = "unix:" + folder_ + "/none/socket"}).ToString(), HasSubstr("its folder"));
  EXPECT_TRUE(IsLocalAddress("127.1.2.3:1"));
  EXPECT_TRUE(IsLocalAddress("[::1]:1"));
  EXPECT_TRUE(IsLocalAddress("localhost:1"));
  EXPECT_FALSE(IsLocalAddress("0.0.0.0:1"));
  EXPECT_FALSE(IsLocalAddress("[::]:1"));
  EXPECT_FALSE(IsLocalAddress("127.example.org:1"));
}

TEST_F(RpcTest, OtherLoopbackAddressesNeedTls) {
  for (const char* other : {"127.0.0.2:0", "127.1.2.3:0"}) {
    EXPECT_THAT(Refusal({.listen = other}).ToString(), HasSubstr("take 127.0.0.1, [::1] or a localhost")) << other;
    EXPECT_THAT(Connect(other).status().ToString(), HasSubstr("without TLS")) << other;
  }
}

// Lets the calling thread see the file at `path` as /etc/hosts. Returns false if the user may not do that.
bool UseHosts(const std::string& path) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount(path.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
}

TEST_F(RpcTest, LocalhostIsHeldAgainstWhatItLeadsTo) {
  const std::string hosts = folder_ + "/hosts";
  absl::Status served, connected;
  for (const char* elsewhere : {"127.0.0.2", "192.0.2.7"}) {
    std::ofstream(hosts) << elsewhere << " localhost\n";
    bool may = false;
    std::thread([&] {
      may = UseHosts(hosts);
      if (!may) return;
      served = Refusal({.listen = "localhost:0"});
      connected = Connect("localhost:7070").status();
    }).join();
    if (!may) GTEST_SKIP() << "only root may lead localhost elsewhere";
    for (const absl::Status& refused : {served, connected}) {
      EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << refused;
      EXPECT_THAT(std::string(refused.message()), HasSubstr(absl::StrCat("which leads to ", elsewhere, " here")));
    }
  }
}

TEST_F(RpcTest, PortInUseIsNamed) {
  auto first = Serve({});
  ASSERT_NE(first, nullptr);
  const absl::Status second = Refusal({.listen = first->address()});
  EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.message()), HasSubstr("port " + std::to_string(first->port()) + " of 127.0.0.1"));
  EXPECT_THAT(std::string(second.message()), HasSubstr("is in use"));
}

TEST_F(RpcTest, ListeningElsewhereNeedsTheFiles) {
  for (const char* open : {"0.0.0.0:0", "[::]:0"}) {
    const absl::Status refused = Refusal({.listen = open});
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("--tls-cert, --tls-key, --tls-ca and --token-file"));
  }
}

TEST_F(RpcTest, MessagesOverTheLimitAreRefused) {
  auto server = Serve({});
  ASSERT_NE(server, nullptr);
  const std::string large(kMaxMessageBytes + 1, 'x');
  EXPECT_EQ(Call(server->address(), {}, large).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Call(server->address(), {}, large, 2 * kMaxMessageBytes).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*Call(server->address(), {}), "x");
}

TEST_F(RpcTest, TokenIsCheckedOnEveryCall) {
  const Security right{.token_file = Write("token", "0123456789abcdef\n")};
  const Security wrong{.token_file = Write("wrong", "0123456789abcdeX\n")};
  for (const std::string& listen : {std::string("127.0.0.1:0"), "unix:" + folder_ + "/s"}) {
    auto server = Serve({.listen = listen, .security = right});
    ASSERT_NE(server, nullptr);
    const auto accepted = Call(server->address(), right);
    EXPECT_TRUE(accepted.ok()) << listen << ": " << accepted.status();
    const absl::Status missing = Call(server->address(), {}).status();
    EXPECT_EQ(missing.code(), absl::StatusCode::kUnauthenticated) << missing;
    EXPECT_THAT(std::string(missing.message()), HasSubstr("--token-file"));
    EXPECT_EQ(Call(server->address(), wrong).status().code(), absl::StatusCode::kUnauthenticated);
  }
}

TEST_F(RpcTest, TokenIsNeverSentInClearText) {
  const Security token{.token_file = Write("token", "0123456789abcdef")};
  EXPECT_THAT(Connect("192.0.2.1:7070", {token}).status().ToString(), HasSubstr("in clear text"));
}

TEST_F(TlsRpcTest, FilesAreCheckedAtStart) {
  MakeCertificates();
  const std::string token = Write("token", "0123456789abcdef");
  Security mixed = Files("server");
  mixed.tls_key = folder_ + "/client.key";
  EXPECT_THAT(Refusal({.security = mixed}).ToString(), HasSubstr("is not the key of --tls-cert"));
  Security missing = Files("server");
  missing.tls_ca = folder_ + "/none.pem";
  EXPECT_THAT(Refusal({.security = missing}).ToString(), HasSubstr("--tls-ca " + missing.tls_ca + ": cannot be read"));
  Security partial = Files("server");
  partial.tls_ca = "";
  EXPECT_THAT(Refusal({.security = partial}).ToString(), HasSubstr("TLS needs three files"));
  EXPECT_THAT(Refusal({.security = {.token_file = Write("short", "abc")}}).ToString(),
              HasSubstr("under 16 characters"));
  EXPECT_THAT(Refusal({.security = {.token_file = Write("lines", "0123456789abcdef\n0123456789")}}).ToString(),
              HasSubstr("one line of ASCII"));
}

TEST_F(TlsRpcTest, MutualTls) {
  MakeCertificates();
  const std::string token = Write("token", "0123456789abcdef");
  Security server_files = Files("server");
  server_files.token_file = token;
  auto server = Serve({.listen = "0.0.0.0:0", .security = server_files});
  ASSERT_NE(server, nullptr);
  const std::string address = "127.0.0.1:" + std::to_string(server->port());

  Security client = Files("client");
  client.token_file = token;
  const auto accepted = Call(address, client);
  ASSERT_TRUE(accepted.ok()) << accepted.status();

  EXPECT_EQ(Call(address, Files("client")).status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Call(address, {}).status().code(), absl::StatusCode::kUnavailable) << "plain text";
  Security stranger = Files("stranger");
  stranger.token_file = token;
  EXPECT_EQ(Call(address, stranger).status().code(), absl::StatusCode::kUnavailable) << "another authority's";

  grpc::SslCredentialsOptions no_certificate;
  std::ifstream ca(folder_ + "/ca.pem");
  no_certificate.pem_root_certs.assign(std::istreambuf_iterator<char>(ca), {});
  auto stub = v1::Coordinator::NewStub(grpc::CreateChannel(address, grpc::SslCredentials(no_certificate)));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  v1::Job reply;
  const grpc::Status refused = stub->GetJob(&context, v1::GetJobRequest(), &reply);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE) << refused.error_message();
}

TEST_F(TlsRpcTest, ACertificateMayNameWhatTheServerIsRatherThanWhere) {
  MakeCertificates();
  Security node = Files("node");
  node.token_file = Write("token", "0123456789abcdef");
  auto server = Serve({.listen = "0.0.0.0:0", .security = node});
  ASSERT_NE(server, nullptr);
  const std::string address = "127.0.0.1:" + std::to_string(server->port());
  const auto answer = [&](const std::string& server_name) {
    auto channel = Connect(address, {.security = node, .server_name = server_name});
    if (!channel.ok()) return channel.status();
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
    v1::GetJobRequest request;
    request.set_job("x");
    v1::Job reply;
    return StatusFromGrpc(v1::Coordinator::NewStub(*channel)->GetJob(&context, request, &reply));
  };
  EXPECT_TRUE(answer("rekindle-node").ok()) << answer("rekindle-node");
  EXPECT_EQ(answer("").code(), absl::StatusCode::kUnavailable) << "the address";
  EXPECT_EQ(answer("other").code(), absl::StatusCode::kUnavailable) << "another name";
}

TEST_F(RpcTest, StatusesSurviveTheWire) {
  EXPECT_TRUE(StatusFromGrpc(StatusToGrpc(absl::OkStatus())).ok());
  const absl::Status status = absl::AbortedError("why");
  EXPECT_EQ(StatusFromGrpc(StatusToGrpc(status)), status);
}

}  // namespace
}  // namespace rekindle::common
