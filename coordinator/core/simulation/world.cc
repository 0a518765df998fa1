#include "coordinator/core/simulation/world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kSlowest = 0.03;  // Seconds of a message.
constexpr double kLost = 0.04;
constexpr double kDoubled = 0.04;
constexpr double kCrashInStep = 0.0008;  // Of the coordinator, before or after it has saved.
constexpr double kBusy = 0.3;            // An event waits for the end of a turn ...
constexpr double kLongestTurn = 0.01;    // ... so long at most, with all that arrive meanwhile.
constexpr double kFinishSeconds = 400;   // After the faults have stopped.
constexpr size_t kJournalLines = 4000;

v1::JobRecord NewJob(const std::string& uid, const Options& options) {
  v1::JobRecord record;
  record.set_secret("secret");
  v1::Job* job = record.mutable_job();
  job->set_name("job");
  job->set_uid(uid);
  v1::JobSpec* spec = job->mutable_status()->mutable_resolved_spec();
  spec->mutable_training()->set_global_batch(options.micro_batches);
  spec->mutable_training()->set_micro_batch(1);
  spec->mutable_training()->set_steps(options.steps);
  spec->mutable_training()->set_reduce("exact");
  if (options.sharded) spec->mutable_training()->set_optimizer_state("sharded");
  spec->mutable_checkpoint()->set_store("file:///store");
  return record;
}

}  // namespace

World::World(uint64_t seed, Options options) : options_(options), chance_(seed) {}

void World::Note(const std::string& line) {
  journal_.push_back(absl::StrFormat("%8.3f %s", queue_.now(), line));
  if (journal_.size() > kJournalLines) journal_.pop_front();
}

void World::Violate(const std::string& what) {
  if (!violation_.empty()) return;
  violation_ = absl::StrFormat("at %.3f s: %s", queue_.now(), what);
  Note("VIOLATION " + what);
}

void World::Send(std::function<void()> arrive) {
  const int copies = lossy_ && chance_.Happens(kLost) ? 0 : lossy_ && chance_.Happens(kDoubled) ? 2 : 1;
  for (int i = 0; i < copies; ++i) queue_.At(queue_.now() + chance_.Uniform(0.001, kSlowest), arrive);
}

void World::StartCoordinator() {
  Tunables tunables;
  tunables.max_start_failures = 1000;  // Here it is the schedule that kills.
  tunables.exclusion_seconds = 5;
  cluster_ = std::make_unique<Cluster>(tunables);
  coordinator_up_ = true;
  ++coordinator_life_;
  coordinator_since_ = queue_.now();
  Restored restored;
  for (const auto& [uid, record] : jobs_) restored.jobs.push_back(record);
  for (const auto& [name, record] : node_records_) restored.nodes.push_back(record);
  Note("coordinator starts");
  Feed(restored);
}

void World::Crash(double away) {
  if (!coordinator_up_) return;
  Note("coordinator is killed");
  coordinator_up_ = false;
  cluster_.reset();
  arrived_.clear();
  queue_.At(queue_.now() + away, [this] { StartCoordinator(); });
}

void World::Feed(const Event& event, std::function<void()> then) {
  arrived_.emplace_back(event, std::move(then));
  if (arrived_.size() > 1) return;  // The turn is due already.
  if (!lossy_ || !chance_.Happens(kBusy)) return RunTurn();
  queue_.At(queue_.now() + chance_.Uniform(0, kLongestTurn), [this, life = coordinator_life_] {
    if (coordinator_up_ && life == coordinator_life_) RunTurn();
  });
}

void World::RunTurn() {
  ++coordinator_steps_;
  const bool crash = lossy_ && chance_.Happens(kCrashInStep);
  const bool saved = !crash || chance_.Happens(0.5);
  const auto arrived = std::exchange(arrived_, {});
  Effects effects;
  for (const auto& [event, then] : arrived) cluster_->Take(event, queue_.now(), &effects);
  cluster_->Settle(queue_.now(), &effects);
  if (saved) {
    for (const v1::NodeRecord& node : effects.save_nodes) node_records_[node.name()] = node;
    for (const v1::JobRecord& job : effects.save_jobs) {
      CheckMembership(jobs_[job.job().uid()], job);
      jobs_[job.job().uid()] = job;
    }
    for (const v1::Event& e : effects.events) Note(absl::StrCat("  ", e.kind(), ": ", e.text()));
  }
  wake_at_ = effects.wake_at;
  if (crash) return Crash(chance_.Uniform(0.05, 2));
  CheckWake();
  for (const auto& [event, then] : arrived) {
    if (then) then();
  }
}

void World::CheckWake() {
  if (wake_at_ > 1e9) return;
  const int life = coordinator_life_;
  const double wanted = wake_at_;
  queue_.At(wanted + 0.0005, [this, life, wanted] {
    if (coordinator_up_ && life == coordinator_life_ && wake_at_ == wanted) Feed(Tick{});
  });
}

void World::Start() {
  lossy_ = false;  // Until the job is submitted.
  StartCoordinator();
  for (int i = 0; i < options_.nodes; ++i) {
    SimNode node;
    node.name = absl::StrCat("n", i + 1);
    nodes_[node.name] = node;
    AgentLoop(node.name, 1);
  }
  jobs_[uid_] = {};
  Feed(SubmitJob{NewJob(uid_, options_)});
  lossy_ = true;
  PlanFaults();
}

std::string World::Play() {
  Start();
  const double end = options_.chaos_seconds;
  while (violation_.empty() && queue_.RunOne(end)) {
  }
  if (!violation_.empty()) return violation_;
  Heal();
  const auto over = [this] {
    return jobs_[uid_].job().status().state() == v1::SUCCEEDED || jobs_[uid_].job().status().state() == v1::FAILED;
  };
  while (violation_.empty() && !over() && queue_.RunOne(end + kFinishSeconds)) {
  }
  const v1::JobStatus& status = jobs_[uid_].job().status();
  if (violation_.empty() && status.state() != v1::SUCCEEDED) {
    Violate(absl::StrCat("the job does not finish: ", v1::JobState_Name(status.state()), " ", status.reason(),
                         ", step ", status.step(), " generation ", status.generation()));
  }
  return violation_;
}

}  // namespace rekindle::core::simulation
