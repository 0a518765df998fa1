#include "coordinator/server/boards/journal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/store/record_keys.h"

namespace rekindle::coordinator {
namespace {

constexpr char kNodes[] = "node/";
constexpr char kPools[] = "pool/";
constexpr char kRequestsPrefix[] = "request/";

template <typename Record>
absl::StatusOr<std::vector<Record>> Read(StateStore& store, const std::string& prefix,
                                         std::map<std::string, int64_t>& revisions) {
  const absl::StatusOr<std::vector<Entry>> entries = store.List(prefix);
  if (!entries.ok()) return entries.status();
  std::vector<Record> records;
  for (const Entry& entry : *entries) {
    if (!records.emplace_back().ParseFromString(entry.value)) {
      return absl::DataLossError(absl::StrCat("state store: record ", entry.key, " cannot be read"));
    }
    revisions[entry.key] = entry.revision;
  }
  return records;
}

}  // namespace

absl::StatusOr<core::Restored> Journal::Load() {
  auto jobs = Read<v1::JobRecord>(*store_, kJobKeys, revisions_);
  if (!jobs.ok()) return jobs.status();
  auto nodes = Read<v1::NodeRecord>(*store_, kNodes, revisions_);
  if (!nodes.ok()) return nodes.status();
  auto pools = Read<v1::PoolRecord>(*store_, kPools, revisions_);
  if (!pools.ok()) return pools.status();
  auto requests = Read<v1::RequestRecord>(*store_, kRequestsPrefix, revisions_);
  if (!requests.ok()) return requests.status();
  const auto last_event = store_->LastEventRevision();
  if (!last_event.ok()) return last_event.status();
  last_event_ = *last_event;

  std::stable_sort(requests->begin(), requests->end(), [](const auto& a, const auto& b) { return a.at() < b.at(); });
  for (v1::RequestRecord& request : *requests) {
    request_order_.push_back(request.id());
    requests_[request.id()] = std::move(request);
  }
  core::Restored restored;
  restored.jobs = *std::move(jobs);
  restored.nodes = *std::move(nodes);
  restored.pools = *std::move(pools);
  std::stable_sort(restored.jobs.begin(), restored.jobs.end(), [](const auto& a, const auto& b) {
    return a.job().status().submitted_at() < b.job().status().submitted_at();
  });
  return restored;
}

void Journal::Set(const std::string& key, std::string value) {
  const auto known = revisions_.find(key);
  writes_[key] = {key, std::move(value), known == revisions_.end() ? 0 : known->second};
}

void Journal::Delete(const std::string& key) { writes_[key] = {key, std::nullopt, std::nullopt}; }

void Journal::Add(const core::Effects& effects, double unix_time) {
  for (const v1::JobRecord& job : effects.save_jobs) Set(kJobKeys + job.job().uid(), job.SerializeAsString());
  for (const v1::NodeRecord& node : effects.save_nodes) Set(kNodes + node.name(), node.SerializeAsString());
  for (const v1::PoolRecord& pool : effects.save_pools) Set(kPools + pool.name(), pool.SerializeAsString());
  for (const std::string& uid : effects.forget_jobs) Delete(kJobKeys + uid);
  for (const std::string& name : effects.forget_nodes) Delete(kNodes + name);
  for (const v1::Event& event : effects.events) {
    v1::Event& stamped = events_.emplace_back(event);
    stamped.set_revision(++last_event_);
    stamped.set_at(unix_time);
  }
}

void Journal::Add(const v1::RequestRecord& request) {
  Set(kRequestsPrefix + request.id(), request.SerializeAsString());
  requests_[request.id()] = request;
  request_order_.push_back(request.id());
  ForgetOldRequests();
}

void Journal::Add(const std::vector<Write>& writes) {
  for (const Write& write : writes) writes_[write.key] = write;
}

void Journal::ForgetOldRequests() {
  while (request_order_.size() > kRequests) {
    Delete(kRequestsPrefix + request_order_.front());
    requests_.erase(request_order_.front());
    request_order_.pop_front();
  }
}

const v1::RequestRecord* Journal::FindRequest(const std::string& id) const {
  const auto found = requests_.find(id);
  return found == requests_.end() ? nullptr : &found->second;
}

absl::Status Journal::Commit() {
  if (empty()) return absl::OkStatus();
  Transaction transaction;
  for (const auto& [key, write] : writes_) transaction.writes.push_back(write);
  transaction.events = events_;
  const absl::StatusOr<int64_t> revision = store_->Commit(transaction);
  if (!revision.ok()) return revision.status();
  for (const auto& [key, write] : writes_) {
    if (write.value) {
      revisions_[key] = *revision;
    } else {
      revisions_.erase(key);
    }
  }
  writes_.clear();
  events_.clear();
  return absl::OkStatus();
}

}  // namespace rekindle::coordinator
