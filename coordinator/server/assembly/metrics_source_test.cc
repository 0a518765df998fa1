// Tests the coordinator's metrics page from outside: what a node, a job, a restart and a hanging loop do to it.
#include "coordinator/server/assembly/metrics_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "coordinator/store/testing/memory_store.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kPatienceSeconds = 20;

class MetricsSourceTest : public ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    options_.metrics = "127.0.0.1:0";
  }

  std::string Page() {
    httplib::Client client("http://" + server_->metrics_address());
    client.set_read_timeout(20);
    const auto page = client.Get("/metrics");
    EXPECT_TRUE(page) << httplib::to_string(page.error());
    return page ? page->body : "";
  }
  // Returns the value of a series that is written as `name{labels}`, or nullopt when it is not on the page.
  static std::optional<double> In(const std::string& page, const std::string& series) {
    for (const absl::string_view line : absl::StrSplit(page, '\n')) {
      double value = 0;
      if (absl::StartsWith(line, series + " ") && absl::SimpleAtod(line.substr(series.size() + 1), &value))
        return value;
    }
    return std::nullopt;
  }
  std::optional<double> Of(const std::string& series) { return In(Page(), series); }
  // Waits until `holds` returns true for the value of the series. Returns false when that takes too long.
  bool Becomes(const std::string& series, const std::function<bool(std::optional<double>)>& holds) {
    const double until = common::SteadySeconds() + kPatienceSeconds;
    while (!holds(Of(series))) {
      if (common::SteadySeconds() > until) return false;
    }
    return true;
  }
  bool Becomes(const std::string& series, double value) {
    return Becomes(series, [value](std::optional<double> found) { return found == value; });
  }

  // Reports that the trainer that sends `report` has made `step` steps. If `saved` is not 0, a checkpoint of step
  // `saved` was committed.
  void Progress(v1::TrainerReport& report, int step, int saved) {
    report.set_sequence(report.sequence() + 1);
    report.set_step(step);
    report.set_completed_step(step);
    report.set_loss(1.5);
    if (saved > 0) {
      report.mutable_committed()->set_manifest("1-" + std::to_string(saved) + "-writer");
      report.mutable_committed()->set_generation(1);
      report.mutable_committed()->set_step(saved);
    }
    const auto told = Sync(report);
    ASSERT_TRUE(told.ok()) << told.status();
  }
};

TEST_F(MetricsSourceTest, TellsOfNodesJobsAndTheQueue) {
  Start();
  EXPECT_EQ(Of("rekindle_coordinator_responsive"), 1);
  EXPECT_EQ(Of("rekindle_nodes{pool=\"\",state=\"ready\"}"), 0);
  v1::TrainerReport report;
  RunOne("first", &report);
  ASSERT_TRUE(Submit(JobNamed("second")).ok());
  Progress(report, 20, 0);

  ASSERT_TRUE(Becomes("rekindle_job_step{job_name=\"first\"}", 20));
  const std::string page = Page();
  EXPECT_EQ(In(page, "rekindle_nodes{pool=\"\",state=\"ready\"}"), 1);
  EXPECT_EQ(In(page, "rekindle_jobs{state=\"running\"}"), 1);
  EXPECT_EQ(In(page, "rekindle_jobs{state=\"pending\"}"), 1);
  EXPECT_EQ(In(page, "rekindle_jobs{state=\"failed\"}"), 0);
  EXPECT_EQ(In(page, "rekindle_queue_jobs"), 1);
  EXPECT_GE(In(page, "rekindle_queue_longest_wait_seconds"), 0);
  EXPECT_EQ(In(page, "rekindle_job_loss{job_name=\"first\"}"), 1.5);
  EXPECT_EQ(In(page, "rekindle_steps_total"), 20);
  EXPECT_THAT(page, Not(HasSubstr(",job=\""))) << "a label that Prometheus has of its own";
  EXPECT_THAT(page, Not(HasSubstr("{job=\"")));
  EXPECT_THAT(page, Not(HasSubstr("exposer_")));

  ASSERT_TRUE(Cancel("first").ok());
  ASSERT_TRUE(Cancel("second").ok());
  ASSERT_TRUE(Becomes("rekindle_jobs{state=\"cancelled\"}", 2));
  EXPECT_THAT(Page(), Not(HasSubstr("job_name=\"first\""))) << "one that is over has no series";
  EXPECT_EQ(Of("rekindle_steps_total"), 20);
}

TEST_F(MetricsSourceTest, ARestartTakesNothingBack) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  Progress(report, 30, 25);
  ASSERT_TRUE(Becomes("rekindle_job_checkpoint_step{job_name=\"job\"}", 25));
  EXPECT_EQ(Of("rekindle_checkpoints_saved_total"), 1);
  const std::string age = "rekindle_job_checkpoint_age_seconds{job_name=\"job\"}";
  ASSERT_TRUE(Becomes(age, [](std::optional<double> found) { return found >= 1; }));

  Restart();
  ASSERT_TRUE(Becomes(age, [](std::optional<double> found) { return found.has_value(); }));
  EXPECT_GE(Of(age), 1) << "its events tell when the checkpoint became durable";
  Progress(report, 31, 25);
  ASSERT_TRUE(Becomes("rekindle_steps_total", 31));
}

TEST_F(MetricsSourceTest, AJobThatIsForgottenStillCounts) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  Progress(report, 30, 0);
  ASSERT_TRUE(Becomes("rekindle_steps_total", 30));
  ASSERT_TRUE(Cancel("job").ok());
  ASSERT_TRUE(Becomes("rekindle_jobs{state=\"cancelled\"}", 1));
  // The job counts as running on its node until the agent says that nothing of it runs there any more.
  v1::NodeReport gone = AgentReport("node-a");
  const double until = common::SteadySeconds() + kPatienceSeconds;
  for (;;) {
    (void)Sync(gone);
    grpc::ClientContext context;
    SetDeadline(context);
    v1::JobRequest request;
    request.set_job("job");
    v1::ForgetJobReply reply;
    if (users_->ForgetJob(&context, request, &reply).ok()) break;
    ASSERT_LT(common::SteadySeconds(), until);
  }
  ASSERT_TRUE(Becomes("rekindle_jobs{state=\"cancelled\"}", 0));
  EXPECT_EQ(Of("rekindle_steps_total"), 30);
  Restart();
  EXPECT_EQ(Of("rekindle_steps_total"), 30);
}

// A HangingStore is a store whose commits wait for as long as the test wants.
class HangingStore final : public MemoryStore {
 public:
  absl::StatusOr<int64_t> Commit(const Transaction& transaction) override {
    {
      common::MutexLock lock(mutex_);
      changed_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !hangs_; });
    }
    return MemoryStore::Commit(transaction);
  }
  void Hang(bool hangs) {
    const common::MutexLock lock(mutex_);
    hangs_ = hangs;
    changed_.NotifyAll();
  }

 private:
  common::Mutex mutex_;
  common::CondVar changed_;
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST_F(MetricsSourceTest, ACoordinatorThatHangsSaysSo) {
  HangingStore store;
  options_.store = &store;
  Start();
  EXPECT_EQ(Of("rekindle_coordinator_responsive"), 1);
  store.Hang(true);
  std::thread waits([this] { (void)Submit(JobNamed("job")); });
  ASSERT_TRUE(Becomes("rekindle_coordinator_responsive", 0));
  const std::string page = Page();
  EXPECT_THAT(page, Not(HasSubstr("rekindle_jobs{"))) << "nothing that may be true no more";
  EXPECT_THAT(page, HasSubstr("process_cpu_seconds_total"));
  store.Hang(false);
  waits.join();
  EXPECT_TRUE(Becomes("rekindle_coordinator_responsive", 1));
  EXPECT_EQ(Of("rekindle_jobs{state=\"pending\"}"), 1);
  server_.reset();
}

}  // namespace
}  // namespace rekindle::coordinator
