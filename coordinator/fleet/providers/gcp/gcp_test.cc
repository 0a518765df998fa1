// In these tests a fake cloud answers as the reference of Compute Engine's instanceGroupManagers shows. They also fetch
// tokens both of a service account's file and of the machine's own account.
#include "coordinator/fleet/providers/gcp/gcp.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "coordinator/fleet/providers/gcp/gcp_token.h"
#include "coordinator/fleet/providers/testing/cloud_testing.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kGroup[] = "/compute/v1/projects/proj/zones/us-central1-a/instanceGroupManagers/g";

json Instance(const std::string& name, const std::string& action, const std::string& status) {
  return {{"instance", "https://www.googleapis.com/compute/v1/projects/proj/zones/us-central1-a/instances/" + name},
          {"currentAction", action},
          {"instanceStatus", status}};
}

class GcpTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = NewGcpProvider(cloud_.endpoint(), {{"p", {"proj", "us-central1-a", "g"}}},
                               [](double) { return Token{.value = "t"}; });
    ASSERT_TRUE(made.ok()) << made.status();
    gcp_ = *std::move(made);
  }
  void Handle(const httplib::Request& request, httplib::Response& response) {
    EXPECT_EQ(request.get_header_value("Authorization"), "Bearer t");
    json answer = {{"kind", "compute#operation"}, {"status", "PENDING"}};
    if (request.method == "GET" && request.path == kGroup) answer = {{"name", "g"}, {"targetSize", size_}};
    if (request.path == std::string(kGroup) + "/listManagedInstances") {
      const size_t page = request.has_param("pageToken") ? 1 : 0;
      answer = json::object();
      if (page < instances_.size()) answer["managedInstances"] = {instances_[page]};
      if (page + 1 < instances_.size()) answer["nextPageToken"] = "next/page";
    }
    if (request.path.find("/zones/us-central1-a/instances/") != std::string::npos) {
      const auto found = statuses_.find(LastPart(request.path));
      if (found == statuses_.end()) response.status = 404;
      answer = {{"status", found == statuses_.end() ? "" : found->second},
                {"lastStartTimestamp", "2026-11-22T02:00:00.500-08:00"}};
    }
    response.set_content(answer.dump(), "application/json");
  }
  std::vector<std::string> Asked() {
    std::vector<std::string> asked;
    for (const std::string& seen : cloud_.TakeSeen()) {
      if (seen.rfind("GET", 0) == 0 || seen.find("listManaged") != std::string::npos) continue;
      asked.push_back(seen.substr(5 + sizeof kGroup - 1));
    }
    return asked;
  }

  int size_ = 2;
  std::map<std::string, std::string> statuses_;
  std::vector<json> instances_;
  FakeCloud cloud_{[this](const auto& request, auto& response) { Handle(request, response); }};
  std::unique_ptr<Provider> gcp_;
};

TEST_F(GcpTest, SinceWhenAnInstanceRunsIsAskedOnce) {
  instances_ = {Instance("g-1", "NONE", "RUNNING"), Instance("g-2", "CREATING", "")};
  statuses_ = {{"g-1", "RUNNING"}};
  for (int i = 0; i < 2; ++i) {
    const auto listing = gcp_->List("p", 10);
    ASSERT_TRUE(listing.ok()) << listing.status();
    EXPECT_EQ(listing->machines[0].since, 1795341600.5);
    EXPECT_EQ(listing->machines[1].since, 0);
    const std::vector<std::string> seen = cloud_.TakeSeen();
    EXPECT_EQ(std::count_if(seen.begin(), seen.end(),
                            [](const std::string& each) { return each.find("/instances/g-1") != std::string::npos; }),
              i == 0 ? 1 : 0);
  }
}

TEST_F(GcpTest, InstancesOfAllPagesAreListed) {
  instances_ = {Instance("g-1", "NONE", "RUNNING"), Instance("g-2", "CREATING", "")};
  instances_[1]["lastAttempt"] = {
      {"errors",
       {{"errors",
         {{{"code", "ZONE_RESOURCE_POOL_EXHAUSTED"}, {"message", "The zone does not have enough resources"}}}}}}};
  const auto listing = gcp_->List("p", 10);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(listing->desired, 2);
  ASSERT_EQ(listing->machines.size(), 2u);
  EXPECT_EQ(listing->machines[0].node, "g-1");
  EXPECT_EQ(listing->machines[1].state, MachineState::kStarting);
  EXPECT_TRUE(absl::IsResourceExhausted(listing->shortage));
  instances_ = {Instance("g-1", "DELETING", "RUNNING")};
  EXPECT_EQ(gcp_->List("p", 10)->machines[0].state, MachineState::kEnding);
}

TEST_F(GcpTest, AnInstanceThatLeftTheGroupHasEndedWhereItDoesNotRun) {
  statuses_ = {{"abandoned", "RUNNING"}, {"stopped", "TERMINATED"}};
  const auto ended = gcp_->Ended("p", {"abandoned", "deleted", "stopped"}, 10);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_THAT(*ended, ElementsAre("deleted", "stopped"));
  cloud_.Spoil(403, "{}");
  EXPECT_TRUE(absl::IsPermissionDenied(gcp_->Ended("p", {"deleted"}, 10).status()));
}

TEST_F(GcpTest, ItIsResized) {
  EXPECT_TRUE(gcp_->SetDesired("p", 5, {}, 10).ok());
  EXPECT_THAT(Asked(), ElementsAre("/resize?size=5 {}"));
  EXPECT_TRUE(gcp_->SetDesired("p", 2, {}, 10).ok());
  EXPECT_THAT(Asked(), ElementsAre());
}

TEST_F(GcpTest, NamedNodesAreDeletedAndNotReplaced) {
  size_ = 3;
  instances_ = {Instance("g-1", "NONE", "RUNNING"), Instance("g-2", "NONE", "RUNNING")};
  EXPECT_TRUE(gcp_->SetDesired("p", 1, {"g-2", "who"}, 10).ok());
  EXPECT_THAT(Asked(), ElementsAre("/deleteInstances {\"instances\":[\"zones/us-central1-a/instances/g-2\"],"
                                   "\"skipInstancesOnValidationError\":true}",
                                   "/resize?size=1 {}"));
}

TEST_F(GcpTest, ErrorsHaveTheirMeaning) {
  const auto code = [this](int status, const std::string& reason, const std::string& message) {
    const json body = {{"error", {{"code", status}, {"message", message}, {"errors", {{{"reason", reason}}}}}}};
    cloud_.Spoil(status, body.dump());
    return gcp_->List("p", 10).status();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(code(403, "quotaExceeded", "Quota 'CPUS' exceeded")));
  EXPECT_EQ(RetryAfter(code(403, "rateLimitExceeded", "Rate Limit Exceeded")), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(code(403, "forbidden", "Required 'compute.instanceGroupManagers.get'")));
  EXPECT_TRUE(absl::IsNotFound(code(404, "notFound", "The resource was not found")));
  EXPECT_TRUE(absl::IsUnavailable(code(503, "backendError", "later")));
  cloud_.Spoil(200, "[]");
  EXPECT_EQ(gcp_->List("p", 10).status().code(), absl::StatusCode::kInternal);
  cloud_.Spoil(200, "{\"targetSize\": -1}");
  EXPECT_EQ(gcp_->List("p", 10).status().code(), absl::StatusCode::kInternal);
}

TEST(GcpToken, TheMachinesOwnAccount) {
  FakeCloud cloud([](const httplib::Request& request, httplib::Response& response) {
    EXPECT_EQ(request.path, "/computeMetadata/v1/instance/service-accounts/default/token");
    EXPECT_EQ(request.get_header_value("Metadata-Flavor"), "Google");
    response.set_content(R"({"access_token": "ya29.x", "expires_in": 3000, "token_type": "Bearer"})",
                         "application/json");
  });
  const auto token = GcpToken(Fixed({{"GCE_METADATA_HOST", cloud.endpoint().substr(7)}}))(1000);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->value, "ya29.x");
  EXPECT_EQ(token->expires, 4000);
  cloud.Spoil(200, "{}");
  EXPECT_TRUE(
      absl::IsUnauthenticated(GcpToken(Fixed({{"GCE_METADATA_HOST", cloud.endpoint().substr(7)}}))(0).status()));
}

class ServiceAccountTest : public testing::Test {
 protected:
  void SetUp() override {
    key_ = EVP_RSA_gen(2048);
    BIO* memory = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(memory, key_, nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long bytes = BIO_get_mem_data(memory, &data);
    pem_.assign(data, static_cast<size_t>(bytes));
    BIO_free(memory);
  }
  void TearDown() override { EVP_PKEY_free(key_); }

  bool Verifies(const std::string& text, const std::string& signature) {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key_);
    const int fine =
        EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                         reinterpret_cast<const unsigned char*>(text.data()), text.size());
    EVP_MD_CTX_free(context);
    return fine == 1;
  }

  EVP_PKEY* key_ = nullptr;
  std::string pem_;
};

TEST_F(ServiceAccountTest, TheClaimIsSignedAndChangedForAToken) {
  std::string assertion;
  FakeCloud cloud([&](const httplib::Request& request, httplib::Response& response) {
    EXPECT_EQ(request.path, "/token");
    assertion = request.get_param_value("assertion");
    EXPECT_EQ(request.get_param_value("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
    response.set_content(R"({"access_token": "from-file", "expires_in": 3599})", "application/json");
  });
  const std::string file = testing::TempDir() + "/service-account.json";
  const json account = {{"type", "service_account"},
                        {"client_email", "r@p.iam.gserviceaccount.com"},
                        {"private_key", pem_},
                        {"token_uri", cloud.endpoint() + "/token"}};
  std::ofstream(file) << account.dump();
  const auto token = GcpToken(Fixed({{"GOOGLE_APPLICATION_CREDENTIALS", file}}))(5000);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->value, "from-file");
  const std::vector<std::string> parts = absl::StrSplit(assertion, '.');
  ASSERT_EQ(parts.size(), 3u);
  std::string claim, signature;
  ASSERT_TRUE(absl::WebSafeBase64Unescape(parts[1], &claim));
  ASSERT_TRUE(absl::WebSafeBase64Unescape(parts[2], &signature));
  EXPECT_TRUE(Verifies(absl::StrCat(parts[0], ".", parts[1]), signature));
  const json said = json::parse(claim);
  EXPECT_EQ(said["iss"], "r@p.iam.gserviceaccount.com");
  EXPECT_EQ(said["exp"], 5000 + 3600);
  EXPECT_EQ(said["aud"], cloud.endpoint() + "/token");
  EXPECT_EQ(said["scope"], "https://www.googleapis.com/auth/compute");
  const auto other = SignedClaim({"e", pem_, "https://t"}, kGcpPriceScope, 0);
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE(absl::WebSafeBase64Unescape(std::vector<std::string>(absl::StrSplit(*other, '.'))[1], &claim));
  EXPECT_EQ(json::parse(claim)["scope"],
            "https://www.googleapis.com/auth/compute.readonly https://www.googleapis.com/auth/cloud-billing.readonly");
}

TEST_F(ServiceAccountTest, WhatCannotBeUsedIsSaidWithoutTheKey) {
  const std::string file = testing::TempDir() + "/service-account-bad.json";
  const auto why = [&](const json& account) {
    std::ofstream(file) << account.dump();
    return std::string(GcpToken(Fixed({{"GOOGLE_APPLICATION_CREDENTIALS", file}}))(0).status().message());
  };
  EXPECT_THAT(why({{"type", "authorized_user"}}), HasSubstr("no service account's key"));
  EXPECT_THAT(why({{"type", "service_account"}}), HasSubstr("lacks client_email or private_key"));
  const std::string broken = why({{"type", "service_account"}, {"client_email", "e"}, {"private_key", "SECRET"}});
  EXPECT_THAT(broken, HasSubstr("cannot sign"));
  EXPECT_THAT(broken, Not(HasSubstr("SECRET")));
  EXPECT_THAT(why({{"type", "service_account"},
                   {"client_email", "e"},
                   {"private_key", pem_},
                   {"token_uri", "http://example.com/token"}}),
              HasSubstr("or https"));
}

}  // namespace
}  // namespace rekindle::fleet
