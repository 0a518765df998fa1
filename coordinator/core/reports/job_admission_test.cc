#include "coordinator/core/reports/job_admission.h"

#include <gtest/gtest.h>

#include "coordinator/core/cluster.h"

namespace rekindle::core {
namespace {

constexpr char kUid[] = "uid";

// Returns the record of a job that its user has paused, whose member is not heard of.
v1::JobRecord Paused() {
  v1::JobRecord record;
  record.set_want_paused(true);
  record.mutable_job()->set_uid(kUid);
  record.mutable_job()->set_name("job");
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  status->set_state(v1::PAUSED);
  status->set_step(2);
  status->set_reason("paused by the user at step 2");
  v1::JobSpec::Training* training = status->mutable_resolved_spec()->mutable_training();
  training->set_steps(10);
  training->set_global_batch(2);
  training->set_micro_batch(1);
  record.mutable_membership()->set_generation(1);
  v1::Member* member = record.mutable_membership()->add_members();
  member->set_trainer("n1/0/1");
  member->set_node("n1");
  return record;
}

TEST(AdmissionTest, TheStatusOfAnEarlierReleaseSaysThatTheJobHasStopped) {
  Cluster cluster;
  (void)cluster.Step(Restored{.jobs = {Paused()}}, 100);
  EXPECT_EQ(cluster.FindJob(kUid)->decided().stopped_for(), "paused by the user");
  EXPECT_EQ(cluster.FindJob(kUid)->job().status().reason(), "paused by the user at step 2");
}

TEST(AdmissionTest, ANameIsOfTheJobThatIsNotOver) {
  // The older job had failed, and was resumed when the younger one was over.
  v1::JobRecord younger = Paused();
  younger.mutable_job()->set_uid("younger");
  younger.mutable_job()->mutable_status()->set_state(v1::CANCELLED);
  Cluster cluster;
  (void)cluster.Step(Restored{.jobs = {Paused(), younger}}, 100);
  EXPECT_EQ(cluster.FindJob("job")->job().uid(), kUid);
  v1::JobRecord another = Paused();
  another.mutable_job()->set_uid("another");
  EXPECT_EQ(cluster.Step(SubmitJob{another}, 101).status.code(), absl::StatusCode::kAlreadyExists);
}

TEST(AdmissionTest, OtherwiseTheRecordSaysWhetherTheJobHasStopped) {
  v1::JobRecord record = Paused();
  (void)record.mutable_decided();
  Cluster cluster;
  (void)cluster.Step(Restored{.jobs = {record}}, 100);
  EXPECT_EQ(cluster.FindJob(kUid)->job().status().reason(), "pausing: at the next step boundary, as the user asked");
}

}  // namespace
}  // namespace rekindle::core
