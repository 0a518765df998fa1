#include "coordinator/spec/job_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

// Runs the checks of files and stores as the coordinator does: a check is not run when an earlier one failed.
absl::Status CheckJobFiles(const v1::JobSpec& spec, const JobReach& reach) {
  absl::Status status = CheckDataNames(spec, reach);
  if (status.ok()) status = CheckStoreServers(spec, reach);
  if (status.ok() && reach.here) status = CheckDataFiles(spec, reach);
  if (status.ok() && reach.here) status = CheckStoreFolder(spec);
  return status;
}

class JobFiles : public testing::Test {
 protected:
  void SetUp() override {
    spec_.mutable_model()->set_context(10);
    spec_.mutable_data()->set_validation_fraction(0.1);
    spec_.mutable_checkpoint()->set_every_steps(5);
    spec_.mutable_checkpoint()->set_store("file://" + folder_ + "/store/deep");
  }

  std::string Write(const std::string& name, size_t bytes) {
    std::ofstream(folder_ + "/" + name) << std::string(bytes, 'x');
    return folder_ + "/" + name;
  }
  std::string Check(const std::string& text) {
    spec_.mutable_data()->clear_text();
    spec_.mutable_data()->add_text(text);
    const absl::Status status = CheckJobFiles(spec_, reach_);
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
    return status.ok() ? "OK" : std::string(status.message());
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  v1::JobSpec spec_;
  JobReach reach_{.here = true};
};

TEST_F(JobFiles, GoodOnesPassAndNothingIsLeftBehind) {
  const std::string text = Write("a.txt", 100);
  EXPECT_EQ(Check(text), "OK");
  EXPECT_EQ(Check(folder_ + "/*.txt"), "OK");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(JobFiles, TextIsLookedAt) {
  EXPECT_THAT(Check(folder_ + "/none.txt"), HasSubstr(folder_ + "/none.txt"));
  EXPECT_THAT(Check(folder_ + "/*.none"), HasSubstr("/*.none"));
  EXPECT_THAT(Check(Write("empty", 0)), HasSubstr("empty"));
  EXPECT_THAT(Check(folder_), HasSubstr("spec.data.text"));
  const std::string small = Write("small", 21);
  EXPECT_THAT(Check(small), HasSubstr("has 21 bytes, but spec.model.context 10 needs 22"));
  spec_.mutable_data()->set_validation_fraction(0);
  EXPECT_EQ(Check(small), "OK");
  spec_.mutable_data()->set_max_bytes(5);
  EXPECT_THAT(Check(small), HasSubstr("has 5 bytes"));
}

TEST_F(JobFiles, FilesOfRecordsMustHoldWholeOnes) {
  spec_.mutable_model()->set_context(0);
  auto& images = *spec_.mutable_data()->mutable_images();
  images.add_files(Write("images.bin", 2 * 3073));
  EXPECT_TRUE(CheckJobFiles(spec_, reach_).ok());
  images.add_files(Write("torn.bin", 3072));
  EXPECT_THAT(std::string(CheckJobFiles(spec_, reach_).message()),
              HasSubstr("spec.data.images.files: " + folder_ + "/torn.bin has 3072 bytes, no multiple of 3073"));
  images.clear_files();
  images.add_files(Write("one.bin", 3073));
  EXPECT_THAT(std::string(CheckJobFiles(spec_, reach_).message()), HasSubstr("has 3073 bytes, but 6146 are needed"));
}

TEST_F(JobFiles, StoreMustBeWritable) {
  const std::string text = Write("a.txt", 100);
  spec_.mutable_checkpoint()->set_store("file://" + text + "/store");
  EXPECT_THAT(Check(text), HasSubstr("spec.checkpoint.store"));
  spec_.mutable_checkpoint()->set_store("file://" + text);
  EXPECT_THAT(Check(text), HasSubstr("is a file: name a folder"));
  spec_.mutable_checkpoint()->set_every_steps(0);
  EXPECT_EQ(Check(text), "OK") << "no store is used";
}

TEST_F(JobFiles, AFolderThatThisUserMayNotWriteIsNamed) {
  const std::string text = Write("a.txt", 100);
  std::filesystem::create_directory(folder_ + "/store");
  std::filesystem::permissions(folder_ + "/store", std::filesystem::perms(0555));
  std::filesystem::permissions(folder_, std::filesystem::perms(0755));
  // If the test runs as root, who may write everywhere, a child process runs the check as another user.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (getuid() == 0 && setuid(kNobody) != 0) _exit(2);
    _exit(Check(text).find(folder_ + "/store cannot be written") == std::string::npos ? 1 : 0);
  }
  int result = 1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
}

TEST_F(JobFiles, NothingIsMadeToTryAFolder) {
  const std::string text = Write("a.txt", 100);
  std::filesystem::create_directory(folder_ + "/store");
  const auto before = std::filesystem::last_write_time(folder_ + "/store");
  EXPECT_EQ(Check(text), "OK");
  EXPECT_EQ(std::filesystem::last_write_time(folder_ + "/store"), before) << "not even for a moment";
}

TEST_F(JobFiles, OnlyWhatIsInTheDataRootsIsNamedOrLookedAt) {
  const std::string secret = Write("secret", 631);
  std::filesystem::create_directory(folder_ + "/data");
  const std::string text = Write("data/a.txt", 100);
  reach_.roots = data::DataRoots({folder_ + "/data"}, {});
  EXPECT_EQ(Check(text), "OK");
  for (const std::string& other : {secret, folder_ + "/none", folder_ + "/*", folder_ + "/data/../secret"}) {
    EXPECT_THAT(Check(other), AllOf(HasSubstr("spec.data.text: "), HasSubstr("is outside of what jobs may read")));
    EXPECT_THAT(Check(other), Not(HasSubstr("631")));
  }
  spec_.mutable_model()->set_weights(secret);
  EXPECT_THAT(Check(text), HasSubstr("spec.model.weights: " + secret + " is outside"));
  // A coordinator that runs on another machine than the trainers checks only the names of files.
  reach_.here = false;
  EXPECT_THAT(Check(text), HasSubstr("spec.model.weights"));
  spec_.mutable_model()->clear_weights();
  EXPECT_EQ(Check(folder_ + "/data/none"), "OK");
}

TEST_F(JobFiles, OnlyListedServersOfObjectStoresAreNamed) {
  const std::string text = Write("a.txt", 100);
  reach_.endpoints = *common::StoreEndpoints::Create({"minio.example"}, false);
  spec_.mutable_checkpoint()->set_store("s3://bucket?endpoint_override=minio.example:9000&scheme=http");
  EXPECT_EQ(Check(text), "OK");
  spec_.mutable_checkpoint()->set_archive_store("gs://bucket?endpoint_override=evil.example");
  EXPECT_THAT(Check(text), AllOf(HasSubstr("spec.checkpoint.archive_store: "), HasSubstr("evil.example")));
  spec_.mutable_checkpoint()->set_store("s3://bucket?endpoint_override=127.0.0.1:1");
  EXPECT_THAT(Check(text), HasSubstr("spec.checkpoint.store: "));
  EXPECT_FALSE(CheckStoreUri("store", "s3://bucket?endpoint_override=evil.example", reach_).ok());
  EXPECT_FALSE(CheckStoreUri("store", "ftp://x", reach_).ok());
  EXPECT_TRUE(CheckStoreUri("store", "s3://bucket", reach_).ok());
}

}  // namespace
}  // namespace rekindle::coordinator
