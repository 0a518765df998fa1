#include "coordinator/core/record/job_json.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_job_file.h"
#include "common/agreed/amounts.h"
#include "common/digest/sha256.h"
#include "common/spec/spec_digest.h"
#include "coordinator/core/record/decided.h"

namespace rekindle::core {
namespace {

constexpr size_t kMaxName = 300;
constexpr size_t kMaxSpecBytes = checkpoint::kMaxJobFileBytes * 3 / 4;
static_assert(kMaxSpecBytes / kMostJsonGrowth > 1024, "ordinary specs need no look at their JSON");

// Removes from a job's record what job.json does not keep, because trainers and agents report it again, or it belongs
// to a cluster that is gone.
void LeaveOut(v1::JobRecord* record) {
  record->clear_secret();
  if (record->has_membership()) {
    record->mutable_membership()->clear_members();
    record->mutable_membership()->clear_shards();
  }
  record->clear_suspicions();
  record->clear_nodes_seen();
  record->clear_deaths();
  record->clear_units();
  record->clear_identities();
  record->clear_halt();
  record->clear_recovered();
  record->clear_must_look();
  record->clear_look();
  record->clear_held_nodes();
  record->clear_lost_nodes();
  record->clear_given_up_nodes();
  // `finishing` is left out because it says which members hold the final state. A job that is brought back has no
  // members, and goes on from what its store has.
  record->clear_finishing();
  if (record->has_decided()) {
    record->mutable_decided()->clear_stopped_for();
    record->mutable_decided()->clear_brought_back();
    record->mutable_decided()->clear_halt_off_peak();
  }
  v1::JobStatus* status = record->mutable_job()->mutable_status();
  status->clear_members();
  status->clear_exchange();
  // What was printed of the user's code stays with the coordinator.
  status->clear_traceback();
  status->clear_finishing();
}

bool IsOver(v1::JobState state) { return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED; }

// A Part is a part of a record that may be large and can be made smaller.
struct Part {
  size_t bytes = 0;
  std::function<void()> halve;
};

template <typename List>
Part Oldest(List* list, size_t bytes) {
  return {list->empty() ? 0 : bytes, [list] { list->DeleteSubrange(0, (list->size() + 1) / 2); }};
}

// Returns a curve as a Part. Halving it removes every other point and keeps the newest one.
Part Points(google::protobuf::RepeatedPtrField<v1::LossPoint>* curve) {
  size_t bytes = 0;
  for (const v1::LossPoint& point : *curve) bytes += point.ByteSizeLong();
  return {curve->size() <= 1 ? 0 : bytes, [curve] {
            google::protobuf::RepeatedPtrField<v1::LossPoint> kept;
            for (int i = (curve->size() + 1) % 2; i < curve->size(); i += 2) *kept.Add() = curve->Get(i);
            curve->Swap(&kept);
          }};
}

// Halves the largest part of the record that can be halved, or else leaves the user's spec out. Returns false where
// nothing is left that can be left out.
bool Thin(v1::JobRecord* record) {
  v1::JobStatus* status = record->mutable_job()->mutable_status();
  size_t faults = 0, damaged = 0;
  for (const v1::Fault& fault : status->faults()) faults += fault.ByteSizeLong();
  for (const std::string& name : record->damaged_checkpoints()) damaged += name.size();
  const std::array<Part, 4> parts = {Oldest(status->mutable_faults(), faults),
                                     Oldest(record->mutable_damaged_checkpoints(), damaged),
                                     Points(status->mutable_loss_curve()), Points(status->mutable_validation_curve())};
  const auto largest =
      std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.bytes < b.bytes; });
  if (largest->bytes > 0) {
    largest->halve();
    return true;
  }
  if (!record->job().has_spec()) return false;
  record->mutable_job()->clear_spec();
  return true;
}

// Replaces invalid UTF-8, because text that was cut within a character would make the whole file unreadable.
std::string WithValidUtf8(const std::string& text) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, replace)).get<std::string>();
}

std::string JsonOf(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(message, &text, options).ok()) return "";
  return WithValidUtf8(text);
}

// Returns what is wrong with a job's file, or an empty string. The coordinator computes with the file's values, so each
// of them must be one that a coordinator can have written.
std::string FindFlaw(const v1::JobFile& file) {
  const v1::Job& job = file.record().job();
  if (job.uid() != file.job_uid()) return "its record is of another job";
  if (job.name().empty() || job.name().size() > kMaxName) return "its job has no name, or too long a one";
  const v1::Cost& cost = job.status().cost();
  std::vector<double> amounts = {cost.spent(),
                                 cost.rate(),
                                 cost.until(),
                                 cost.node_hours(),
                                 cost.hours(),
                                 cost.budget(),
                                 cost.on_demand(),
                                 cost.unpriced_node_hours(),
                                 cost.estimated(),
                                 file.written_at(),
                                 file.record().granted_until()};
  for (const v1::PoolCost& line : cost.pools()) {
    amounts.insert(amounts.end(), {line.nodes(), line.price(), line.spent(), line.node_hours(), line.on_demand()});
  }
  if (!std::all_of(amounts.begin(), amounts.end(), common::IsAmount)) return "an amount is none";
  for (const int number : {file.record().membership().generation(), file.record().store_generation()}) {
    if (number < 0 || number > kMostNumber) return "a generation's number cannot be";
  }
  if (file.over() != IsOver(job.status().state())) return "it says that the job is over, and that it is not";
  return job.status().has_resolved_spec() ? "" : "its job has no spec";
}

}  // namespace

v1::JobFile MakeJobFile(const v1::JobRecord& record, const v1::ClusterIdentity& identity, double unix_now) {
  v1::JobFile file;
  file.set_format(checkpoint::kJobFileFormat);
  file.set_job_uid(record.job().uid());
  *file.mutable_identity() = identity;
  *file.mutable_record() = record;
  LeaveOut(file.mutable_record());
  const v1::JobStatus& status = record.job().status();
  file.set_spec_digest(common::SpecDigest(status.resolved_spec()));
  file.set_secret_sha256(common::Sha256Hex(record.secret()));
  if (IsOver(status.state())) {
    file.set_over(true);
    file.set_over_reason(status.reason());
    file.set_over_at(status.finished_at());
  }
  file.set_written_at(unix_now);
  while (checkpoint::FrameJobFile(JsonOf(file)).size() > checkpoint::kMaxJobFileBytes) {
    if (!Thin(file.mutable_record())) break;
  }
  return file;
}

absl::Status CheckFitsJobFile(const v1::JobSpec& resolved) {
  // A spec of few serialized bytes certainly fits, so it is not turned into JSON, which is slow.
  if (resolved.ByteSizeLong() <= kMaxSpecBytes / kMostJsonGrowth) return absl::OkStatus();
  const size_t bytes = JsonOf(resolved).size();
  if (bytes <= kMaxSpecBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("spec: has ", bytes, " bytes as JSON, more than the ", kMaxSpecBytes,
                                                 " that are kept beside the job's checkpoints: name files by globs"));
}

v1::JobRecord FromJobFile(const v1::JobFile& file) {
  v1::JobRecord record = file.record();
  FillDecided(&record);
  return record;
}

absl::StatusOr<std::string> EncodeJobFile(const v1::JobFile& file) {
  std::string text = checkpoint::FrameJobFile(JsonOf(file));
  if (text.size() > checkpoint::kMaxJobFileBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "job ", file.record().job().name(), " has no job.json, so it cannot be brought back from its store: ",
        "its spec alone has more than ", checkpoint::kMaxJobFileBytes, " bytes; name files by globs"));
  }
  if (absl::Status status = checkpoint::CheckJobFile(text, file.job_uid()); !status.ok()) return status;
  return text;
}

absl::StatusOr<v1::JobFile> ParseJobFile(const std::string& inner) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  v1::JobFile file;
  const auto status = google::protobuf::util::JsonStringToMessage(inner, &file, options);
  const std::string why = status.ok() ? FindFlaw(file) : std::string(status.message());
  if (why.empty()) return file;
  return absl::DataLossError(absl::StrCat("job.json is not what a coordinator writes (", why.substr(0, 200),
                                          "): bring a copy of it back, or submit the job anew"));
}

absl::StatusOr<v1::JobFile> DecodeJobFile(const std::string& text, const std::string& job_uid) {
  const absl::StatusOr<std::string> inner = checkpoint::DecodeJobFile(text, job_uid);
  if (!inner.ok()) return inner.status();
  absl::StatusOr<v1::JobFile> file = ParseJobFile(*inner);
  if (file.ok() && file->job_uid() != job_uid) return absl::DataLossError("job.json is another job's");
  return file;
}

}  // namespace rekindle::core
