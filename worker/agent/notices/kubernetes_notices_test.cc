// Tests the source of notices from Kubernetes with pods and nodes in the form of the API.
#include "worker/agent/notices/kubernetes_notices.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "common/testing/http_testing.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPod[] = R"({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
  "metadata": {"name": "worker-0", "namespace": "training", "uid": "1"}})";
constexpr char kDeletedPod[] = R"({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "worker-0",
  "deletionTimestamp": "2026-11-22T03:29:07Z", "deletionGracePeriodSeconds": 30}, "spec": {"nodeName": "n"}})";
constexpr double kDeletion = 1795318147;

std::string Node(const std::string& taints) {
  return R"({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "spec": {"providerID": "x")" +
         (taints.empty() ? "" : R"(, "taints": [)" + taints + "]") + R"(}, "status": {"images": []}})";
}
std::string Taint(const std::string& key) { return R"({"key": ")" + key + R"(", "effect": "NoSchedule"})"; }

TEST(KubernetesDocuments, APodThatIsBeingDeletedGoesWhenItsGraceIsOver) {
  EXPECT_THAT(*ParsePod(kPod), IsEmpty());
  const auto notices = ParsePod(kDeletedPod);
  ASSERT_TRUE(notices.ok()) << notices.status();
  EXPECT_EQ(notices->front().at, kDeletion);
  EXPECT_TRUE(notices->front().leaves);
}

TEST(KubernetesDocuments, TaintsOfHandlersAndOthers) {
  EXPECT_THAT(*ParseNode(Node(""), 0), IsEmpty());
  EXPECT_THAT(*ParseNode(Node(Taint("nvidia.com/gpu")), 0), IsEmpty());
  const auto notices =
      ParseNode(Node(Taint("aws-node-termination-handler/spot-itn") + "," + Taint("ToBeDeletedByClusterAutoscaler") +
                     "," + Taint("aws-node-termination-handler/rebalance-recommendation")),
                1000);
  ASSERT_TRUE(notices.ok()) << notices.status();
  ASSERT_EQ(notices->size(), 3u);
  EXPECT_EQ((*notices)[0].at, 1120);
  EXPECT_TRUE((*notices)[1].leaves);
  EXPECT_FALSE((*notices)[1].at.has_value());
  EXPECT_FALSE((*notices)[2].leaves);
}

TEST(KubernetesDocuments, WhatIsNoPodAndNoNode) {
  EXPECT_FALSE(ParsePod("[]").ok());
  EXPECT_FALSE(ParsePod(R"({"metadata": {"deletionTimestamp": 5}})").ok());
  EXPECT_FALSE(ParseNode("{}", 0).ok());
  EXPECT_FALSE(ParseNode(R"({"spec": {"taints": {}}})", 0).ok());
  EXPECT_FALSE(ParseNode(R"({"spec": {"taints": [{"effect": "NoSchedule"}]}})", 0).ok());
}

class KubernetesTest : public ::testing::Test {
 protected:
  KubernetesTest() {
    service_.answer = [this](const common::HttpRequest& request) -> absl::StatusOr<common::HttpAnswer> {
      EXPECT_EQ(request.headers.at("Authorization"), "Bearer " + token_);
      if (absl::StartsWith(request.path, "/api/v1/nodes/n?"))
        return common::HttpAnswer{.status = status_, .body = node_};
      EXPECT_THAT(request.path, HasSubstr("/api/v1/namespaces/training/pods/worker-0?"));
      return common::HttpAnswer{.status = status_, .body = pod_};
    };
  }
  std::unique_ptr<Source> Open() {
    return NewKubernetesSource(service_.Open(), {"training", "worker-0", "n"}, [this] { return token_; });
  }

  common::FakeService service_;
  std::string token_ = "eyJ", pod_ = kPod, node_ = Node("");
  int status_ = 200;
};

TEST_F(KubernetesTest, PodAndNodeAreAskedFor) {
  const auto source = Open();
  EXPECT_THAT(*source->Poll(0), IsEmpty());
  pod_ = kDeletedPod;
  node_ = Node(Taint("cloud.google.com/impending-node-termination"));
  EXPECT_EQ(source->Poll(100)->size(), 2u);
  // The seconds until the machine is taken away count from when the taint was first seen.
  EXPECT_EQ((*source->Poll(110))[1].at, 130);
  token_ = "rotated";
  EXPECT_TRUE(source->Poll(111).ok());
}

TEST_F(KubernetesTest, WhatIsForbiddenIsSaidWithTheFix) {
  status_ = 403;
  EXPECT_THAT(std::string(Open()->Poll(0).status().message()), HasSubstr("service account"));
  token_ = "";
  EXPECT_THAT(std::string(Open()->Poll(0).status().message()), HasSubstr("token"));
}

TEST(KubernetesNames, ComeFromTheDownwardApiAndAreNames) {
  const std::string root = testing::TempDir() + "/kubernetes_names";
  std::filesystem::create_directories(root + kServiceAccount);
  std::ofstream(root + kServiceAccount + "/namespace") << "training\n";
  std::map<std::string, std::string> environment = {{"HOSTNAME", "worker-0"},
                                                    {"REKINDLE_KUBERNETES_NODE", "ip-10-0-0-1.x"}};
  const Machine machine{.root = root, .environment = [&](const std::string& name) { return environment[name]; }};
  const auto names = NamesOf(machine);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(names->pod_space, "training");
  EXPECT_EQ(names->pod, "worker-0");
  EXPECT_EQ(names->node, "ip-10-0-0-1.x");
  environment["REKINDLE_KUBERNETES_NODE"] = "../secrets";
  EXPECT_FALSE(NamesOf(machine).ok());
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace rekindle::agent
