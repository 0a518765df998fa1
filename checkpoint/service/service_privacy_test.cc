// Checks which other users of the machine may read what the checkpoint service writes, and which may call the service,
// whatever the umask.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "checkpoint/testing/framed_job_file_testing.h"
#include "checkpoint/testing/service_process.h"
#include "common/rpc/rpc.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::checkpoint {
namespace {

class ServicePrivacyTest : public ::testing::Test {
 protected:
  void SetUp() override { mask_ = ::umask(0); }
  void TearDown() override { ::umask(mask_); }

  struct Entry {
    std::string path;
    mode_t mode = 0;
    bool is_folder = false;
    gid_t group = 0;
  };
  // Returns all files and folders below a folder.
  static std::vector<Entry> All(const std::string& folder) {
    std::vector<Entry> entries;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      struct stat info = {};
      EXPECT_EQ(::lstat(entry.path().c_str(), &info), 0) << entry.path();
      entries.push_back({entry.path(), info.st_mode & 0777u, S_ISDIR(info.st_mode), info.st_gid});
    }
    return entries;
  }
  void Save(const ServiceProcess& service) {
    const auto saved = SaveAll(*service.Client(), 1, 10, state_);
    ASSERT_TRUE(saved.ok()) << saved.status();
  }

  mode_t mask_ = 0;
  const TestState state_ = TestState::Random(kServiceTotal, 1);
};

TEST_F(ServicePrivacyTest, WhatItWritesIsForItsUserAlone) {
  ServiceProcess service;
  service.Start();
  Save(service);
  size_t shards = 0;
  for (const std::string& folder : {service.dir(), service.shm()}) {
    for (const Entry& entry : All(folder)) {
      EXPECT_EQ(entry.mode & 077u, 0u) << entry.path << " has mode " << std::oct << entry.mode;
      shards += entry.path.ends_with(".safetensors") ? 1 : 0;
    }
  }
  EXPECT_GE(shards, 2u);
}

TEST_F(ServicePrivacyTest, AGroupMayReadItsStoresAndNothingElse) {
  const struct group* own = ::getgrgid(::getegid());
  if (own == nullptr) GTEST_SKIP() << "this process's group has no name";
  ServiceProcess service("64MiB", {"--store-group", own->gr_name});
  service.Start();
  Save(service);
  for (const Entry& entry : All(service.dir() + "/store")) {
    EXPECT_EQ(entry.mode, entry.is_folder ? 0750u : 0640u) << entry.path;
    EXPECT_EQ(entry.group, ::getegid()) << entry.path;
  }
  for (const Entry& entry : All(service.dir() + "/node")) EXPECT_EQ(entry.mode & 077u, 0u) << entry.path;
}

TEST_F(ServicePrivacyTest, AGroupThatIsNoneIsNamed) {
  ServiceProcess service("64MiB", {"--store-group", "no-such-group-here"});
  service.Start();
  EXPECT_EQ(service.Wait(), 1);
}

TEST_F(ServicePrivacyTest, ShardsAreForTheServicesOfItsUser) {
  ServiceProcess service;
  service.Start();
  Save(service);
  grpc::ClientContext asked;
  v1::GetInfoReply info;
  const auto own = v1::Checkpoints::NewStub(*common::Connect("unix:" + service.socket(), {.security = {}}));
  ASSERT_TRUE(own->GetInfo(&asked, v1::GetInfoRequest(), &info).ok());
  const std::string address = info.address();
  ASSERT_TRUE(common::IsLoopback(address)) << address;
  const auto list = [](const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    v1::ListHeldRequest request;
    request.set_job_uid("job-1");
    v1::ListHeldReply reply;
    return common::StatusFromGrpc(v1::CheckpointPeers::NewStub(channel)->List(&context, request, &reply));
  };
  const absl::Status refused = list(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnauthenticated) << refused;
  EXPECT_NE(refused.message().find("this checkpoint service belongs to user "), std::string_view::npos) << refused;
  ::setenv("HOME", (service.dir() + "/home").c_str(), 1);
  ::setenv("XDG_RUNTIME_DIR", (service.dir() + "/run").c_str(), 1);
  EXPECT_TRUE(list(*common::Connect(address)).ok()) << "a program of its user finds the token by the address";
}

TEST_F(ServicePrivacyTest, AServerThatNobodyListedIsNotShownWhoThisMachineIs) {
  ServiceProcess service("64MiB", {"--store-endpoint", "minio.example"});
  service.Start();
  const auto newest = [&](const std::string& endpoint) {
    return service.Client("node-a/0", "s3://bucket?endpoint_override=" + endpoint)->FindNewest(false).status();
  };
  const absl::Status refused = newest("evil.example:9000");
  EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied) << refused;
  EXPECT_NE(refused.message().find("--store-endpoint"), std::string_view::npos) << refused;
}

}  // namespace
}  // namespace rekindle::checkpoint
