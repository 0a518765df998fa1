#include "coordinator/core/record/job_json.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_job_file.h"
#include "common/digest/sha256.h"
#include "common/spec/spec_digest.h"
#include "coordinator/core/record/testing/filled_record.h"

namespace rekindle::core {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;
using testing::Not;

constexpr char kUid[] = "0123456789abcdef";
constexpr double kNow = 1.75e9;

TEST(JobFileTest, SaysWhoMadeItWhenAndOfWhat) {
  v1::ClusterIdentity identity;
  identity.set_cluster("0123456789abcdef0123456789abcdef");
  identity.set_epoch(3);
  identity.set_epoch_tag(~uint64_t{0});
  v1::JobRecord record = FilledRecord(kUid);
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
  v1::JobRecord record = FilledRecord(kUid);
  record.set_secret("\x01\xfe the secret \x80 of a job, any bytes");
  const std::string text = EncodeJobFile(MakeJobFile(record, {}, kNow)).value();
  EXPECT_THAT(text, HasSubstr(common::Sha256Hex(record.secret())));
  EXPECT_THAT(text, Not(HasSubstr("the secret")));
  EXPECT_THAT(text, Not(HasSubstr(absl::BytesToHexString(record.secret()))));
  EXPECT_THAT(text, Not(HasSubstr(absl::Base64Escape(record.secret()).substr(0, 16))));
}

TEST(JobFileTest, SaysThatAJobIsOverAndWhy) {
  for (const v1::JobState state : {v1::SUCCEEDED, v1::FAILED, v1::CANCELLED}) {
    v1::JobRecord record = FilledRecord(kUid);
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
  v1::JobRecord record = FilledRecord(kUid);
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
  v1::JobRecord record = FilledRecord(kUid);
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
  v1::JobRecord record = FilledRecord(kUid);
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
  v1::JobRecord record = FilledRecord(kUid);
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

// Returns the longest JSON text (`"name":value,`) that two serialized bytes can become in a field of the message or of
// the messages within it.
size_t LongestField(const google::protobuf::Descriptor& message) {
  size_t longest = 0;
  for (int i = 0; i < message.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *message.field(i);
    // `value` is how many bytes the field's value may take: 5 for the word `false`, or more for the name of an enum's
    // value.
    size_t value = 5;
    if (field.message_type() != nullptr) longest = std::max(longest, LongestField(*field.message_type()));
    for (int k = 0; field.enum_type() != nullptr && k < field.enum_type()->value_count(); ++k) {
      value = std::max(value, field.enum_type()->value(k)->name().size() + 2);
    }
    longest = std::max(longest, field.name().size() + 4 + value);
  }
  return longest;
}

TEST(JobFileTest, JsonOfASpecGrowsNoMoreThanIsSaid) {
  EXPECT_LE(LongestField(*v1::JobSpec::descriptor()), 2 * kMostJsonGrowth);
  v1::JobSpec spec;
  // The text in this spec is made of control characters. JSON needs six characters for each of them, so the spec would
  // leave no room in job.json.
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
  v1::JobRecord record = FilledRecord(kUid);
  const auto text = EncodeJobFile(MakeJobFile(record, {}, kNow));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(DecodeJobFile(*text, kUid).ok());
  EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(*text, "another").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(text->substr(1), kUid).status()));
}

}  // namespace
}  // namespace rekindle::core
