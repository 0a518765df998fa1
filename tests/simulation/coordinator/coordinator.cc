#include "tests/simulation/coordinator/coordinator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/coordinator/job_record.h"

namespace rekindle::core::simulation {
namespace {

constexpr char kCluster[] = "cluster";
// With the probability `kCrashInStep` the coordinator is killed in a turn, before or after it has saved.
constexpr double kCrashInStep = 0.0008;
// With the probability `kBusy` an event waits for the end of a turn. It waits for at most `kLongestTurn` seconds,
// together with all events that arrive meanwhile.
constexpr double kBusy = 0.3;
constexpr double kLongestTurn = 0.01;
constexpr double kSlowCommit = 1;
constexpr double kRetrySeconds = 0.5;
// A coordinator whose records were brought back listens for `kListenSeconds` before it decides, which is longer than
// any process is frozen.
constexpr double kListenSeconds = 10;

// Returns settings that are shorter than usual, because a schedule lasts about a minute.
Tunables TunablesOf(const Options& options) {
  Tunables tunables;
  // The limit of failed starts is high, because here starts fail only because the schedule kills trainers.
  tunables.max_start_failures = 1000;
  tunables.exclusion_seconds = 5;
  tunables.pause_seconds = kPauseSeconds;
  tunables.idle_seconds = 10;
  tunables.lease_seconds = 6;
  tunables.lease_save_seconds = 1;
  tunables.lease_step_seconds = 1;
  tunables.pool_start_seconds = kPoolStartSeconds;
  tunables.pool_avoid_seconds = 4;
  // A machine has to register within this time, which is longer than a late machine takes.
  tunables.register_seconds = 18;
  tunables.return_seconds = 3;
  tunables.alone_seconds = options.alone_seconds;
  return tunables;
}

}  // namespace

Coordinator::Coordinator(World& world, std::function<void(const PoolOrder&)> order)
    : world_(world), order_(std::move(order)), clock_(world), database_(world), leases_(world, clock_) {}

void Coordinator::Start() {
  core_ = std::make_unique<Cluster>(TunablesOf(world_.options));
  wake_at_ = std::numeric_limits<double>::infinity();
  ++life_;
  up_since_ = world_.now();
  commits_ = false;
  for (TurnObserver* observer : observers_) observer->CoordinatorStarts();
  // The process learns all prices as it starts, and the providers report to it anew.
  world_.Tell([](Observer& observer) { observer.PriceChanges(); });
  for (auto& [name, pool] : world_.pools) {
    pool.least_price = pool.prices.back().price;
    pool.reported = -1;
  }
  clock_.Restart();
  leases_.Clear();
  Restored restored = database_.Read();
  restored.cluster = kCluster;
  restored.prices = PricesOf(world_.pools);
  restored.wall_offset = clock_.wall_offset();
  if (restored.listen_first) {
    Listen();
  } else {
    for (const v1::JobRecord& record : restored.jobs) leases_.Follow(record);
  }
  world_.journal.Note("coordinator starts");
  Feed(restored);
}

void Coordinator::Crash(double away) {
  if (!is_up()) return;
  world_.journal.Note("coordinator is killed");
  core_.reset();
  arrived_.clear();
  world_.After(away, [this] { Start(); });
}

void Coordinator::At(double time, std::function<void()> run) {
  world_.queue.At(time, [this, life = life_, run = std::move(run)] {
    if (is_up() && life == life_) run();
  });
}

void Coordinator::Feed(const Event& event, std::function<void()> then) {
  arrived_.emplace_back(event, std::move(then));
  if (arrived_.size() > 1 || commits_) return;  // A turn that handles the event is due already.
  if (!world_.chaos || !world_.chance.Happens(kBusy)) return RunTurn();
  At(world_.now() + world_.chance.Uniform(0, kLongestTurn), [this] { RunTurn(); });
}

void Coordinator::RunTurn() {
  if (commits_) return;  // The next turn handles the events that have arrived.
  ++turns_;
  const bool crash = world_.chaos && world_.chance.Happens(kCrashInStep);
  const bool saved = !crash || world_.chance.Happens(0.5);
  Turn turn{.arrived = std::exchange(arrived_, {}), .effects = {}};
  Effects& effects = turn.effects;
  for (TurnObserver* observer : observers_) observer->TurnBegins();
  // The server passes changes of the clocks on to the core in each of its turns.
  const std::optional<ClockSet> news = clock_.News();
  if (news) core_->TakeEvent(*news, clock_.CoreNow(), &effects);
  for (const auto& [event, then] : turn.arrived) core_->TakeEvent(event, clock_.CoreNow(), &effects);
  if (clock_.CoreNow() >= wake_at_) core_->TakeEvent(Tick{}, clock_.CoreNow(), &effects);
  core_->Settle(clock_.CoreNow(), &effects);
  for (TurnObserver* observer : observers_) observer->TurnDecided(turn);
  wake_at_ = effects.wake_at;
  if (crash) {
    if (saved && database_.CanCommit()) Save(effects);
    world_.journal.Count(Fault::kCoordinatorKilledInStep);
    return Crash(world_.chance.Uniform(0.05, 2));
  }
  commits_ = true;
  if (!database_.CanCommit()) return AwaitDatabase(std::move(turn), world_.now());
  if (!database_.IsSlow()) return Publish(turn);
  const double seconds = world_.chance.Uniform(0, kSlowCommit);
  At(world_.now() + seconds, [this, turn = std::move(turn)] { Publish(turn); });
}

void Coordinator::AwaitDatabase(Turn turn, double since) {
  At(world_.now() + kRetrySeconds, [this, turn = std::move(turn), since] {
    if (!database_.CanCommit()) return AwaitDatabase(turn, since);
    clock_.StandStill(world_.now() - since);
    Publish(turn);
  });
}

void Coordinator::Save(const Effects& effects) {
  clock_.NoteSaved();
  if (!core_->IsListening()) database_.Listened();
  for (const v1::NodeRecord& node : effects.save_nodes) records().nodes[node.name()] = node;
  for (const v1::PoolRecord& pool : effects.save_pools) records().pools[pool.name()] = pool;
  for (const v1::JobRecord& job : effects.save_jobs) SaveJob(job);
  for (TurnObserver* observer : observers_) observer->TurnSaved(effects);
  for (const v1::Event& event : effects.events) NoteEvent(event);
}

void Coordinator::SaveJob(const v1::JobRecord& record) {
  const std::string& uid = record.job().uid();
  v1::JobRecord& before = records().jobs[uid];
  SimJob& job = world_.jobs.at(uid);
  for (TurnObserver* observer : observers_) observer->JobSaved(job, before, record);
  // A generation that is formed at an earlier step rolls the later steps back.
  if (FormsGeneration(job, before, record)) job.completed = std::min(job.completed, record.membership().step());
  if (world_.options.copies > 0) {
    // The coordinator gives the job file to the trainers, which write it to the job's store.
    v1::JobFile& told = job.lost.told;
    told.set_job_uid(uid);
    told.mutable_identity()->set_cluster(kCluster);
    told.mutable_identity()->set_epoch(database_.epoch());
    *told.mutable_record() = record;
    told.set_written_at(clock_.UnixNow());
    if (IsOver(record)) job.lost.stored = told;
  }
  before = record;
  leases_.Follow(record);
}

void Coordinator::NoteEvent(const v1::Event& event) {
  world_.journal.Note(absl::StrCat("  ", event.kind(), ": ", event.text()));
  if (event.kind() == "job_adopted") {
    const bool is_proven = event.text().find("in its store") != std::string::npos;
    world_.journal.Count(is_proven ? Fault::kFoundProven : Fault::kFoundAdopted);
  }
  // The event old_given_up says that the old processes of a job are given up. So the steps that only they have
  // completed are given up, too.
  if (event.kind() == "old_given_up") world_.jobs.at(event.job()).completed = 0;
}

void Coordinator::Publish(const Turn& turn) {
  commits_ = false;
  Save(turn.effects);
  for (const PoolOrder& order : turn.effects.orders) order_(order);
  for (const auto& [event, then] : turn.arrived) {
    if (then) then();
  }
  for (const LeaseQuestion& question : turn.effects.leases) Feed(leases_.Answer(question));
  if (!is_up()) return;
  if (!arrived_.empty()) return RunTurn();
  PlanWake();
}

void Coordinator::PlanWake() {
  if (wake_at_ > 1e9) return;
  At(wake_at_ + clock_.stalled() + 0.0005, [this, wanted = wake_at_] {
    if (wake_at_ == wanted) Feed(Tick{});
  });
}

void Coordinator::Listen() {
  At(world_.now() + kListenSeconds, [this] { Feed(ListenedFirst{{database_.epoch(), 0}}); });
}

}  // namespace rekindle::core::simulation
