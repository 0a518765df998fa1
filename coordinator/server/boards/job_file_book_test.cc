#include "coordinator/server/boards/job_file_book.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_job_file.h"
#include "common/digest/hash.h"
#include "coordinator/core/record/job_json.h"

namespace rekindle::coordinator {
namespace {

constexpr double kNow = 1.75e9;

v1::JobRecord RecordOf(const std::string& uid, v1::JobState state, int step) {
  v1::JobRecord record;
  record.mutable_job()->set_name("job");
  record.mutable_job()->set_uid(uid);
  record.set_secret("s");
  record.mutable_membership()->set_generation(1);
  record.mutable_job()->mutable_status()->mutable_resolved_spec();
  record.mutable_job()->mutable_status()->set_state(state);
  record.mutable_job()->mutable_status()->set_step(step);
  return record;
}

class JobFileBookTest : public testing::Test {
 protected:
  // Returns the step in the file that the book hands out for the job, or -1 when there is no file.
  int Step(const std::string& uid = "a") {
    const auto file = book_.Newest(uid, "s");
    if (file == nullptr) return -1;
    EXPECT_EQ(file->digest, common::Xxh3_128Hex(file->text));
    const auto read = core::DecodeJobFile(file->text, uid);
    EXPECT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->over(), file->over);
    EXPECT_EQ(read->identity().cluster(), identity_.cluster);
    return read->record().job().status().step();
  }

  const common::ClusterIdentity identity_ = common::NewCluster();
  JobFileBook book_{identity_};
};

TEST_F(JobFileBookTest, IsForWhoKnowsTheSecret) {
  EXPECT_EQ(book_.Newest("a", "s"), nullptr);
  book_.Set(RecordOf("a", v1::RUNNING, 1), kNow);
  EXPECT_EQ(book_.Newest("a", "a guess"), nullptr);
  EXPECT_EQ(book_.Newest("b", "s"), nullptr);
  EXPECT_EQ(Step(), 1);
  EXPECT_EQ(book_.Newest("a", "s"), book_.Newest("a", "s")) << "it is made once";
}

TEST_F(JobFileBookTest, ProgressIsTakenOverNowAndThenAndChangesAtOnce) {
  book_.Set(RecordOf("a", v1::RUNNING, 1), kNow);
  book_.Set(RecordOf("a", v1::RUNNING, 2), kNow + JobFileBook::kRenewSeconds / 2);
  EXPECT_EQ(Step(), 1);
  book_.Set(RecordOf("a", v1::RUNNING, 3), kNow + JobFileBook::kRenewSeconds);
  EXPECT_EQ(Step(), 3);
  book_.Set(RecordOf("a", v1::PAUSED, 4), kNow + JobFileBook::kRenewSeconds);
  EXPECT_EQ(Step(), 4);
  v1::JobRecord regrouped = RecordOf("a", v1::PAUSED, 5);
  regrouped.mutable_membership()->set_generation(2);
  book_.Set(regrouped, kNow + JobFileBook::kRenewSeconds);
  EXPECT_EQ(Step(), 5);
}

TEST_F(JobFileBookTest, ThoseOfJobsThatAreOverCanBeHadForAWhile) {
  book_.Set(RecordOf("a", v1::RUNNING, 1), kNow);
  v1::JobRecord over = RecordOf("a", v1::SUCCEEDED, 9);
  over.mutable_job()->mutable_status()->set_finished_at(kNow);
  book_.Set(over, kNow);
  EXPECT_TRUE(book_.Newest("a", "s")->over);
  EXPECT_EQ(Step(), 9);
  // `recent` and `old` are records of jobs that were over before the coordinator restarted, as the book gets them after
  // the restart.
  v1::JobRecord recent = over, old = over;
  recent.mutable_job()->set_uid("recent");
  recent.mutable_job()->mutable_status()->set_finished_at(kNow - JobFileBook::kOverSeconds);
  old.mutable_job()->set_uid("old");
  old.mutable_job()->mutable_status()->set_finished_at(kNow - JobFileBook::kOverSeconds - 1);
  book_.Set(recent, kNow);
  book_.Set(old, kNow);
  EXPECT_EQ(Step("recent"), 9);
  EXPECT_EQ(Step("old"), -1);
  for (size_t i = 0; i + 2 < JobFileBook::kMaxOver; ++i) {
    over.mutable_job()->set_uid(absl::StrCat("over-", i));
    book_.Set(over, kNow);
  }
  EXPECT_EQ(Step(), 9);
  over.mutable_job()->set_uid("one more");
  book_.Set(over, kNow);
  EXPECT_EQ(Step(), -1) << "the oldest";
  EXPECT_EQ(Step("recent"), 9);
}

TEST_F(JobFileBookTest, OneThatIsTooLargeIsNone) {
  v1::JobRecord record = RecordOf("a", v1::RUNNING, 1);
  v1::JobSpec* spec = record.mutable_job()->mutable_status()->mutable_resolved_spec();
  spec->mutable_data()->add_text(std::string(2 * checkpoint::kMaxJobFileBytes, 'x'));
  book_.Set(record, kNow);
  EXPECT_EQ(Step(), -1);
  book_.Set(RecordOf("b", v1::RUNNING, 2), kNow);
  EXPECT_EQ(Step("b"), 2);
}

TEST_F(JobFileBookTest, IsAskedWhileItIsWritten) {
  std::jthread asks([this](std::stop_token stop) {
    int newest = -1;
    while (!stop.stop_requested()) {
      const int step = Step();
      EXPECT_GE(step, newest);
      newest = step;
    }
  });
  for (int step = 0; step < 100; ++step) {
    book_.Set(RecordOf("a", v1::RUNNING, step), kNow + step * JobFileBook::kRenewSeconds);
  }
}

}  // namespace
}  // namespace rekindle::coordinator
