// Tests which sources of interruption notices a machine has, by its firmware and environment.
#include "worker/agent/notices/notice_sources.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/agent/notices/kubernetes_notices.h"

namespace rekindle::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NoticeSourcesTest : public ::testing::Test {
 protected:
  NoticeSourcesTest() {
    machine_.root = testing::TempDir() + "/notice_sources_" + std::to_string(getpid());
    machine_.environment = [this](const std::string& name) { return environment_[name]; };
  }
  void TearDown() override { std::filesystem::remove_all(machine_.root); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = machine_.root + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << "\n";
  }
  std::vector<std::string> Names(const NoticeOptions& options = {}) {
    const auto opened = OpenSources(options, machine_);
    EXPECT_TRUE(opened.ok()) << opened.status();
    std::vector<std::string> names;
    if (opened.ok()) {
      for (const OpenSource& source : *opened) names.push_back(source.name);
    }
    return names;
  }
  std::string Error(const NoticeOptions& options) {
    return std::string(OpenSources(options, machine_).status().message());
  }

  Machine machine_;
  std::map<std::string, std::string> environment_;
};

TEST_F(NoticeSourcesTest, AMachineOfNoCloudAsksNobody) {
  EXPECT_THAT(Names(), IsEmpty());
  // A machine under Hyper-V outside Azure has Microsoft's vendor and product too.
  Write("/sys/class/dmi/id/sys_vendor", "Microsoft Corporation");
  Write("/sys/class/dmi/id/product_name", "Virtual Machine");
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(NoticeSourcesTest, AmazonOnNitroAndOnXen) {
  Write("/sys/class/dmi/id/sys_vendor", "Amazon EC2");
  EXPECT_THAT(Names(), ElementsAre("aws"));
  Write("/sys/class/dmi/id/sys_vendor", "Xen");
  Write("/sys/class/dmi/id/bios_version", "4.11.amazon");
  EXPECT_THAT(Names(), ElementsAre("aws"));
}

TEST_F(NoticeSourcesTest, GoogleAndAzure) {
  Write("/sys/class/dmi/id/product_name", "Google Compute Engine");
  EXPECT_THAT(Names(), ElementsAre("gcp"));
  Write("/sys/class/dmi/id/product_name", "Virtual Machine");
  Write("/sys/class/dmi/id/chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77");
  EXPECT_THAT(Names(), ElementsAre("azure"));
}

TEST_F(NoticeSourcesTest, APodOnACloudHasBoth) {
  Write("/sys/class/dmi/id/sys_vendor", "Amazon EC2");
  environment_ = {
      {"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}, {"HOSTNAME", "worker-0"}};
  // A pod without a service account cannot ask Kubernetes.
  EXPECT_THAT(Names(), ElementsAre("aws"));
  Write(std::string(kServiceAccount) + "/token", "eyJ");
  Write(std::string(kServiceAccount) + "/namespace", "training");
  EXPECT_THAT(Names(), ElementsAre("aws", "kubernetes"));
  // A source that nobody asked for by name is left out if its options are wrong, and the agent starts without it.
  environment_["REKINDLE_KUBERNETES_NODE"] = "../..";
  EXPECT_THAT(Names(), ElementsAre("aws"));
  EXPECT_THAT(Error({.sources = {"kubernetes"}}), HasSubstr("no name of Kubernetes"));
}

TEST_F(NoticeSourcesTest, WhatIsNamedIsOpenedAndNothingElse) {
  Write("/sys/class/dmi/id/sys_vendor", "Amazon EC2");
  EXPECT_THAT(Names({.given = {{"file", "/run/notice"}, {"command", "true"}}}), ElementsAre("aws", "file", "command"));
  EXPECT_THAT(Names({.sources = {"none"}, .given = {{"file", "/run/notice"}}}), IsEmpty());
  EXPECT_THAT(Names({.sources = {"file", "gcp"}, .given = {{"file", "/run/notice"}}}), ElementsAre("gcp", "file"));
}

TEST_F(NoticeSourcesTest, WrongUseSaysWhatIsRight) {
  EXPECT_THAT(Error({.sources = {"amazon"}}), HasSubstr("aws,gcp,azure,kubernetes,file,command"));
  EXPECT_THAT(Error({.sources = {"auto", "aws"}}), HasSubstr("alone"));
  EXPECT_THAT(Error({.sources = {"file"}}), HasSubstr("--notice-file"));
  EXPECT_THAT(Error({.sources = {"command"}}), HasSubstr("--notice-command"));
  EXPECT_THAT(Error({.endpoints = {{"amazon", "http://127.0.0.1"}}}), HasSubstr("amazon"));
  EXPECT_THAT(Error({.sources = {"aws"}, .endpoints = {{"aws", "http://example.com"}}}), HasSubstr("link-local"));
}

}  // namespace
}  // namespace rekindle::agent
