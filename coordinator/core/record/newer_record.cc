#include "coordinator/core/record/newer_record.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "common/digest/sha256.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/core/record/record_age.h"

namespace rekindle::core {
namespace {

// Reads a job's file that a trainer once got from the coordinator. Returns false where the text is not this job's file,
// or where it says that the job is over.
bool Read(const Job& job, const std::string& text, v1::JobFile* file) {
  const std::string& uid = job.record.job().uid();
  if (text.empty()) return false;
  absl::StatusOr<v1::JobFile> parsed = DecodeJobFile(text, uid);
  if (!parsed.ok() || parsed->over() || parsed->secret_sha256() != common::Sha256Hex(job.record.secret())) return false;
  *file = *std::move(parsed);
  return file->record().job().name() == job.record.job().name();
}

bool IsNewer(const v1::JobRecord& a, const v1::JobRecord& b) {
  const auto age = [](const v1::JobRecord& record) {
    return std::tuple(std::max(record.membership().generation(), record.store_generation()),
                      record.job().status().cost().until());
  };
  return age(a) > age(b);
}

}  // namespace

void TakeNewerRecord(const Turn& turn, Job& job) {
  v1::JobFile newest;
  for (const std::string& id : job.ahead) {
    v1::JobFile file;
    if (!Read(job, job.trainers.at(id).report.job_file(), &file)) continue;
    if (file.written_at() > newest.written_at()) newest = std::move(file);
  }
  if (newest.job_uid().empty()) return;
  // A record that was brought back from the store is never newer than the file that a trainer of a later generation
  // got, so the two need no comparison.
  const bool from_store = AwaitsOld(job) && job.record.recovered().flaw().empty();
  if (!from_store && !IsNewer(newest.record(), job.record)) return;
  v1::JobRecord record = FromJobFile(newest);
  record.set_secret(job.record.secret());
  *record.mutable_membership() = job.record.membership();
  *record.mutable_suspicions() = job.record.suspicions();
  *record.mutable_nodes_seen() = job.record.nodes_seen();
  *record.mutable_units() = job.record.units();
  *record.mutable_held_nodes() = job.record.held_nodes();
  *record.mutable_lost_nodes() = job.record.lost_nodes();
  *record.mutable_given_up_nodes() = job.record.given_up_nodes();
  record.set_store_generation(std::max(record.store_generation(), job.record.store_generation()));
  record.set_look(job.record.look());
  if (!record.job().has_spec()) *record.mutable_job()->mutable_spec() = job.record.job().spec();
  job.record = std::move(record);
  job.spec_hash = 0;
  turn.Save(job);
}

}  // namespace rekindle::core
