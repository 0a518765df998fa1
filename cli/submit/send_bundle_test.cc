#include "cli/submit/send_bundle.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/submit/script.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::cli {
namespace {

using testing::HasSubstr;

// Takes a bundle, and fails each second call.
class Taker final : public v1::Coordinator::Service {
 public:
  grpc::Status PutBundle(grpc::ServerContext*, const v1::PutBundleRequest* request,
                         v1::PutBundleReply* reply) override {
    if (refusal.error_code() != grpc::StatusCode::OK) return refusal;
    if (takes_nothing) return grpc::Status::OK;
    if (++calls % 2 == 0) return {grpc::StatusCode::UNAVAILABLE, "cut"};
    if (static_cast<int64_t>(taken.size()) == request->offset()) taken += request->data();
    if (taken.size() > 5 && loses) {
      loses = false;
      taken.clear();
      return {grpc::StatusCode::DATA_LOSS, "changed on the way"};
    }
    reply->set_have(static_cast<int64_t>(taken.size()));
    reply->set_complete(reply->have() == request->bytes());
    return grpc::Status::OK;
  }

  int calls = 0;
  bool loses = false;
  bool takes_nothing = false;
  std::string taken;
  grpc::Status refusal;
};

class SendBundleTest : public testing::Test {
 protected:
  SendBundleTest() {
    std::filesystem::create_directory(folder_.path() + "/code");
    std::ofstream(folder_.path() + "/code/train.py") << "print()\n";
    std::ofstream(folder_.path() + "/code/.env") << "secret";
    std::ofstream(folder_.path() + "/code/data.key") << "secret";
    packed_ = *common::PackFolder(folder_.path() + "/code");
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&taker_);
    server_ = builder.BuildAndStart();
    context_.flags.endpoint = "127.0.0.1:" + std::to_string(port_);
  }

  const common::TemporaryFolder folder_;
  common::PackedFolder packed_;
  Taker taker_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  Context context_;
};

TEST_F(SendBundleTest, GoesOnAfterACutAndOnceMoreAfterAChange) {
  taker_.loses = true;
  testing::internal::CaptureStderr();
  const absl::Status sent = SendBundle(context_, packed_);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(sent.ok()) << sent;
  EXPECT_EQ(taker_.taken, packed_.bundle.packed);
  EXPECT_THAT(said,
              HasSubstr("not sent, because they may hold keys or passwords: data.key\nsent 1 file, 8 bytes, of "));
}

TEST_F(SendBundleTest, ACoordinatorThatTakesNothingIsNotAskedForEver) {
  taker_.takes_nothing = true;
  EXPECT_THAT(std::string(SendBundle(context_, packed_).message()), HasSubstr("takes no more of the bundle"));
}

TEST_F(SendBundleTest, ARefusalIsToldAtOnce) {
  taker_.refusal = {grpc::StatusCode::RESOURCE_EXHAUSTED, "there is no room"};
  EXPECT_THAT(std::string(SendBundle(context_, packed_).message()), HasSubstr("there is no room"));
}

TEST_F(SendBundleTest, ADryRunListsFilesAndWhatIsNeverSent) {
  testing::internal::CaptureStdout();
  PrintBundle(context_, packed_);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("\ttrain.py\n"));
  EXPECT_THAT(text, HasSubstr("never sent\t.env\n"));
  EXPECT_THAT(text, HasSubstr(packed_.bundle.summary.address + "; nothing was sent"));
}

TEST_F(SendBundleTest, AScriptDescribesItsJob) {
  const std::string script = folder_.path() + "/code/train.py";
  std::ofstream(script)
      << "echo noise; echo '{\"name\": \"a\", \"spec\": {\"model\": {\"bundle\": \"'\"$(pwd)\"'\"}}}' > "
         "\"$REKINDLE_DESCRIBE\"\n";
  const auto file = DescribeScript(script, "sh", {});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->source, script);
  EXPECT_EQ(file->documents.front().job.name(), "a");
  std::ofstream(script) << "exit 3\n";
  EXPECT_THAT(std::string(DescribeScript(script, "sh", {}).status().message()), HasSubstr("has failed before"));
  std::ofstream(script) << "exit 0\n";
  EXPECT_THAT(std::string(DescribeScript(script, "sh", {}).status().message()), HasSubstr("rekindle.run"));
  EXPECT_THAT(std::string(DescribeScript(script, "no-such-python", {}).status().message()), HasSubstr("--python"));
  EXPECT_THAT(*FindPython("sh"), testing::EndsWith("/sh"));
  EXPECT_EQ(*FindPython("/no/such/python"), "/no/such/python") << "running it says what is wrong";
  EXPECT_TRUE(absl::IsNotFound(DescribeScript(script + "x.py", "sh", {}).status()));
  EXPECT_EQ(FolderOfScript(script), folder_.path() + "/code");
}

}  // namespace
}  // namespace rekindle::cli
