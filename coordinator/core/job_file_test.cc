#include "coordinator/core/job_file.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/job_file.h"
#include "common/sha256.h"
#include "common/spec/spec_digest.h"

namespace rekindle::core {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;
using testing::Not;

constexpr char kUid[] = "0123456789abcdef";
constexpr double kNow = 1.75e9;

// Decided, field by field. One that is new and in neither list fails NoFieldIsForgotten: see LeaveOut in job_file.cc.
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
                                        "finishing",
                                        "job.status.members",
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
                                     "speeds",
                                     "step_samples",
                                     "line_generation",
                                     "damaged_checkpoints",
                                     "final_store",
                                     "ended_generation",
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
// Some of their fields are kept, and some are not.
const std::set<std::string> kDivided = {"job", "job.status", "membership"};

// Every field of `message` and of all in it gets a value of its own. The first of a oneof's alone.
void Fill(Message* message, int* next) {
  const auto* descriptor = message->GetDescriptor();
  const auto* reflection = message->GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (field->real_containing_oneof() != nullptr && field->index_in_oneof() > 0) continue;
    const int value = ++*next;
    const bool many = field->is_repeated();
    const auto set = [&](auto one, auto add) { many ? add() : one(); };
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(many ? reflection->AddMessage(message, field) : reflection->MutableMessage(message, field), next);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        set([&] { reflection->SetString(message, field, absl::StrCat("text ", value)); },
            [&] { reflection->AddString(message, field, absl::StrCat("text ", value)); });
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        set([&] { reflection->SetInt32(message, field, value); }, [&] { reflection->AddInt32(message, field, value); });
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        reflection->SetInt64(message, field, (int64_t{1} << 53) + value);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        reflection->SetUInt64(message, field, ~uint64_t{0} - static_cast<uint64_t>(value));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        set([&] { reflection->SetDouble(message, field, value / 7.0); },
            [&] { reflection->AddDouble(message, field, value / 7.0); });
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        reflection->SetBool(message, field, true);
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        reflection->SetEnumValue(message, field, field->enum_type()->value(1)->number());
        break;
      default:
        FAIL() << "a field of another type: " << field->full_name();
    }
  }
}

v1::JobRecord Filled() {
  v1::JobRecord record;
  int next = 0;
  Fill(&record, &next);
  record.mutable_job()->set_uid(kUid);
  return record;
}

// Calls `visit` with the path of each field that is decided as a whole.
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

// What of `record` is kept in the store, through the very bytes.
v1::JobRecord ThroughTheStore(const v1::JobRecord& record) {
  const auto text = EncodeJobFile(MakeJobFile(record, {}, kNow));
  EXPECT_TRUE(text.ok()) << text.status();
  const auto inner = checkpoint::DecodeJobFile(*text, kUid);
  EXPECT_TRUE(inner.ok()) << inner.status();
  const auto file = ParseJobFile(*inner);
  EXPECT_TRUE(file.ok()) << file.status();
  return FromJobFile(*file);
}

TEST(JobFileTest, NoFieldIsForgotten) {
  const v1::JobRecord record = Filled();
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
  // What is kept is kept as it was, to the last bit.
  v1::JobRecord expected = record;
  for (const std::string& path : kLeftOut) {
    const std::string field = path.substr(path.rfind('.') + 1);
    Message* in = &expected;
    if (absl::StartsWith(path, "membership.")) in = expected.mutable_membership();
    if (absl::StartsWith(path, "job.status.")) in = expected.mutable_job()->mutable_status();
    in->GetReflection()->ClearField(in, in->GetDescriptor()->FindFieldByName(field));
  }
  std::string differences;
  MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(expected, read)) << differences;
}

TEST(JobFileTest, SaysWhoMadeItWhenAndOfWhat) {
  v1::ClusterIdentity identity;
  identity.set_cluster("0123456789abcdef0123456789abcdef");
  identity.set_epoch(3);
  identity.set_epoch_tag(~uint64_t{0});
  v1::JobRecord record = Filled();
  record.mutable_job()->mutable_status()->set_state(v1::RUNNING);
  const auto text = EncodeJobFile(MakeJobFile(record, identity, kNow));
  ASSERT_TRUE(text.ok()) << text.status();
  const auto file = ParseJobFile(*checkpoint::DecodeJobFile(*text, kUid));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(MessageDifferencer::Equals(file->identity(), identity));
  EXPECT_EQ(file->format(), checkpoint::kJobFileFormat);
  EXPECT_EQ(file->written_at(), kNow);
  EXPECT_EQ(file->spec_digest(), common::SpecDigest(record.job().status().resolved_spec()));
  EXPECT_EQ(file->record().job().status().cost().spent(), record.job().status().cost().spent());
  EXPECT_FALSE(file->over());
  EXPECT_EQ(file->over_reason(), "");
}

TEST(JobFileTest, TellsTheSecretsHashAndNeverTheSecret) {
  v1::JobRecord record = Filled();
  record.set_secret("\x01\xfe the secret \x80 of a job, any bytes");
  const std::string text = EncodeJobFile(MakeJobFile(record, {}, kNow)).value();
  EXPECT_THAT(text, HasSubstr(common::Sha256Hex(record.secret())));
  EXPECT_THAT(text, Not(HasSubstr("the secret")));
  EXPECT_THAT(text, Not(HasSubstr(absl::BytesToHexString(record.secret()))));
  EXPECT_THAT(text, Not(HasSubstr(absl::Base64Escape(record.secret()).substr(0, 16))));
}

TEST(JobFileTest, SaysThatAJobIsOverAndWhy) {
  for (const v1::JobState state : {v1::SUCCEEDED, v1::FAILED, v1::CANCELLED}) {
    v1::JobRecord record = Filled();
    record.mutable_job()->mutable_status()->set_state(state);
    const v1::JobFile file = MakeJobFile(record, {}, kNow);
    EXPECT_TRUE(file.over());
    EXPECT_EQ(file.over_reason(), record.job().status().reason());
    EXPECT_EQ(file.over_at(), record.job().status().finished_at());
  }
}

void AddMuch(v1::JobRecord* record, int faults, int points) {
  v1::JobStatus* status = record->mutable_job()->mutable_status();
  for (int i = 0; i < faults; ++i) {
    v1::Fault* fault = status->add_faults();
    fault->set_kind("trainer_killed");
    fault->set_reason(std::string(300, 'x'));
    fault->set_at(i);
  }
  for (int i = 1; i <= points; ++i) {
    for (v1::LossPoint* point : {status->add_loss_curve(), status->add_validation_curve()}) {
      point->set_step(i);
      point->set_value(1.0 / i);
    }
  }
}

TEST(JobFileTest, FitsHoweverLongTheJobHasRun) {
  v1::JobRecord record = Filled();
  AddMuch(&record, 500, 400);
  for (int i = 0; i < 100; ++i) record.add_damaged_checkpoints(absl::StrCat(i, "-", i, "-", std::string(180, 'w')));
  record.mutable_job()->mutable_status()->mutable_faults(500)->set_reason(std::string(3, '\xff'));
  const v1::JobFile file = MakeJobFile(record, {}, kNow);
  const auto text = EncodeJobFile(file);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_GT(text->size(), checkpoint::kMaxJobFileBytes / 4) << "much more was left out than had to be";
  const v1::JobStatus& status = file.record().job().status();
  EXPECT_GT(status.faults_size(), 10);
  EXPECT_EQ(status.faults(status.faults_size() - 1).at(), 499);
  EXPECT_GT(status.loss_curve_size(), 50);
  EXPECT_EQ(status.loss_curve(status.loss_curve_size() - 1).step(), 400);
  EXPECT_EQ(status.validation_curve(status.validation_curve_size() - 1).step(), 400);
  EXPECT_TRUE(file.record().job().has_spec());
  EXPECT_TRUE(ParseJobFile(*checkpoint::DecodeJobFile(*text, kUid)).ok());
}

TEST(JobFileTest, NothingIsLeftOutUpToTheLimitAndSomethingOnePastIt) {
  v1::JobRecord record = Filled();
  AddMuch(&record, 10, 10);
  const size_t without = EncodeJobFile(MakeJobFile(record, {}, kNow))->size();
  std::string* last_event = record.mutable_job()->mutable_status()->mutable_last_event();
  last_event->append(checkpoint::kMaxJobFileBytes - without, 'e');
  v1::JobFile file = MakeJobFile(record, {}, kNow);
  EXPECT_EQ(EncodeJobFile(file)->size(), checkpoint::kMaxJobFileBytes);
  EXPECT_EQ(file.record().job().status().faults_size(), 11);
  last_event->append("e");
  file = MakeJobFile(record, {}, kNow);
  EXPECT_LT(EncodeJobFile(file)->size(), checkpoint::kMaxJobFileBytes);
  EXPECT_EQ(file.record().job().status().faults_size(), 5);
}

TEST(JobFileTest, ASpecThatIsTooLargeLeavesTheUsersOutFirst) {
  v1::JobRecord record = Filled();
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  for (v1::JobSpec* spec : {record.mutable_job()->mutable_spec(), status->mutable_resolved_spec()}) {
    spec->mutable_data()->add_text(std::string(40 << 10, 'x'));
  }
  const v1::JobFile file = MakeJobFile(record, {}, kNow);
  EXPECT_TRUE(EncodeJobFile(file).ok());
  EXPECT_FALSE(file.record().job().has_spec());
  status->mutable_resolved_spec()->mutable_data()->add_text(std::string(40 << 10, 'x'));
  const auto text = EncodeJobFile(MakeJobFile(record, {}, kNow));
  EXPECT_TRUE(absl::IsResourceExhausted(text.status())) << text.status();
}

TEST(JobFileTest, ASpecThatWouldNotFitIsNamedAtTheSubmit) {
  v1::JobRecord record = Filled();
  v1::JobSpec* spec = record.mutable_job()->mutable_status()->mutable_resolved_spec();
  spec->mutable_data()->add_text("");
  const auto grow = [&](size_t by) {
    spec->mutable_data()->mutable_text(spec->data().text_size() - 1)->append(by, 'x');
  };
  grow(1);
  while (CheckFitsJobFile(*spec).ok()) grow(100);
  const absl::Status refused = CheckFitsJobFile(*spec);
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("globs"));
  *record.mutable_job()->mutable_spec() = *spec;
  AddMuch(&record, 500, 400);
  EXPECT_TRUE(EncodeJobFile(MakeJobFile(record, {}, kNow)).ok()) << "even that would have fitted";
}

// The longest that two serialized bytes can be as JSON, of a field of that message or of those within it.
size_t LongestField(const google::protobuf::Descriptor& message) {
  size_t longest = 0;
  for (int i = 0; i < message.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *message.field(i);
    size_t value = 5;  // false, or 127
    if (field.message_type() != nullptr) longest = std::max(longest, LongestField(*field.message_type()));
    for (int k = 0; field.enum_type() != nullptr && k < field.enum_type()->value_count(); ++k) {
      value = std::max(value, field.enum_type()->value(k)->name().size() + 2);
    }
    longest = std::max(longest, field.name().size() + 4 + value);  // "name":value,
  }
  return longest;
}

TEST(JobFileTest, JsonOfASpecGrowsNoMoreThanIsSaid) {
  EXPECT_LE(LongestField(*v1::JobSpec::descriptor()), 2 * kMostJsonGrowth);
  v1::JobSpec spec;
  // Each byte is escaped by six characters.
  for (int i = 0; i < 3000; ++i) spec.mutable_data()->add_text(std::string(10, '\1'));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckFitsJobFile(spec)));
}

TEST(JobFileTest, WhatNoCoordinatorWritesIsRefused) {
  const auto of = [](const std::string& job, const std::string& more = "") {
    return absl::StrCat(R"({"format":1,"job_uid":"a","record":{"job":{)", job, "}", more,
                        R"(},"of a later release":[{}]})");
  };
  const std::string job = R"("uid":"a","name":"n","status":{"resolved_spec":{})";
  const absl::StatusOr<v1::JobFile> good = ParseJobFile(of(job + "}"));
  EXPECT_TRUE(good.ok()) << good.status();
  const std::vector<std::string> bad = {
      "{}{",
      R"({"job_uid":7e99})",
      R"({"record":[]})",
      R"({"record":{"retries":"x"}})",
      of(R"("uid":"b","name":"n","status":{"resolved_spec":{}})"),
      of(R"("uid":"a","status":{"resolved_spec":{}})"),
      of(R"("uid":"a","name":"n")"),
      of(absl::StrCat(R"("uid":"a","status":{"resolved_spec":{}},"name":")", std::string(301, 'n'), "\"")),
      of(job + R"(,"cost":{"spent":-1}})"),
      of(job + R"(,"cost":{"rate":"NaN"}})"),
      of(job + R"(,"cost":{"pools":[{"price":"Infinity"}]}})"),
      of(job + "}", R"(,"store_generation":-1)"),
      of(job + "}", absl::StrCat(R"(,"membership":{"generation":)", kMostNumber + 1, "}")),
  };
  for (const std::string& inner : bad) {
    const auto file = ParseJobFile(inner);
    EXPECT_TRUE(absl::IsDataLoss(file.status())) << inner << ": " << file.status();
  }
}

TEST(JobFileTest, TheFileOfAnotherJobIsNotRead) {
  v1::JobRecord record = Filled();
  const auto text = EncodeJobFile(MakeJobFile(record, {}, kNow));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(DecodeJobFile(*text, kUid).ok());
  EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(*text, "another").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(text->substr(1), kUid).status()));
}

}  // namespace
}  // namespace rekindle::core
