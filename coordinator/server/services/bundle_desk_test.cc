// Tests bundles against a whole coordinator: who may send and get them, and what becomes of heartbeats meanwhile.
#include "coordinator/server/services/bundle_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <random>

#include "common/bundle/bundle_writer.h"
#include "common/time/clock.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

// Returns a bundle with `bytes` bytes that cannot be compressed.
common::PackedBundle BundleOf(size_t bytes) {
  std::string content(bytes, '\0');
  std::mt19937 random(7);
  for (char& c : content) c = static_cast<char>(random());
  common::BundleWriter writer;
  EXPECT_TRUE(writer.Begin({"train.py", false, static_cast<int64_t>(bytes)}).ok());
  EXPECT_TRUE(writer.Content(content).ok());
  return *writer.Finish();
}

class BundleDeskTest : public ServerFixture {
 protected:
  absl::StatusOr<v1::PutBundleReply> Put(const common::PackedBundle& bundle, int64_t offset, const std::string& data) {
    grpc::ClientContext context;
    SetDeadline(context, 60);
    v1::PutBundleRequest request;
    request.set_address(bundle.summary.address);
    request.set_bytes(static_cast<int64_t>(bundle.packed.size()));
    request.set_offset(offset);
    request.set_data(data);
    return Checked<v1::PutBundleReply>(
        [&](v1::PutBundleReply* reply) { return users_->PutBundle(&context, request, reply); });
  }
  absl::StatusOr<v1::PutBundleReply> PutAll(const common::PackedBundle& bundle) {
    auto reply = Put(bundle, 0, "");
    while (reply.ok() && !reply->complete()) {
      const int64_t have = reply->have();
      reply = Put(bundle, have, bundle.packed.substr(static_cast<size_t>(have), common::kMaxBundlePieceBytes));
    }
    return reply;
  }
  absl::StatusOr<v1::GetBundleReply> Get(const std::string& node, const std::string& uid, const std::string& address,
                                         int64_t offset = 0, const std::string& incarnation = "folder-1") {
    grpc::ClientContext context;
    SetDeadline(context, 120);
    v1::GetBundleRequest request;
    request.set_node(node);
    request.set_incarnation(incarnation);
    request.set_job_uid(uid);
    request.set_address(address);
    request.set_offset(offset);
    return Checked<v1::GetBundleReply>(
        [&](v1::GetBundleReply* reply) { return nodes_->GetBundle(&context, request, reply); });
  }
  v1::Job OwnJob(const std::string& name, const std::string& address) {
    v1::Job job;
    job.set_name(name);
    job.mutable_spec()->mutable_model()->set_python("train:task");
    job.mutable_spec()->mutable_model()->set_bundle(address);
    job.mutable_spec()->mutable_training()->set_steps(100);
    job.mutable_spec()->mutable_workers()->set_max(1);
    return job;
  }
  v1::NodeReport OwnNode(const std::string& node) {
    v1::NodeReport report = AgentReport(node);
    report.mutable_device()->set_kind("cpu");
    report.set_allow_code("on");
    report.mutable_interpreter()->set_path("/usr/bin/python3");
    report.mutable_interpreter()->set_version("3.11.2");
    report.mutable_interpreter()->set_torch("2.11.0+cpu");
    return report;
  }
  // Submits a job with the bundle that runs on the node "n1", and returns its uid.
  std::string RunOwn(const common::PackedBundle& bundle) {
    EXPECT_TRUE(Sync(OwnNode("n1")).ok());
    const auto submitted = Submit(OwnJob("own", bundle.summary.address));
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    const auto directive = Sync(OwnNode("n1"));
    EXPECT_TRUE(directive.ok() && directive->trainers_size() == 1);
    return submitted.ok() ? submitted->uid() : "";
  }
};

TEST_F(BundleDeskTest, AJobNeedsItsBundleAndANodeOfItGetsIt) {
  Start();
  const common::PackedBundle bundle = BundleOf(3 << 20);
  const std::string& address = bundle.summary.address;
  ASSERT_TRUE(Sync(OwnNode("n1")).ok());
  EXPECT_THAT(std::string(Submit(OwnJob("own", address)).status().message()),
              HasSubstr("spec.model.bundle: this coordinator does not have the bundle"));
  ASSERT_TRUE(PutAll(bundle).ok());
  const std::string uid = RunOwn(bundle);
  std::string got;
  while (got.size() < bundle.packed.size()) {
    const auto piece = Get("n1", uid, address, static_cast<int64_t>(got.size()));
    ASSERT_TRUE(piece.ok()) << piece.status();
    EXPECT_LE(piece->data().size(), common::kMaxBundlePieceBytes);
    got += piece->data();
  }
  EXPECT_EQ(got, bundle.packed);
}

TEST_F(BundleDeskTest, NobodyElseGetsIt) {
  Start();
  const common::PackedBundle bundle = BundleOf(100), other = BundleOf(200);
  ASSERT_TRUE(PutAll(bundle).ok());
  ASSERT_TRUE(PutAll(other).ok());
  const std::string uid = RunOwn(bundle);
  ASSERT_TRUE(Sync(OwnNode("n2")).ok());
  const std::string& address = bundle.summary.address;
  EXPECT_TRUE(Get("n1", uid, address).ok());
  for (const auto& status :
       {Get("n2", uid, address).status(), Get("n3", uid, address).status(), Get("n1", "another", address).status(),
        Get("n1", uid, other.summary.address).status(), Get("n1", uid, "").status(),
        Get("n1", uid, address, 0, "folder-2").status(), Get("n1", "own", address).status()}) {
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(Get("bad name", uid, address).status()));
  EXPECT_TRUE(absl::IsOutOfRange(Get("n1", uid, address, 1 << 30).status()));
}

TEST_F(BundleDeskTest, WhatIsWrongIsRefused) {
  Start();
  common::PackedBundle bundle = BundleOf(100);
  EXPECT_TRUE(absl::IsInvalidArgument(Put(bundle, 0, std::string(common::kMaxBundlePieceBytes + 1, 'x')).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Put(bundle, -1, "x").status()));
  EXPECT_TRUE(absl::IsNotFound(Put(bundle, 0, "x").status())) << "it was not begun";
  bundle.summary.address = std::string(64, 'a');
  EXPECT_TRUE(absl::IsDataLoss(PutAll(bundle).status())) << "changed on the way";
  bundle.summary.address = "../../x";
  EXPECT_TRUE(absl::IsInvalidArgument(PutAll(bundle).status()));
}

TEST_F(BundleDeskTest, ACoordinatorThatTakesNoCodeTakesNoBundle) {
  options_.allow_code = "off";
  Start();
  const absl::Status refused = PutAll(BundleOf(100)).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--allow-code on"));
}

// Begins calls whose replies nobody takes, so that they keep their places at the coordinator.
class StalledCalls {
 public:
  StalledCalls(const std::string& address, const v1::GetBundleRequest& request, int count) {
    // A channel as usual reads a reply of a megabyte before anybody asks for it.
    grpc::ChannelArguments narrow;
    narrow.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    narrow.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    narrow.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1024);
    narrow.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    stub_ = v1::Nodes::NewStub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), narrow));
    for (int i = 0; i < count; ++i) {
      One& one = *calls_.emplace_back(std::make_unique<One>());
      one.call = stub_->PrepareAsyncGetBundle(&one.context, request, &queue_);
      one.call->StartCall();
      // With this the reply has begun. The most of it waits for somebody who reads it.
      one.call->ReadInitialMetadata(&one);
    }
    for (int i = 0; i < count; ++i) (void)Next();
  }
  // Reads the replies, and returns how many of the calls the coordinator has ended without one.
  int Ended() {
    int ended = 0;
    for (const auto& one : calls_) one->call->Finish(&one->reply, &one->status, one.get());
    for (size_t i = 0; i < calls_.size(); ++i) ended += Next()->status.ok() ? 0 : 1;
    return ended;
  }

 private:
  struct One {
    grpc::ClientContext context;
    v1::GetBundleReply reply;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::GetBundleReply>> call;
  };

  // Waits for what is done next.
  const One* Next() {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue_.Next(&tag, &ok));
    return static_cast<const One*>(tag);
  }

  grpc::CompletionQueue queue_;
  std::unique_ptr<v1::Nodes::Stub> stub_;
  std::vector<std::unique_ptr<One>> calls_;
};

TEST_F(BundleDeskTest, ClientsThatDoNotReadKeepTheirPlacesNotForEver) {
  options_.bundle_stalled_seconds = 0.5;
  Start();
  const common::PackedBundle bundle = BundleOf(1 << 20);
  ASSERT_TRUE(PutAll(bundle).ok());
  v1::GetBundleRequest request;
  request.set_node("n1");
  request.set_incarnation("folder-1");
  request.set_job_uid(RunOwn(bundle));
  request.set_address(bundle.summary.address);
  StalledCalls stalled(server_->address(), request, 4);
  // More calls than there are places: some of them come after the stalled ones.
  for (int i = 0; i < 8; ++i) {
    const auto got = Get("n1", request.job_uid(), bundle.summary.address);
    EXPECT_TRUE(got.ok()) << got.status();
  }
  EXPECT_EQ(stalled.Ended(), 4);
}

TEST_F(BundleDeskTest, TwoHundredNodesThatFetchAtOnceDelayHeartbeatsLittle) {
  Start();
  const common::PackedBundle bundle = BundleOf(2 << 20);
  ASSERT_TRUE(PutAll(bundle).ok());
  const std::string uid = RunOwn(bundle);
  const auto heartbeats = [&](const std::function<bool()>& go_on) {
    std::vector<double> seconds;
    v1::NodeReport report = OwnNode("n1");
    while (seconds.size() < 1000 || go_on()) {
      report.set_hint(seconds.size() % 2 == 0 ? "a" : "b");
      const double begun = common::SteadySeconds();
      EXPECT_TRUE(Sync(report).ok());
      seconds.push_back(common::SteadySeconds() - begun);
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() * 99 / 100];
  };
  const double alone = heartbeats([] { return false; });
  std::atomic<int> done{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 200; ++i) {
    clients.emplace_back([&] {
      for (int64_t at = 0; at < static_cast<int64_t>(bundle.packed.size());) {
        const auto piece = Get("n1", uid, bundle.summary.address, at);
        EXPECT_TRUE(piece.ok()) << piece.status();
        if (!piece.ok()) break;
        at += static_cast<int64_t>(piece->data().size());
      }
      ++done;
    });
  }
  const double meanwhile = heartbeats([&] { return done < 200; });
  for (std::thread& client : clients) client.join();
  // The clients of this test share the processors with the coordinator, so the least time that counts is 10 ms.
  EXPECT_LE(meanwhile, 2 * std::max(alone, 0.01)) << "alone " << alone;
}

}  // namespace
}  // namespace rekindle::coordinator
