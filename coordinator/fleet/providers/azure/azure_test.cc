// In these tests a fake cloud answers as Azure Resource Manager's reference of scale sets shows. They also fetch tokens
// both with a client secret and from the machine's managed identity.
#include "coordinator/fleet/providers/azure/azure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/fleet/providers/azure/azure_token.h"
#include "coordinator/fleet/providers/testing/cloud_testing.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kSet[] = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/set";

json Vm(const std::string& id, const std::string& state) {
  return {{"name", "set_" + id},
          {"instanceId", id},
          {"properties", {{"provisioningState", state}, {"timeCreated", "2026-11-22T10:00:00+00:00"}}}};
}

class AzureTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made =
        NewAzureProvider(cloud_.endpoint(), {{"p", {"sub", "rg", "set"}}}, [](double) { return Token{.value = "t"}; });
    ASSERT_TRUE(made.ok()) << made.status();
    azure_ = *std::move(made);
  }
  void Handle(const httplib::Request& request, httplib::Response& response) {
    EXPECT_EQ(request.get_header_value("Authorization"), "Bearer t");
    EXPECT_EQ(request.get_param_value("api-version"), "2024-07-01");
    json answer = json::object();
    if (request.method == "GET" && request.path == kSet) answer = {{"sku", {{"name", "F8"}, {"capacity", capacity_}}}};
    if (request.path == std::string(kSet) + "/virtualMachines") {
      const size_t page = request.has_param("skip") ? 1 : 0;
      answer["value"] = json::array();
      if (page < machines_.size()) answer["value"].push_back(machines_[page]);
      if (page + 1 < machines_.size()) {
        answer["nextLink"] = next_host_ + kSet + "/virtualMachines?api-version=2024-07-01&skip=1";
      }
    }
    if (request.path.find("/virtualMachines/") != std::string::npos && request.path.back() != '3') {
      response.status = 404;
    }
    if (request.method == "POST") response.status = 202;
    response.set_content(request.method == "POST" ? "" : answer.dump(), "application/json");
  }
  std::vector<std::string> Asked() {
    std::vector<std::string> asked;
    for (const std::string& seen : cloud_.TakeSeen()) {
      if (seen.rfind("GET", 0) != 0) asked.push_back(seen);
    }
    return asked;
  }

  int capacity_ = 2;
  std::vector<json> machines_;
  FakeCloud cloud_{[this](const auto& request, auto& response) { Handle(request, response); }};
  std::string next_host_ = cloud_.endpoint();
  std::unique_ptr<Provider> azure_;
};

TEST_F(AzureTest, AMachineThatTheSetDoesNotKnowAnyMoreHasEnded) {
  const auto ended = azure_->Ended("p", {"set_3", "set_4"}, 10);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_THAT(*ended, ElementsAre("set_4"));
  cloud_.Spoil(503, "{}");
  EXPECT_FALSE(azure_->Ended("p", {"set_4"}, 10).ok());
}

TEST_F(AzureTest, VirtualMachinesOfAllPagesAreListed) {
  machines_ = {Vm("0", "Succeeded"), Vm("3", "Creating")};
  const auto listing = azure_->List("p", 10);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(listing->desired, 2);
  ASSERT_EQ(listing->machines.size(), 2u);
  EXPECT_EQ(listing->machines[0].node, "set_0");
  EXPECT_EQ(listing->machines[0].since, 1795341600);
  EXPECT_EQ(listing->machines[1].state, MachineState::kStarting);
  machines_ = {Vm("0", "Deleting")};
  EXPECT_EQ(azure_->List("p", 10)->machines[0].state, MachineState::kEnding);
}

TEST_F(AzureTest, ThePageOfAnotherHostIsNotAskedFor) {
  machines_ = {Vm("0", "Succeeded"), Vm("1", "Succeeded")};
  next_host_ = "https://evil.example.com";
  EXPECT_THAT(std::string(azure_->List("p", 10).status().message()), HasSubstr("another host"));
}

TEST_F(AzureTest, TheCapacityIsPatched) {
  EXPECT_TRUE(azure_->SetDesired("p", 4, {}, 10).ok());
  EXPECT_THAT(Asked(),
              ElementsAre(std::string("PATCH ") + kSet + "?api-version=2024-07-01 {\"sku\":{\"capacity\":4}}"));
}

TEST_F(AzureTest, NamedNodesAreDeleted) {
  machines_ = {Vm("0", "Succeeded"), Vm("5", "Succeeded")};
  EXPECT_TRUE(azure_->SetDesired("p", 1, {"set_0"}, 10).ok());
  EXPECT_THAT(Asked(),
              ElementsAre(std::string("POST ") + kSet + "/delete?api-version=2024-07-01 {\"instanceIds\":[\"0\"]}"));
}

TEST_F(AzureTest, ErrorsHaveTheirMeaning) {
  const auto code = [this](int status, const std::string& code, const httplib::Headers& headers = {}) {
    cloud_.Spoil(status, json{{"error", {{"code", code}, {"message", "told"}}}}.dump(), headers);
    return azure_->List("p", 10).status();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(code(409, "SkuNotAvailable")));
  EXPECT_TRUE(absl::IsResourceExhausted(code(409, "OperationNotAllowed")));
  EXPECT_EQ(RetryAfter(code(429, "TooManyRequests", {{"Retry-After", "19"}})), 19);
  EXPECT_TRUE(absl::IsPermissionDenied(code(403, "AuthorizationFailed")));
  EXPECT_TRUE(absl::IsNotFound(code(404, "ResourceNotFound")));
  EXPECT_TRUE(absl::IsUnavailable(code(500, "InternalServerError")));
}

TEST(AzureToken, TheManagedIdentity) {
  FakeCloud cloud([](const httplib::Request& request, httplib::Response& response) {
    EXPECT_EQ(request.get_header_value("Metadata"), "true");
    EXPECT_EQ(request.target,
              "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fmanagement.azure.com%2F"
              "&client_id=me");
    response.set_content(R"({"access_token": "eyJ", "expires_in": "3599"})", "application/json");
  });
  const auto token =
      AzureToken(Fixed({{"AZURE_POD_IDENTITY_AUTHORITY_HOST", cloud.endpoint()}, {"AZURE_CLIENT_ID", "me"}}))(1000);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->value, "eyJ");
  EXPECT_EQ(token->expires, 4599);
}

TEST(AzureToken, TheClientSecret) {
  FakeCloud cloud([](const httplib::Request& request, httplib::Response& response) {
    EXPECT_EQ(request.path, "/tenant/oauth2/v2.0/token");
    EXPECT_EQ(request.get_param_value("client_secret"), "s&cret");
    EXPECT_EQ(request.get_param_value("scope"), "https://management.azure.com/.default");
    response.status = 401;
    response.set_content(R"({"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret"})",
                         "application/json");
  });
  const auto token = AzureToken(Fixed({{"AZURE_AUTHORITY_HOST", cloud.endpoint() + "/"},
                                       {"AZURE_TENANT_ID", "tenant"},
                                       {"AZURE_CLIENT_ID", "me"},
                                       {"AZURE_CLIENT_SECRET", "s&cret"}}))(0);
  EXPECT_TRUE(absl::IsUnauthenticated(token.status()));
  EXPECT_THAT(std::string(token.status().message()), HasSubstr("AADSTS7000215"));
  EXPECT_THAT(std::string(token.status().message()), Not(HasSubstr("s&cret")));
}

}  // namespace
}  // namespace rekindle::fleet
