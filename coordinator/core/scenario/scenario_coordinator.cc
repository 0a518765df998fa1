#include "coordinator/core/scenario/scenario_coordinator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/core/taken_over/revival.h"

namespace rekindle::core {
namespace {

constexpr double kListenSeconds = 10;
constexpr char kCluster[] = "cluster-1";

}  // namespace

ScenarioCoordinator::ScenarioCoordinator() : cluster_(std::make_unique<Cluster>()) {
  Feed(Restored{.epoch = {epoch_, 0}});
}

std::vector<std::string> ScenarioCoordinator::TakeSaid() { return std::exchange(said_, {}); }

void ScenarioCoordinator::Feed(const Event& event) {
  if (stalls_) return kept_.push_back(event);
  Decide({event});
}

void ScenarioCoordinator::CatchUp() {
  stalls_ = false;
  Decide(std::exchange(kept_, {}));
}

void ScenarioCoordinator::Decide(const std::vector<Event>& events) {
  Effects effects;
  for (const Event& event : events) cluster_->TakeEvent(event, now_, &effects);
  cluster_->Settle(now_, &effects);
  wake_at_ = effects.wake_at;
  if (!effects.status.ok()) Say(absl::StrCat("refused: ", std::string(effects.status.message())));
  Save(effects);
  for (const PoolOrder& order : effects.orders) Say(DescribeOrder(order));
  for (const v1::Event& e : effects.events) Say(absl::StrCat(Prefix(e.job()), e.kind(), ": ", e.text()));
  for (const LeaseQuestion& question : effects.leases) {
    const double left = answered_[question.uid] + question.seconds - now_;
    Feed(LeaseChecked{question.uid, question.generation, std::max(0.0, left)});
  }
}

void ScenarioCoordinator::Save(const Effects& effects) {
  for (const v1::NodeRecord& node : effects.save_nodes) saved_nodes_[node.name()] = node;
  for (const std::string& node : effects.forget_nodes) saved_nodes_.erase(node);
  for (const v1::PoolRecord& pool : effects.save_pools) saved_pools_[pool.name()] = pool;
  for (const v1::JobRecord& job : effects.save_jobs) {
    v1::JobRecord& before = saved_jobs_[job.job().uid()];
    if (before.membership().generation() != job.membership().generation()) {
      for (const std::string& line : DescribeMembership(job.membership())) Say(Prefix(job.job().name()) + line);
    }
    before = job;
  }
  for (const std::string& job : effects.forget_jobs) saved_jobs_.erase(job);
}

std::string ScenarioCoordinator::Prefix(const std::string& job) const {
  int going_on = 0;
  for (const v1::JobRecord* record : cluster_->Jobs())
    going_on += record->job().status().state() <= v1::PAUSED || record->job().status().has_finishing();
  return going_on < 2 || job.empty() ? "" : absl::StrCat("[", job, "] ");
}

void ScenarioCoordinator::Tick(double seconds) {
  const double until = now_ + seconds;
  if (cluster_->IsListening() && until >= listens_until_) {
    now_ = listens_until_;
    Feed(ListenedFirst{{epoch_, 0}});
  }
  while (!cluster_->IsListening() && wake_at_ <= until) {
    now_ = std::max(now_, wake_at_);
    const double before = wake_at_;
    Feed(core::Tick{});
    if (wake_at_ <= before) now_ = std::max(now_, before + 0.001);
  }
  now_ = until;
}

void ScenarioCoordinator::MoveClock(double step, double slept) {
  wall_offset_ += step + slept;
  Feed(ClockSet{wall_offset_, slept});
}

void ScenarioCoordinator::SetPrices(const PriceBook& prices) {
  prices_ = prices;
  Feed(PricesSet{prices});
}

void ScenarioCoordinator::SetCarbon(const CarbonBook& carbon) {
  carbon_ = carbon;
  Feed(CarbonSet{carbon});
}

void ScenarioCoordinator::BeginEpoch() {
  ++epoch_;
  listens_until_ = now_ + kListenSeconds;
}

void ScenarioCoordinator::Backup() {
  copied_jobs_ = saved_jobs_;
  copied_nodes_ = saved_nodes_;
}

void ScenarioCoordinator::TakeCopyBack() {
  saved_jobs_ = copied_jobs_;
  saved_nodes_ = copied_nodes_;
  BeginEpoch();
}

void ScenarioCoordinator::Recover(const ScenarioOptions& options) {
  saved_nodes_.clear();
  saved_pools_.clear();
  saved_jobs_.clear();
  for (const auto& [uid, record] : copied_jobs_) {
    const v1::JobFile file = MakeJobFile(record, {}, unix_now());
    saved_jobs_[uid] = Revive(file, {.secret = absl::StrCat(record.secret(), "+"),
                                     .store_generation = ToInt(Get(options, "store_generation", "0")),
                                     .old_is_gone = options.count("old_is_gone") > 0,
                                     .runs = options.count("run") > 0,
                                     .unix_now = unix_now() + ToDouble(Get(options, "away", "0"))});
  }
  BeginEpoch();
}

void ScenarioCoordinator::Spoil(const std::string& job_uid, const std::string& part) {
  v1::JobRecord& record = saved_jobs_.at(job_uid);
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  if (part == "ranks") record.mutable_membership()->mutable_members(0)->set_rank(7);
  if (part == "money") status->mutable_cost()->set_spent(std::nan(""));
  if (part == "batch") status->mutable_resolved_spec()->mutable_training()->set_global_batch(0);
}

void ScenarioCoordinator::Restart(const ScenarioOptions& options) {
  now_ += ToDouble(Get(options, "away", "0"));
  wall_offset_ += ToDouble(Get(options, "clock", "0"));
  if (options.count("keep_jobs") > 0) tunables_.keep_jobs = ToInt(options.at("keep_jobs"));
  if (options.count("keep_days") > 0) tunables_.keep_days = ToDouble(options.at("keep_days"));
  cluster_ = std::make_unique<Cluster>(tunables_);
  Restored restored;
  restored.wall_offset = wall_offset_;
  restored.cluster = kCluster;
  restored.epoch = {epoch_, 0};
  restored.listen_first = listens_until_ > now_;
  restored.prices = prices_;
  restored.carbon = carbon_;
  for (const auto& [uid, record] : saved_jobs_) restored.jobs.push_back(record);
  for (const auto& [name, record] : saved_nodes_) restored.nodes.push_back(record);
  for (const auto& [name, record] : saved_pools_) restored.pools.push_back(record);
  Feed(restored);
}

void ScenarioCoordinator::SaveToStore(const std::string& job_uid, const ScenarioOptions& options) {
  v1::JobRecord record = *cluster_->FindJob(job_uid);
  if (options.count("over") > 0) {
    record.mutable_job()->mutable_status()->set_state(v1::SUCCEEDED);
    record.mutable_job()->mutable_status()->set_reason("made all its steps");
  }
  if (options.count("secret") > 0) record.set_secret(options.at("secret"));
  v1::ClusterIdentity by;
  by.set_cluster(Get(options, "cluster", kCluster));
  by.set_epoch(ToInt(Get(options, "epoch", absl::StrCat(epoch_))));
  v1::StoredJob& stored = stores_[job_uid];
  stored.set_job_file(EncodeJobFile(MakeJobFile(record, by, unix_now())).value());
  stored.set_generation(record.membership().generation());
}

v1::StoredJob ScenarioCoordinator::StoredOf(const std::string& job_uid) const {
  v1::StoredJob stored;
  const auto known = stores_.find(job_uid);
  if (known != stores_.end()) {
    stored = known->second;
  } else {
    stored.set_problem("there is no job.json");
  }
  stored.set_job_uid(job_uid);
  return stored;
}

}  // namespace rekindle::core
