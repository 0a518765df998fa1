// These tests check how the documents of the API server are read, and both ways to reach it.
#include "coordinator/fleet/providers/kubernetes/kubernetes.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/fleet/providers/testing/cloud_testing.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json Pod(const std::string& name, const std::string& node, const std::string& phase) {
  return {{"metadata", {{"name", name}, {"ownerReferences", {{{"kind", "StatefulSet"}, {"name", "worker"}}}}}},
          {"spec", {{"nodeName", node}}},
          {"status", {{"phase", phase}, {"startTime", "2026-11-22T10:00:00Z"}}}};
}

class KubernetesTest : public testing::Test {
 protected:
  void SetUp() override {
    KubernetesAccess access{.endpoint = cloud_.endpoint(), .name_space = "rekindle"};
    access.token = [this](double) { return Token{.value = token_}; };
    auto made = NewKubernetesProvider(access, {{"p", {"", "worker"}}});
    ASSERT_TRUE(made.ok()) << made.status();
    kubernetes_ = *std::move(made);
  }
  void Handle(const httplib::Request& request, httplib::Response& response) {
    json answer;
    if (request.get_header_value("Authorization") != "Bearer right") {
      response.status = 401;
      answer = {{"kind", "Status"}, {"message", "Unauthorized"}};
    } else if (request.path == "/apis/apps/v1/namespaces/rekindle/statefulsets/worker") {
      answer = {{"spec", {{"replicas", replicas_}, {"selector", {{"matchLabels", {{"app", "r"}, {"pool", "a/b"}}}}}}}};
    } else if (request.method == "PATCH") {
      EXPECT_EQ(request.path, "/apis/apps/v1/namespaces/rekindle/statefulsets/worker/scale");
      EXPECT_EQ(request.get_header_value("Content-Type"), "application/merge-patch+json");
      answer = {{"kind", "Scale"}};
    } else if (request.path == "/api/v1/namespaces/rekindle/pods") {
      EXPECT_EQ(request.get_param_value("labelSelector"), "app=r,pool=a/b");
      const size_t page = request.has_param("continue") ? 1 : 0;
      answer = {{"items", json::array({pods_.size() > page ? pods_[page] : json()})},
                {"metadata", {{"continue", page + 1 < pods_.size() ? "more&more" : ""}}}};
    } else {
      response.status = 404;
    }
    response.set_content(answer.dump(), "application/json");
  }

  int replicas_ = 2;
  std::vector<json> pods_;
  std::string token_ = "right";
  FakeCloud cloud_{[this](const auto& request, auto& response) { Handle(request, response); }};
  std::unique_ptr<Provider> kubernetes_;
};

TEST_F(KubernetesTest, PodsOfAllPagesAreListedByTheirMachines) {
  pods_ = {Pod("worker-0", "machine-a", "Running"), Pod("worker-1", "", "Pending")};
  pods_[1]["status"]["conditions"] = {
      {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}, {"message", "0/3 nodes"}}};
  const auto listing = kubernetes_->List("p", 10);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(listing->desired, 2);
  ASSERT_EQ(listing->machines.size(), 2u);
  EXPECT_EQ(listing->machines[0].node, "machine-a");
  EXPECT_EQ(listing->machines[0].since, 1795341600);
  EXPECT_FALSE(kubernetes_->ChoosesWhatEnds());
  EXPECT_EQ(listing->machines[0].state, MachineState::kRunning);
  EXPECT_EQ(listing->machines[1].state, MachineState::kStarting);
  EXPECT_EQ(listing->waiting, "worker-1 Unschedulable: 0/3 nodes");
}

TEST_F(KubernetesTest, OthersPodsAndEndingOnesDoNotCount) {
  pods_ = {Pod("other-0", "machine-a", "Running"), Pod("worker-1", "machine-b", "Running")};
  pods_[0]["metadata"]["ownerReferences"][0]["name"] = "other";
  pods_[1]["metadata"]["deletionTimestamp"] = "2026-11-22T00:00:00Z";
  const auto listing = kubernetes_->List("p", 10);
  ASSERT_TRUE(listing.ok()) << listing.status();
  ASSERT_EQ(listing->machines.size(), 1u);
  EXPECT_EQ(listing->machines[0].state, MachineState::kEnding);
}

TEST_F(KubernetesTest, TheScaleIsPatched) {
  EXPECT_TRUE(kubernetes_->SetDesired("p", 5, {}, 10).ok());
  EXPECT_THAT(cloud_.TakeSeen(), ElementsAre("PATCH /apis/apps/v1/namespaces/rekindle/statefulsets/worker/scale "
                                             "{\"spec\":{\"replicas\":5}}"));
}

TEST_F(KubernetesTest, ANodeAmongTheFirstOrdinalsIsSaidToStay) {
  pods_ = {Pod("worker-0", "machine-a", "Running"), Pod("worker-1", "machine-b", "Running")};
  testing::internal::CaptureStderr();
  EXPECT_TRUE(kubernetes_->SetDesired("p", 1, {"machine-a"}, 10).ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("machine-a"));
  testing::internal::CaptureStderr();
  EXPECT_TRUE(kubernetes_->SetDesired("p", 1, {"machine-b"}, 10).ok());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(KubernetesTest, ErrorsHaveTheirMeaning) {
  token_ = "stale";
  EXPECT_TRUE(absl::IsUnauthenticated(kubernetes_->List("p", 10).status()));
  token_ = "right";
  cloud_.Spoil(403,
               R"({"kind": "Status", "message": "statefulsets.apps \"worker\" is forbidden: User \"x\" cannot get"})");
  const absl::Status denied = kubernetes_->List("p", 10).status();
  EXPECT_TRUE(absl::IsPermissionDenied(denied));
  EXPECT_THAT(std::string(denied.message()), HasSubstr("is forbidden"));
  cloud_.Spoil(429, "", {{"Retry-After", "7"}});
  EXPECT_EQ(RetryAfter(kubernetes_->List("p", 10).status()), 7);
  cloud_.Spoil(404, "");
  EXPECT_TRUE(absl::IsNotFound(kubernetes_->List("p", 10).status()));
  cloud_.Spoil(200, "{\"spec\": []}");
  EXPECT_EQ(kubernetes_->List("p", 10).status().code(), absl::StatusCode::kInternal);
}

TEST_F(KubernetesTest, ATokenThatWasChangedMeanwhileIsReadAgain) {
  token_ = "old";
  EXPECT_FALSE(kubernetes_->SetDesired("p", 1, {}, 10).ok());
  token_ = "right";
  EXPECT_TRUE(kubernetes_->SetDesired("p", 1, {}, 10).ok());
}

constexpr char kConfig[] = R"(
current-context: mine
contexts: [{name: mine, context: {cluster: c, user: u, namespace: train}}]
clusters: [{name: c, cluster: {server: "https://10.0.0.1:6443/", certificate-authority: pki/ca.crt}}]
users: [{name: u, user: {token: secret-token}}]
)";

TEST(Kubeconfig, TokenAndAuthority) {
  const auto access = ParseKubeconfig(kConfig, "/etc/kube");
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->endpoint, "https://10.0.0.1:6443");
  EXPECT_EQ(access->name_space, "train");
  EXPECT_EQ(access->ca_file, "/etc/kube/pki/ca.crt");
  EXPECT_EQ(access->token(0)->value, "secret-token");
}

TEST(Kubeconfig, CertificatesAsDataStayInMemory) {
  const std::string config = absl::StrCat(
      "{current-context: m, contexts: [{name: m, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: "
      "{server: 'https://h'}}], users: [{name: u, user: {client-certificate-data: ",
      absl::Base64Escape("CERT"), ", client-key-data: ", absl::Base64Escape("KEY"), "}}]}");
  const auto access = ParseKubeconfig(config, "/");
  ASSERT_TRUE(access.ok()) << access.status();
  std::string text;
  std::ifstream(access->key_file) >> text;
  EXPECT_EQ(text, "KEY");
  EXPECT_THAT(access->key_file, HasSubstr("/proc/self/fd/"));
  EXPECT_EQ(access->name_space, "default");
  EXPECT_FALSE(access->token);
}

TEST(Kubeconfig, WhatCannotBeUsedIsNamed) {
  const auto why = [](const std::string& text) { return std::string(ParseKubeconfig(text, "/").status().message()); };
  EXPECT_THAT(why("{"), HasSubstr("no YAML"));
  EXPECT_THAT(why("{}"), HasSubstr("has no server"));
  EXPECT_THAT(why("[1, 2]"), HasSubstr("has no server"));
  std::string config = kConfig;
  config.replace(config.find("{token: secret-token}"), 21, "{exec: {command: aws}}");
  EXPECT_THAT(why(config), HasSubstr("credential plugin, which is not run"));
  config = kConfig;
  config.replace(config.find("{token: secret-token}"), 21, "{username: x}");
  EXPECT_THAT(why(config), HasSubstr("neither token nor client certificate"));
}

TEST(InCluster, TheServiceAccountOfThePod) {
  const common::TemporaryFolder temporary;
  const std::string& root = temporary.path();
  const std::string folder = root + "/var/run/secrets/kubernetes.io/serviceaccount";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/namespace") << "train";
  std::ofstream(folder + "/token") << "first\n";
  const auto access =
      InCluster(Fixed({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}}), root);
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->endpoint, "https://10.96.0.1:443");
  EXPECT_EQ(access->name_space, "train");
  EXPECT_EQ(access->token(0)->value, "first");
  std::ofstream(folder + "/token") << "second\n";
  EXPECT_EQ(access->token(0)->value, "second");
  EXPECT_TRUE(absl::IsFailedPrecondition(InCluster(Fixed({}), root).status()));
}

}  // namespace
}  // namespace rekindle::fleet
