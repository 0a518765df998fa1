// Tests a session with a scripted coordinator: which trainer asks for the job file, when, and what it does with it.
#include "worker/train/sessions/coordinator_session.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/digest/hash.h"
#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/trainer.grpc.pb.h"

namespace rekindle::train {
namespace {

constexpr char kTrainer[] = "n1/0/1";
constexpr std::chrono::seconds kPatience(30);
constexpr double kHeldSpendSeconds = 12345;

class FakeTrainers final : public v1::Trainers::Service {
 public:
  explicit FakeTrainers(common::ClusterIdentity identity) : identity_(std::move(identity)) {}

  void Direct(const v1::TrainerDirective& directive) {
    const common::MutexLock lock(mutex_);
    const int revision = directive_.revision() + 1;
    directive_ = directive;
    directive_.set_revision(revision);
    changed_.NotifyAll();
  }
  void SetFile(const std::string& text, bool over) {
    const common::MutexLock lock(mutex_);
    file_ = text;
    over_ = over;
  }
  void SetIdentity(common::ClusterIdentity identity) {
    const common::MutexLock lock(mutex_);
    identity_ = std::move(identity);
  }
  // Returns the next renewal for which `fits` returns true. Renewals up to the one that was returned last do not count.
  v1::RenewLeaseRequest Await(const std::function<bool(const v1::RenewLeaseRequest&)>& fits) {
    common::MutexLock lock(mutex_);
    v1::RenewLeaseRequest found;
    const bool came = changed_.WaitFor(lock, kPatience, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      for (; seen_ < asked_.size(); ++seen_) {
        if (!fits(asked_[seen_])) continue;
        found = asked_[seen_++];
        return true;
      }
      return false;
    });
    EXPECT_TRUE(came) << "nothing was asked for";
    return found;
  }
  size_t asked() {
    const common::MutexLock lock(mutex_);
    return asked_.size();
  }
  void Stop() {
    const common::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }

  grpc::Status Sync(grpc::ServerContext* context, const v1::TrainerReport* report,
                    v1::TrainerDirective* directive) override {
    common::MutexLock lock(mutex_);
    const auto is_due = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stopping_ || report->known_revision() != directive_.revision();
    };
    while (!context->IsCancelled() && !changed_.WaitFor(lock, std::chrono::milliseconds(20), is_due)) {
    }
    *directive = directive_;
    common::ToMessage(identity_, directive->mutable_identity());
    return grpc::Status::OK;
  }
  grpc::Status RenewLease(grpc::ServerContext*, const v1::RenewLeaseRequest* request,
                          v1::RenewLeaseReply* reply) override {
    common::MutexLock lock(mutex_);
    asked_.push_back(*request);
    changed_.NotifyAll();
    reply->set_stands(true);
    common::ToMessage(identity_, reply->mutable_identity());
    if (request->wants_job_file() && !file_.empty()) {
      reply->set_job_file_digest(common::Xxh3_128Hex(file_));
      reply->set_job_is_over(over_);
      if (reply->job_file_digest() != request->job_file_digest()) reply->set_job_file(file_);
    }
    if (hold_ == Hold::kNext) {
      reply->set_spend_seconds(kHeldSpendSeconds);
      hold_ = Hold::kHeld;
      changed_.NotifyAll();
      changed_.WaitFor(lock, kPatience,
                       [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return hold_ == Hold::kNone; });
    }
    return grpc::Status::OK;
  }
  // Holds back the answer to the next renewal until ReleaseRenewal(). By kHeldSpendSeconds the answer can be known.
  void HoldNextRenewal() {
    const common::MutexLock lock(mutex_);
    hold_ = Hold::kNext;
  }
  void AwaitHeldRenewal() {
    common::MutexLock lock(mutex_);
    EXPECT_TRUE(changed_.WaitFor(lock, kPatience,
                                 [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return hold_ == Hold::kHeld; }));
  }
  void ReleaseRenewal() {
    const common::MutexLock lock(mutex_);
    hold_ = Hold::kNone;
    changed_.NotifyAll();
  }

 private:
  enum class Hold { kNone, kNext, kHeld };

  common::Mutex mutex_;
  common::CondVar changed_;
  Hold hold_ ABSL_GUARDED_BY(mutex_) = Hold::kNone;
  common::ClusterIdentity identity_ ABSL_GUARDED_BY(mutex_);
  v1::TrainerDirective directive_ ABSL_GUARDED_BY(mutex_);
  std::string file_ ABSL_GUARDED_BY(mutex_);
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<v1::RenewLeaseRequest> asked_ ABSL_GUARDED_BY(mutex_);
  size_t seen_ ABSL_GUARDED_BY(mutex_) = 0;
};

v1::TrainerDirective Runs(int generation, int rank, double lease_seconds = 0) {
  v1::TrainerDirective directive;
  directive.set_action(v1::TrainerDirective::RUN);
  v1::Membership* membership = directive.mutable_membership();
  membership->set_generation(generation);
  membership->set_digest("d");
  membership->set_lease_seconds(lease_seconds);
  for (int i = 0; i < 2; ++i) membership->add_members()->set_trainer(i == rank ? kTrainer : "n2/0/1");
  return directive;
}

class CoordinatorSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = common::Server::Start({.listen = "127.0.0.1:0", .security = {}}, {&coordinator_});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto control = ConnectCoordinator(
        "127.0.0.1:" + std::to_string(server_->port()),
        {.job_uid = "job", .trainer = kTrainer, .node = "n1", .job_secret = "s", .obeys = identity_});
    ASSERT_TRUE(control.ok()) << control.status();
    control_ = *std::move(control);
    control_->Publish({}, true);
  }
  void TearDown() override {
    control_.reset();
    coordinator_.Stop();
    server_.reset();
  }
  void AwaitGeneration(int generation) {
    const DirectiveBox& directives = control_->directives();
    for (int64_t seen = directives.Version(); directives.Latest().membership.generation != generation;
         seen = directives.Version()) {
      directives.WaitForChange(seen, 1);
    }
  }

  const common::ClusterIdentity identity_ = common::NewCluster();
  FakeTrainers coordinator_{identity_};
  std::unique_ptr<common::Server> server_;
  std::unique_ptr<ControlPlane> control_;
};

TEST_F(CoordinatorSessionTest, RankZeroAsksAsSoonAsAGenerationBegins) {
  coordinator_.SetFile("first", false);
  // Generation 1 has no lease, so the session sends a renewal only to ask for the job file.
  coordinator_.Direct(Runs(1, 0));
  const auto first = coordinator_.Await([](const auto& request) { return request.wants_job_file(); });
  EXPECT_EQ(first.generation(), 1);
  EXPECT_EQ(first.job_secret(), "s");
  EXPECT_EQ(first.job_file_digest(), "");
  coordinator_.Direct(Runs(2, 0, /*lease_seconds=*/600));
  const auto second = coordinator_.Await([](const auto& request) { return request.generation() == 2; });
  EXPECT_TRUE(second.wants_job_file());
  EXPECT_EQ(second.job_file_digest(), common::Xxh3_128Hex("first"));
}

TEST_F(CoordinatorSessionTest, OtherRanksAskForNoFile) {
  coordinator_.Direct(Runs(1, 1, /*lease_seconds=*/1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(coordinator_.Await([](const auto& request) { return request.generation() == 1; }).wants_job_file());
  }
}

TEST_F(CoordinatorSessionTest, WhatIsSavedHasTheNewest) {
  coordinator_.Direct(Runs(1, 0));
  AwaitGeneration(1);
  coordinator_.SetFile("first", false);
  EXPECT_EQ(control_->JobFileNow().text, "first");
  coordinator_.SetFile("second", false);
  EXPECT_EQ(control_->JobFileNow().text, "second");
  EXPECT_TRUE(control_->JobFileNow().required);
  EXPECT_EQ(control_->JobFileOfEnd(30), "") << "it is not over";
  coordinator_.SetFile("third", true);
  EXPECT_EQ(control_->JobFileOfEnd(30), "third");
}

TEST_F(CoordinatorSessionTest, AnOlderAnswerThatComesLaterReplacesNothing) {
  coordinator_.SetFile("first", false);
  coordinator_.HoldNextRenewal();
  coordinator_.Direct(Runs(1, 0));
  coordinator_.AwaitHeldRenewal();
  coordinator_.SetFile("second", true);
  EXPECT_EQ(control_->JobFileNow().text, "second");
  coordinator_.ReleaseRenewal();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (control_->lease().SpendSeconds() != kHeldSpendSeconds && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  ASSERT_EQ(control_->lease().SpendSeconds(), kHeldSpendSeconds) << "the older answer has come";
  // Without a coordinator the session cannot ask for the file again.
  coordinator_.Stop();
  server_.reset();
  EXPECT_EQ(control_->JobFileNow().text, "second");
  EXPECT_EQ(control_->JobFileOfEnd(0.1), "second");
}

TEST_F(CoordinatorSessionTest, WithoutACoordinatorWhatItToldLastCounts) {
  coordinator_.Direct(Runs(1, 0));
  AwaitGeneration(1);
  coordinator_.SetFile("first", false);
  EXPECT_EQ(control_->JobFileNow().text, "first");
  // From now on the coordinator of another cluster answers at the same address.
  coordinator_.SetIdentity(common::NewCluster());
  coordinator_.SetFile("a foreign one", true);
  EXPECT_EQ(control_->JobFileNow().text, "first");
  EXPECT_EQ(control_->JobFileOfEnd(30), "");
  coordinator_.Stop();
  server_.reset();
  EXPECT_EQ(control_->JobFileNow().text, "first");
  EXPECT_EQ(control_->JobFileOfEnd(1), "");
}

TEST_F(CoordinatorSessionTest, OneIsRequiredUntilTheCoordinatorHasAnswered) {
  coordinator_.Stop();
  server_.reset();
  const checkpoint::JobFile unknown = control_->JobFileNow();
  EXPECT_EQ(unknown.text, "");
  EXPECT_TRUE(unknown.required);
}

TEST_F(CoordinatorSessionTest, NoneIsRequiredWhereTheCoordinatorHasNone) {
  coordinator_.Direct(Runs(1, 0));
  AwaitGeneration(1);
  const checkpoint::JobFile none = control_->JobFileNow();
  EXPECT_EQ(none.text, "");
  EXPECT_FALSE(none.required);
}

}  // namespace
}  // namespace rekindle::train
