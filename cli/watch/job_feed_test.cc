#include "cli/watch/job_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

using testing::ElementsAre;

constexpr auto kPatience = std::chrono::seconds(20);
constexpr auto kPoll = std::chrono::milliseconds(10);
constexpr JobFeed::Times kQuick = {
    .quiet = 0.02, .answer = 0.1, .away = 0.5, .first = 0.3, .patience = 600, .retry = 0.02};

v1::Job JobAt(int step, v1::JobState state = v1::RUNNING) {
  v1::Job job;
  job.set_name("job");
  job.set_uid("uid-1");
  job.mutable_status()->set_step(step);
  job.mutable_status()->set_state(state);
  return job;
}

// FakeCoordinator has one job. It can be stopped as SIGSTOP stops a process: calls stay open, and nothing is sent.
class FakeCoordinator final : public v1::Coordinator::Service {
 public:
  void Set(const v1::Job& job) {
    const common::MutexLock lock(mutex_);
    job_ = job;
    ++version_;
    changed_.NotifyAll();
  }
  void Freeze(bool frozen) {
    const common::MutexLock lock(mutex_);
    frozen_ = frozen;
    changed_.NotifyAll();
  }
  // Ends the streams that are open.
  void EndStreams(const grpc::Status& status) {
    const common::MutexLock lock(mutex_);
    ++ended_streams_;
    stream_end_ = status;
    changed_.NotifyAll();
  }
  std::vector<std::string> Watched() {
    const common::MutexLock lock(mutex_);
    return watched_;
  }
  // Returns the number of GetJob calls that are not answered.
  int Waiting() {
    const common::MutexLock lock(mutex_);
    return waiting_;
  }

  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::Job>* writer) override {
    common::MutexLock lock(mutex_);
    watched_.push_back(request->job());
    int seen = 0;
    const int ended = ended_streams_;
    while (!context->IsCancelled()) {
      if (ended_streams_ != ended) return stream_end_;
      if (!frozen_ && !job_) return {grpc::StatusCode::NOT_FOUND, "no such job"};
      if (!frozen_ && seen != version_) {
        seen = version_;
        writer->Write(*job_);
      }
      // If the client has cancelled the call, nothing wakes the thread that serves it, so this thread polls.
      changed_.WaitFor(lock, kPoll, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return ended_streams_ != ended || (!frozen_ && seen != version_);
      });
    }
    return grpc::Status::CANCELLED;
  }

  grpc::Status GetJob(grpc::ServerContext* context, const v1::GetJobRequest*, v1::Job* reply) override {
    common::MutexLock lock(mutex_);
    ++waiting_;
    while (frozen_ && !context->IsCancelled()) {
      changed_.WaitFor(lock, kPoll, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !frozen_; });
    }
    --waiting_;
    if (!job_) return {grpc::StatusCode::NOT_FOUND, "no such job"};
    *reply = *job_;
    return grpc::Status::OK;
  }

 private:
  common::Mutex mutex_;
  common::CondVar changed_;
  std::optional<v1::Job> job_ ABSL_GUARDED_BY(mutex_);
  int version_ ABSL_GUARDED_BY(mutex_) = 0;
  bool frozen_ ABSL_GUARDED_BY(mutex_) = false;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  int ended_streams_ ABSL_GUARDED_BY(mutex_) = 0;
  grpc::Status stream_end_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> watched_ ABSL_GUARDED_BY(mutex_);
};

class JobFeedTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = common::Server::Start({}, {&coordinator_});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto channel = common::Connect(server_->address());
    ASSERT_TRUE(channel.ok()) << channel.status();
    stub_ = v1::Coordinator::NewStub(*channel);
  }

  void TearDown() override {
    // Some tests end while the fake coordinator is still stopped and silent. The feed must end all the same.
    feed_.reset();
  }

  void Start(const JobFeed::Times& times = kQuick) {
    feed_ = std::make_unique<JobFeed>(
        stub_.get(), "job", common::StatusFromGrpc,
        [this] {
          const common::MutexLock lock(mutex_);
          woken_ = true;
          changed_.NotifyAll();
        },
        times);
  }

  // Takes news from the feed until `enough` accepts the newest news. Appends the step of each state of the job that has
  // come to `steps_`.
  template <typename Enough>
  JobFeed::News Await(const Enough& enough) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      JobFeed::News news = feed_->Next();
      if (news.job) steps_.push_back(news.job->status().step());
      if (enough(news)) return news;
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "waited for news";
        return news;
      }
      common::MutexLock lock(mutex_);
      // News that time alone brings, such as `away_since`, come without a call of `wake`, so the test polls, too.
      changed_.WaitFor(lock, kPoll, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return woken_; });
      woken_ = false;
    }
  }
  void AwaitStep(int step) {
    Await([step](const JobFeed::News& news) { return news.job && news.job->status().step() == step; });
  }
  absl::Status AwaitEnd() {
    const JobFeed::News news = Await([](const JobFeed::News& n) { return n.end.has_value(); });
    return news.end.value_or(absl::UnknownError("it goes on"));
  }

  FakeCoordinator coordinator_;
  std::unique_ptr<common::Server> server_;
  std::unique_ptr<v1::Coordinator::StubInterface> stub_;
  std::unique_ptr<JobFeed> feed_;
  std::vector<int> steps_;

 private:
  common::Mutex mutex_;
  common::CondVar changed_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST_F(JobFeedTest, EachStateOnceAndThenTheEnd) {
  coordinator_.Set(JobAt(1));
  Start();
  AwaitStep(1);
  coordinator_.Set(JobAt(2));
  AwaitStep(2);
  coordinator_.Set(JobAt(3, v1::SUCCEEDED));
  EXPECT_TRUE(AwaitEnd().ok());
  EXPECT_THAT(steps_, ElementsAre(1, 2, 3));
}

TEST_F(JobFeedTest, ARefusalEndsIt) {
  Start();
  EXPECT_TRUE(absl::IsNotFound(AwaitEnd()));
}

TEST_F(JobFeedTest, AfterALostStreamItGoesOnWithTheSameJobAndNoStateTwice) {
  coordinator_.Set(JobAt(1));
  Start();
  AwaitStep(1);
  for (const auto& status : {grpc::Status(grpc::StatusCode::UNAVAILABLE, "stops"), grpc::Status::OK}) {
    const size_t streams = coordinator_.Watched().size();
    coordinator_.EndStreams(status);
    Await([&](const JobFeed::News&) { return coordinator_.Watched().size() > streams; });
  }
  coordinator_.Set(JobAt(2));
  AwaitStep(2);
  EXPECT_THAT(steps_, ElementsAre(1, 2));
  EXPECT_THAT(coordinator_.Watched(), ElementsAre("job", "uid-1", "uid-1"));
}

TEST_F(JobFeedTest, ACoordinatorThatSaysNothingIsAwayUntilItAnswers) {
  coordinator_.Set(JobAt(1));
  const double before = common::WallSeconds();
  Start();
  AwaitStep(1);
  coordinator_.Freeze(true);
  const JobFeed::News away = Await([](const JobFeed::News& news) { return news.away_since.has_value(); });
  EXPECT_GE(away.away_since.value_or(0), before);
  EXPECT_LE(away.away_since.value_or(0), common::WallSeconds() - kQuick.away + 0.1);
  // The coordinator continues. The job has not changed meanwhile, but any answer of the coordinator ends the silence.
  coordinator_.Freeze(false);
  Await([](const JobFeed::News& news) { return !news.away_since; });
  EXPECT_THAT(steps_, ElementsAre(1));
}

TEST_F(JobFeedTest, ACoordinatorThatDoesNotComeBackIsGivenUp) {
  coordinator_.Set(JobAt(1));
  JobFeed::Times times = kQuick;
  times.patience = 0.7;
  Start(times);
  AwaitStep(1);
  // A stopped coordinator keeps its streams open and sends nothing on them, so the feed must end when its patience is
  // over.
  coordinator_.Freeze(true);
  EXPECT_TRUE(absl::IsDeadlineExceeded(AwaitEnd()));
}

TEST_F(JobFeedTest, OneThatNeverSaidAWordIsGivenUpSooner) {
  coordinator_.Freeze(true);
  Start();
  EXPECT_TRUE(absl::IsDeadlineExceeded(AwaitEnd()));
}

TEST_F(JobFeedTest, WhereNobodyListensItEndsAtOnce) {
  server_->Shutdown(0);
  JobFeed::Times times = kQuick;
  times.first = 600;
  Start(times);
  EXPECT_TRUE(absl::IsUnavailable(AwaitEnd()));
}

TEST_F(JobFeedTest, ItsEndDoesNotWaitForACoordinatorThatIsStopped) {
  coordinator_.Set(JobAt(1));
  JobFeed::Times times = kQuick;
  times.answer = 600;
  Start(times);
  AwaitStep(1);
  coordinator_.Freeze(true);
  Await([this](const JobFeed::News&) { return coordinator_.Waiting() > 0; });
  const double before = common::SteadySeconds();
  feed_.reset();
  EXPECT_LT(common::SteadySeconds() - before, 60);
}

}  // namespace
}  // namespace rekindle::cli
