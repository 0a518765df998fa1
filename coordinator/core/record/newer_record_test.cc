#include "coordinator/core/record/newer_record.h"

#include <gtest/gtest.h>

#include "coordinator/core/record/job_json.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {
namespace {

v1::JobRecord Record(int generation, double spent, double until) {
  v1::JobRecord record;
  record.mutable_job()->set_uid("uid");
  record.mutable_job()->set_name("job");
  record.set_secret("secret");
  record.mutable_membership()->set_generation(generation);
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  status->set_state(v1::RUNNING);
  status->mutable_resolved_spec()->mutable_training()->set_steps(100);
  status->mutable_cost()->set_spent(spent);
  status->mutable_cost()->set_budget(10 * spent);
  status->mutable_cost()->set_until(until);
  return record;
}

std::string FileOf(const v1::JobRecord& record, double at) {
  return *EncodeJobFile(MakeJobFile(record, v1::ClusterIdentity(), at));
}

class NewerRecordTest : public testing::Test {
 protected:
  void SetUp() override {
    job_.record = Record(3, 20, 1000);
    job_.record.add_nodes_seen()->set_name("n1");
  }
  void Tell(const std::string& trainer, const std::string& file) {
    job_.ahead.insert(trainer);
    job_.trainers[trainer].report.set_job_file(file);
  }
  double Spent() const { return job_.record.job().status().cost().spent(); }

  Job job_;
  State state_;
  Effects effects_;
  const Turn turn_{state_, effects_, 0};
};

TEST_F(NewerRecordTest, TheNewestThatATrainerHasCounts) {
  Tell("n1/0/1", FileOf(Record(5, 50, 5000), 5001));
  Tell("n2/0/1", FileOf(Record(7, 70, 7000), 7001));
  Tell("n3/0/1", "");
  TakeNewerRecord(turn_, job_);
  EXPECT_EQ(Spent(), 70);
  EXPECT_EQ(job_.record.job().status().cost().budget(), 700);
  EXPECT_EQ(job_.record.secret(), "secret");
  EXPECT_EQ(job_.record.membership().generation(), 3) << "the membership is what its members say";
  EXPECT_EQ(job_.record.nodes_seen_size(), 1);
  EXPECT_TRUE(static_cast<bool>(job_.must_save));
}

TEST_F(NewerRecordTest, AnOlderOneDoesNot) {
  Tell("n1/0/1", FileOf(Record(3, 10, 999), 999));
  TakeNewerRecord(turn_, job_);
  EXPECT_EQ(Spent(), 20);
}

TEST_F(NewerRecordTest, NeitherDoesAnyThatIsNotTheJobs) {
  v1::JobRecord other = Record(9, 90, 9000);
  other.mutable_job()->set_uid("other");
  Tell("n1/0/1", FileOf(other, 9001));
  v1::JobRecord stranger = Record(9, 91, 9000);
  stranger.set_secret("guessed");
  Tell("n2/0/1", FileOf(stranger, 9001));
  v1::JobRecord over = Record(9, 92, 9000);
  over.mutable_job()->mutable_status()->set_state(v1::CANCELLED);
  Tell("n3/0/1", FileOf(over, 9001));
  std::string damaged = FileOf(Record(9, 93, 9000), 9001);
  damaged[damaged.size() / 2] ^= 1;
  Tell("n4/0/1", damaged);
  Tell("n5/0/1", std::string(1 << 20, '{'));
  TakeNewerRecord(turn_, job_);
  EXPECT_EQ(Spent(), 20);
}

}  // namespace
}  // namespace rekindle::core
