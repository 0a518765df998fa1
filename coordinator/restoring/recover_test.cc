// Tests that a data folder can be made from what checkpoint stores keep of their jobs.
#include "coordinator/restoring/recover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "checkpoint/testing/testing.h"
#include "common/bundle/bundle_writer.h"
#include "common/digest/sha256.h"
#include "common/testing/fault_file.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/bundles/bundle_shelf.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/folder/new_data_folder.h"
#include "coordinator/spec/job_secret.h"
#include "coordinator/store/cluster_record.h"
#include "coordinator/store/record_keys.h"
#include "coordinator/store/sqlite_store.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kHour = 3600;
constexpr double kWritten = 1.75e9;
constexpr char kCluster[] = "0123456789abcdef0123456789abcdef";

class RecoverTest : public testing::Test {
 protected:
  void SetUp() override {
    data_ = folder_ + "/a/b";
    options_.unix_now = kWritten + kHour;
  }

  static v1::JobRecord Record(const std::string& uid, v1::JobState state = v1::RUNNING) {
    v1::JobRecord record;
    record.mutable_job()->set_uid(uid);
    record.mutable_job()->set_name("name-" + uid);
    record.set_secret("secret");
    record.mutable_membership()->set_generation(3);
    record.mutable_membership()->add_members()->set_trainer("n1/0/1");
    v1::JobStatus* status = record.mutable_job()->mutable_status();
    status->set_state(state);
    status->set_reason("as it was");
    status->set_submitted_at(1000);
    status->mutable_resolved_spec()->mutable_training()->set_steps(100);
    v1::Cost* cost = status->mutable_cost();
    cost->set_spent(5);
    cost->set_rate(2);
    cost->set_until(kWritten);
    v1::PoolCost* line = cost->add_pools();
    line->set_pool("a");
    line->set_capacity("spot");
    line->set_nodes(2);
    line->set_price(1);
    line->set_spent(5);
    return record;
  }

  // Saves a checkpoint of step 10, with the job's file beside it.
  void Save(checkpoint::Store& store, const v1::JobRecord& record, int generation = 3, int epoch = 1,
            const std::string& cluster = kCluster) {
    const auto manifest =
        checkpoint::PutShards(store, record.job().uid(), generation, 10, checkpoint::TestState::Random(10, 1), 1);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    v1::ClusterIdentity identity;
    common::ToMessage(common::ClusterIdentity{cluster, epoch, 7}, &identity);
    const auto text = core::EncodeJobFile(core::MakeJobFile(record, identity, kWritten));
    ASSERT_TRUE(text.ok()) << text.status();
    ASSERT_TRUE(store.PutManifest(*manifest, {.text = *text}).ok());
  }
  void Save(const v1::JobRecord& record) { Save(store_, record); }

  absl::StatusOr<Recovered> Plan() {
    auto jobs = ReadStoredJobs(store_, "file:///store");
    if (!jobs.ok()) return jobs.status();
    return PlanRecovery(NewestOfEach(*std::move(jobs)), options_);
  }
  std::string Refusal() { return std::string(Plan().status().message()); }

  common::FaultFileSystem fs_;
  checkpoint::Store store_{fs_, "/store", 0};
  RecoverOptions options_;
  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  std::string data_;
};

TEST_F(RecoverTest, WhatIsNotOverIsPausedAndAwaitsItsTrainers) {
  Save(Record("one"));
  const auto recovered = Plan();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  ASSERT_THAT(recovered->jobs, SizeIs(1));
  const v1::JobRecord& record = recovered->jobs[0].record;
  EXPECT_EQ(recovered->jobs[0].stored.step, 10);
  EXPECT_EQ(record.job().status().state(), v1::PAUSED);
  EXPECT_FALSE(record.want_paused()) << "those that live go on";
  EXPECT_EQ(record.recovered().secret_sha256(), common::Sha256Hex("secret"));
  EXPECT_THAT(record.secret(), SizeIs(kJobSecretBytes));
  EXPECT_NE(record.secret(), "secret");
  EXPECT_EQ(record.membership().generation(), 0);
  EXPECT_EQ(record.store_generation(), 3);
  EXPECT_EQ(recovered->identity.cluster, kCluster);
  EXPECT_EQ(recovered->identity.epoch, 1002) << "above epochs that left no trace in the store";
  EXPECT_THAT(recovered->left, IsEmpty());
}

TEST_F(RecoverTest, TheTimeSinceIsChargedAsAnEstimate) {
  Save(Record("one"));
  const auto recovered = Plan();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  const v1::Cost& cost = recovered->jobs[0].record.job().status().cost();
  EXPECT_DOUBLE_EQ(cost.spent(), 7);
  EXPECT_DOUBLE_EQ(cost.estimated(), 2);
  EXPECT_DOUBLE_EQ(cost.pools(0).spent(), 7);
  EXPECT_DOUBLE_EQ(cost.node_hours(), 2);
  EXPECT_DOUBLE_EQ(cost.until(), kWritten + kHour);
  // If the machine's clock is behind the time at which the job's file was written, the cost of the job stays as it is
  // in the file.
  options_.unix_now = kWritten - kHour;
  EXPECT_DOUBLE_EQ(Plan()->jobs[0].record.job().status().cost().spent(), 5);
}

TEST_F(RecoverTest, AGenerationThatHasOnlyBegunCounts) {
  Save(Record("one"));
  ASSERT_TRUE(store_.BeginGeneration("one", 9).ok());
  EXPECT_EQ(Plan()->jobs[0].record.store_generation(), 9);
}

TEST_F(RecoverTest, WhatIsOverStaysSo) {
  Save(Record("done", v1::SUCCEEDED));
  const auto recovered = Plan();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  const v1::JobRecord& record = recovered->jobs.at(0).record;
  EXPECT_EQ(record.job().status().state(), v1::SUCCEEDED);
  EXPECT_EQ(record.job().status().reason(), "as it was");
  EXPECT_FALSE(record.has_recovered());
  EXPECT_DOUBLE_EQ(record.job().status().cost().spent(), 5);
}

TEST_F(RecoverTest, RunsOnlyWhereTheOldAreSaidToBeGone) {
  Save(Record("one"));
  Save(Record("two"));
  options_.run = {"name-one"};
  EXPECT_THAT(Refusal(), HasSubstr("give --old-is-gone"));
  options_.old_is_gone = true;
  const auto recovered = Plan();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  const v1::JobRecord &one = recovered->jobs[0].record, &two = recovered->jobs[1].record;
  EXPECT_EQ(one.job().status().state(), v1::PENDING);
  EXPECT_FALSE(one.want_paused());
  EXPECT_FALSE(one.has_recovered());
  EXPECT_EQ(two.job().status().state(), v1::PAUSED);
  EXPECT_FALSE(two.has_recovered()) << "the same was said of its trainers";
  EXPECT_EQ(one.store_generation(), 1003) << "above generations that left no trace in the store";
  options_.run = {"three"};
  EXPECT_THAT(Refusal(), HasSubstr("no job three there"));
}

TEST_F(RecoverTest, ANameOfTwoIsNotEnough) {
  Save(Record("one"));
  v1::JobRecord again = Record("two");
  again.mutable_job()->set_name("name-one");
  Save(again);
  options_.old_is_gone = true;
  options_.run = {"name-one"};
  EXPECT_THAT(Refusal(), HasSubstr("give the uid of one: one, two"));
  options_.run = {"two"};
  ASSERT_TRUE(Plan().ok());
  EXPECT_EQ(Plan()->jobs[0].record.job().status().state(), v1::PAUSED);
}

TEST_F(RecoverTest, WhatHadStoppedItDoesNotStopItAgain) {
  v1::JobRecord record = Record("one", v1::PAUSED);
  record.set_want_paused(true);
  record.set_budget_stop("the budget must not be crossed");
  record.set_released(true);
  record.set_retries_stop("twenty times");
  Save(record);
  options_.old_is_gone = true;
  EXPECT_EQ(Plan()->jobs[0].record.budget_stop(), "the budget must not be crossed");
  options_.run_all = true;
  const auto recovered = Plan();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  const v1::JobRecord& runs = recovered->jobs[0].record;
  EXPECT_EQ(runs.budget_stop() + runs.retries_stop(), "");
  EXPECT_FALSE(runs.released() || runs.want_paused());
}

TEST_F(RecoverTest, JobsOfSeveralClustersNeedAName) {
  const std::string other(32, 'a');
  Save(Record("one"));
  Save(store_, Record("two"), 3, 5, other);
  EXPECT_THAT(Refusal(), HasSubstr("name one by --cluster"));
  options_.cluster = other;
  const auto recovered = Plan();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_EQ(recovered->identity.epoch, 1006);
  EXPECT_EQ(recovered->jobs.at(0).stored.uid, "two");
  EXPECT_THAT(std::string(recovered->left.at(0).problem.message()), HasSubstr("of another cluster"));
  options_.cluster = "b";
  EXPECT_THAT(Refusal(), HasSubstr("no job there is of cluster b"));
}

TEST_F(RecoverTest, OneThatCannotBeReadKeepsNobodyBack) {
  Save(Record("one"));
  Save(Record("two"));
  fs_.Put("/store/two/job.json", "{}\n");
  Save(Record("three"));
  ASSERT_TRUE(fs_.Remove("/store/three/job.json").ok());
  const auto recovered = Plan();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_THAT(recovered->jobs, SizeIs(1));
  ASSERT_THAT(recovered->left, SizeIs(2));
  EXPECT_THAT(std::string(recovered->left[0].problem.message()), HasSubstr("no job.json"));
  EXPECT_TRUE(absl::IsDataLoss(recovered->left[1].problem)) << recovered->left[1].problem;
}

TEST_F(RecoverTest, NumbersThatCannotBeAreNotCountedWith) {
  v1::JobRecord record = Record("one");
  record.mutable_job()->mutable_status()->mutable_cost()->mutable_pools(0)->set_price(-1);
  Save(record);
  EXPECT_THAT(Refusal(), HasSubstr("no job there can be brought back"));
}

TEST_F(RecoverTest, NumbersThatNothingCouldFollowAreRefused) {
  v1::JobRecord record = Record("one");
  record.mutable_membership()->set_generation(1'000'000'001);
  Save(record);
  EXPECT_THAT(Refusal(), HasSubstr("no job there can be brought back"));
  Save(store_, Record("two"), 3, 1'000'000'001);
  EXPECT_THAT(Refusal(), HasSubstr("no job there can be brought back"));
  Save(Record("three"));
  ASSERT_TRUE(store_.BeginGeneration("three", 2'147'483'647).ok());
  EXPECT_THAT(Refusal(), HasSubstr("no job there can be brought back"));
  Save(store_, Record("four"), 3, 1'000'000'000);
  EXPECT_EQ(Plan()->identity.epoch, 1'000'001'001);
}

TEST_F(RecoverTest, NothingIsThere) { EXPECT_THAT(Refusal(), HasSubstr("no job there can be brought back")); }

TEST_F(RecoverTest, OfTwoStoresTheNewerCounts) {
  common::FaultFileSystem fs;
  checkpoint::Store archive(fs, "/archive", 0);
  Save(archive, Record("one"));
  v1::JobRecord later = Record("one");
  later.mutable_membership()->set_generation(4);
  Save(store_, later, 4);
  std::vector<StoredJob> jobs = ReadStoredJobs(store_, "hot").value();
  const std::vector<StoredJob> cold = ReadStoredJobs(archive, "cold").value();
  jobs.insert(jobs.end(), cold.begin(), cold.end());
  const auto newest = NewestOfEach(jobs);
  ASSERT_THAT(newest, SizeIs(1));
  EXPECT_EQ(newest[0].store, "hot");
}

TEST_F(RecoverTest, TheFolderHoldsItAndListensFirst) {
  Save(Record("one"));
  Save(Record("done", v1::CANCELLED));
  const auto recovered = Plan();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  std::map<std::string, absl::Status> without;
  const auto none = [](const StoredJob&, const std::string&) { return absl::NotFoundError("none"); };
  const auto made = MakeRecovered(*recovered, data_, none, &without);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(without, IsEmpty());
  EXPECT_EQ(*made, data_);
  struct stat info = {};
  ASSERT_EQ(stat((data_ + "/state.db").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_TRUE(CheckComplete(data_).ok());
  const auto store = SqliteStore::Open(data_ + "/state.db");
  ASSERT_TRUE(store.ok()) << store.status();
  const auto cluster = ReadOrMakeCluster(store->get());
  ASSERT_TRUE(cluster.ok());
  EXPECT_EQ(cluster->identity, recovered->identity);
  EXPECT_TRUE(cluster->listen_first);
  EXPECT_THAT(*(*store)->List(kJobKeys), SizeIs(2));
  const auto again = MakeRecovered(*recovered, data_, none, &without);
  EXPECT_THAT(std::string(again.status().message()), HasSubstr("is not empty"));
}

TEST_F(RecoverTest, TheCodeOfAJobIsBroughtBackWithIt) {
  common::BundleWriter writer;
  ASSERT_TRUE(writer.Begin({"train.py", false, 1}).ok());
  ASSERT_TRUE(writer.Content("x").ok());
  const common::PackedBundle bundle = *writer.Finish();
  const std::string& address = bundle.summary.address;
  const std::string gone(64, '0');
  for (const auto& [uid, code] : {std::pair{"one", address}, {"two", gone}}) {
    v1::JobRecord record = Record(uid);
    record.mutable_job()->mutable_status()->mutable_resolved_spec()->mutable_model()->set_bundle(code);
    Save(record);
  }
  ASSERT_TRUE(store_.PutBundle("one", address, bundle.packed).ok());
  EXPECT_TRUE(absl::IsDataLoss(store_.PutBundle("two", gone, bundle.packed)));
  EXPECT_TRUE(absl::IsInvalidArgument(store_.PutBundle("two", "../x", bundle.packed)));
  const auto recovered = Plan();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  std::map<std::string, absl::Status> without;
  const auto read = [&](const StoredJob& job, const std::string& code) { return store_.ReadBundle(job.uid, code); };
  const auto made = MakeRecovered(*recovered, data_, read, &without);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(without, ElementsAre(testing::Pair("two", testing::ResultOf(absl::IsNotFound, true))));
  const auto shelf = BundleShelf::Open({.folder = data_ + "/bundles"});
  ASSERT_TRUE(shelf.ok());
  EXPECT_THAT(*(*shelf)->Hold(), ElementsAre(address));
}

}  // namespace
}  // namespace rekindle::coordinator
