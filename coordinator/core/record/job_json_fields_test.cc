// Tests that job.json keeps just those fields of a job's record that are to be kept.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "checkpoint/format/framed_job_file.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/core/record/testing/filled_record.h"

namespace rekindle::core {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;

constexpr char kUid[] = "0123456789abcdef";

// `kLeftOut` and `kKept` decide for each field of a job's record whether job.json keeps it. A new field in neither of
// them fails NoFieldIsForgotten (see LeaveOut in job_json.cc).
const std::set<std::string> kLeftOut = {"secret",
                                        "membership.members",
                                        "membership.shards",
                                        "suspicions",
                                        "nodes_seen",
                                        "deaths",
                                        "units",
                                        "identities",
                                        "halt",
                                        "recovered",
                                        "must_look",
                                        "look",
                                        "held_nodes",
                                        "lost_nodes",
                                        "given_up_nodes",
                                        "finishing",
                                        "decided.stopped_for",
                                        "decided.brought_back",
                                        "decided.halt_off_peak",
                                        "job.status.members",
                                        "job.status.exchange",
                                        "job.status.traceback",
                                        "job.status.finishing"};
const std::set<std::string> kKept = {"job.name",
                                     "job.uid",
                                     "job.spec",
                                     "membership.generation",
                                     "membership.step",
                                     "membership.attempt",
                                     "membership.interrupted",
                                     "membership.source",
                                     "membership.reason",
                                     "membership.interruptions",
                                     "membership.node_hours",
                                     "membership.micro_batch",
                                     "membership.finishing",
                                     "membership.final_store",
                                     "membership.digest",
                                     "membership.epoch",
                                     "membership.epoch_tag",
                                     "membership.lease_seconds",
                                     "membership.lease_save_seconds",
                                     "membership.lease_step_seconds",
                                     "membership.transport",
                                     "data_fingerprint",
                                     "probe_digest",
                                     "store_generation",
                                     "want_paused",
                                     "want_cancelled",
                                     "micro_batch_search",
                                     "checkpoint",
                                     "budget_stop",
                                     "released",
                                     "retries",
                                     "retries_stop",
                                     "nccl_failures",
                                     "host_until",
                                     "host_reason",
                                     "nccl_failed_generation",
                                     "speeds",
                                     "step_samples",
                                     "line_generation",
                                     "damaged_checkpoints",
                                     "final_store",
                                     "ended_generation",
                                     "decided.smoke_test_passed",
                                     "decided.first_epoch_over",
                                     "granted_until",
                                     "job.status.state",
                                     "job.status.reason",
                                     "job.status.resolved_spec",
                                     "job.status.generation",
                                     "job.status.step",
                                     "job.status.loss",
                                     "job.status.validation_loss",
                                     "job.status.validation_bits_per_byte",
                                     "job.status.unigram_bits_per_byte",
                                     "job.status.tokens_per_second",
                                     "job.status.step_seconds",
                                     "job.status.last_event",
                                     "job.status.state_digest",
                                     "job.status.checkpoint_step",
                                     "job.status.checkpoint_at",
                                     "job.status.owner",
                                     "job.status.checkpoints_failed",
                                     "job.status.steps_redone",
                                     "job.status.micro_batches_redone",
                                     "job.status.faults",
                                     "job.status.loss_curve",
                                     "job.status.validation_curve",
                                     "job.status.submitted_at",
                                     "job.status.finished_at",
                                     "job.status.checkpoint_interval_seconds",
                                     "job.status.checkpoint_interval_reason",
                                     "job.status.interruptions",
                                     "job.status.node_hours",
                                     "job.status.learning_rate",
                                     "job.status.levers",
                                     "job.status.loss_scale",
                                     "job.status.skipped_steps",
                                     "job.status.epoch_steps",
                                     "job.status.cost",
                                     "job.status.final_store"};
// `kDivided` names the messages of which job.json keeps some fields and leaves others out.
const std::set<std::string> kDivided = {"decided", "job", "job.status", "membership"};

// Calls `visit` with the path of each field that job.json keeps or leaves out as a whole.
void ForFields(const Message& message, const std::string& prefix,
               const std::function<void(const Message&, const FieldDescriptor*, const std::string& path)>& visit) {
  const auto* descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const std::string path = prefix + field->name();
    if (kDivided.contains(path)) {
      ForFields(message.GetReflection()->GetMessage(message, field), path + ".", visit);
    } else {
      visit(message, field, path);
    }
  }
}

// Returns what the store keeps of `record`: encodes the record into the bytes of a job.json and decodes it from them.
v1::JobRecord ThroughTheStore(const v1::JobRecord& record) {
  const auto text = EncodeJobFile(MakeJobFile(record, {}, /*unix_now=*/1.75e9));
  EXPECT_TRUE(text.ok()) << text.status();
  const auto inner = checkpoint::DecodeJobFile(*text, kUid);
  EXPECT_TRUE(inner.ok()) << inner.status();
  const auto file = ParseJobFile(*inner);
  EXPECT_TRUE(file.ok()) << file.status();
  return FromJobFile(*file);
}

TEST(JobFileFieldsTest, NoFieldIsForgotten) {
  const v1::JobRecord record = FilledRecord(kUid);
  const v1::JobRecord read = ThroughTheStore(record);
  std::set<std::string> seen;
  ForFields(record, "", [&](const Message& message, const FieldDescriptor* field, const std::string& path) {
    seen.insert(path);
    EXPECT_NE(kKept.contains(path), kLeftOut.contains(path)) << path << ": decide whether job.json has it";
    const auto* reflection = message.GetReflection();
    EXPECT_TRUE(field->is_repeated() ? reflection->FieldSize(message, field) > 0 : reflection->HasField(message, field))
        << path << " was not filled: this test would not see it";
  });
  EXPECT_EQ(seen.size(), kKept.size() + kLeftOut.size()) << "a field was removed: from the lists, too";
  ForFields(read, "", [&](const Message& message, const FieldDescriptor* field, const std::string& path) {
    const auto* reflection = message.GetReflection();
    const bool there =
        field->is_repeated() ? reflection->FieldSize(message, field) > 0 : reflection->HasField(message, field);
    EXPECT_EQ(there, kKept.contains(path)) << path;
  });
  // Fields that job.json keeps have the same values after the record was written to a job.json and read from it, to the
  // last bit.
  v1::JobRecord expected = record;
  for (const std::string& path : kLeftOut) {
    const std::string field = path.substr(path.rfind('.') + 1);
    Message* in = &expected;
    if (absl::StartsWith(path, "decided.")) in = expected.mutable_decided();
    if (absl::StartsWith(path, "membership.")) in = expected.mutable_membership();
    if (absl::StartsWith(path, "job.status.")) in = expected.mutable_job()->mutable_status();
    in->GetReflection()->ClearField(in, in->GetDescriptor()->FindFieldByName(field));
  }
  std::string differences;
  MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(expected, read)) << differences;
}

}  // namespace
}  // namespace rekindle::core
