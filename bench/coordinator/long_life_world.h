// Builds the world of the bench of a long life, in virtual time around the real core and its journal. Machines live for
// an hour and come back under other names, and jobs train on them. The clock is sometimes set, and the coordinator's
// machine sometimes sleeps.
#ifndef REKINDLE_BENCH_COORDINATOR_LONG_LIFE_WORLD_H_
#define REKINDLE_BENCH_COORDINATOR_LONG_LIFE_WORLD_H_

#include <algorithm>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/agreed/version.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/scenario/scenario_trainer.h"
#include "coordinator/core/state/text.h"
#include "coordinator/server/boards/journal.h"

namespace rekindle::core::long_life {

inline constexpr double kMinute = 60, kHour = 3600, kDay = 24 * kHour, kYear = 365 * kDay;
// A machine lives `kLifeSeconds` on average.
inline constexpr double kLifeSeconds = kHour;
// If a machine gets a notice, the notice comes `kNoticeSeconds` before its end.
inline constexpr double kNoticeSeconds = 120;
// A share of `kNoticed` of the machines gets a notice.
inline constexpr double kNoticed = 0.5;
// For a share of `kSaidToBeGone` of the machines that ended, their operator says an hour later that they are gone.
inline constexpr double kSaidToBeGone = 0.75;
// A real coordinator keeps lost nodes for a week. Here so many machines end in a week that the work on their lost nodes
// would take most of the bench's own time.
inline constexpr double kKeepLostSeconds = 6 * kHour;
// On average `kStepsBetweenClocks` minutes pass between two times that the clock is set or the machine sleeps.
inline constexpr double kStepsBetweenClocks = 4320;
inline constexpr double kLongestSleep = 1800, kFurthestStep = 3600;
// Nodes and trainers report in `kRounds` rounds each minute.
inline constexpr int kRounds = 4;
inline constexpr int kMostWorkers = 4, kFewestSteps = 100, kMostSteps = 600, kStepsARound = 1;

struct Options {
  int nodes = 100;
  double days = 1, jobs_a_year = 10'000;
  int keep_jobs = 1000;
  unsigned seed = 1;
  std::string folder;
};

struct Machine {
  v1::NodeReport report;
  double ends_at = 0;
  bool noticed = false;
};

struct Wish {
  int steps = 0;
  // `saved` is the job's newest checkpoint in the notation of scenario_trainer.h.
  std::string saved;
};

inline double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// World is thread-compatible. The store is not owned and must outlive the World.
class World {
 public:
  World(Options options, coordinator::StateStore* store)
      : options_(std::move(options)), cluster_(Limits(options_)), journal_(store), random_(options_.seed) {}

  absl::Status Start() {
    absl::StatusOr<Restored> restored = journal_.Load();
    if (!restored.ok()) return restored.status();
    restored->wall_offset = wall_offset_;
    restored->epoch = {1, 1};
    restored->cluster = "long-life";
    Feed(*std::move(restored));
    return journal_.Commit();
  }

  // Plays one minute of virtual time.
  absl::Status Step() {
    now_ += kMinute;
    MoveClocks();
    EndMachines();
    while (static_cast<int>(machines_.size()) < options_.nodes) AddMachine();
    if (Chance(options_.jobs_a_year * kMinute / kYear)) Submit();
    for (int round = 0; round < kRounds; ++round) {
      now_ += 1;
      Agents(round == 0);
      Trainers();
      while (wake_at_ <= now_) {
        const double before = wake_at_;
        Feed(Tick{});
        if (wake_at_ <= before) break;
      }
    }
    now_ -= kRounds;
    return journal_.Commit();
  }

  void BeginWindow() {
    events_ = 0;
    seconds_ = 0;
  }
  // `events` is the number of events that the core has handled since BeginWindow, and `event_microseconds` the mean
  // time for one of them.
  int events() const { return events_; }
  double event_microseconds() const { return 1e6 * seconds_ / std::max(1, events_); }
  size_t nodes_known() const { return cluster_.Nodes(now_).size(); }
  size_t jobs_known() const { return cluster_.Jobs().size(); }

  nlohmann::json Counts() const {
    return {{"nodes_came", came_},
            {"nodes_admitted", Told("node_ready_first")},
            {"jobs_submitted", submitted_},
            {"jobs_refused", refused_},
            {"jobs_started", Told("started")},
            {"jobs_active", cluster_.ActiveJobs()},
            {"jobs_succeeded", Told("succeeded")},
            {"jobs_failed", Told("failed")},
            {"jobs_paused", Told("retries_stop")},
            {"jobs_forgotten", Told("job_forgotten")},
            {"crowded_out", crowded_out_}};
  }

 private:
  static Tunables Limits(const Options& options) {
    Tunables tunables;
    // In this bench each living node reports once a minute, so a node counts as lost after two minutes without a
    // report.
    tunables.node_lost_seconds = 2 * kMinute;
    tunables.keep_jobs = options.keep_jobs;
    tunables.keep_lost_seconds = kKeepLostSeconds;
    return tunables;
  }

  bool Chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }
  double Between(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }
  int Whole(int low, int high) { return std::uniform_int_distribution<>(low, high)(random_); }

  int Told(const std::string& kind) const {
    const auto found = kinds_.find(kind);
    return found == kinds_.end() ? 0 : found->second;
  }

  Effects Feed(const Event& event) {
    const double begun = CpuSeconds();
    Effects effects = cluster_.Step(event, now_);
    journal_.Add(effects, now_ + wall_offset_);
    seconds_ += CpuSeconds() - begun;
    ++events_;
    wake_at_ = effects.wake_at;
    crowded_out_ += effects.crowded_out;
    for (const v1::Event& told : effects.events) {
      const bool first = told.kind() == "node_ready" && absl::StrContains(told.text(), "registered");
      ++kinds_[first ? "node_ready_first" : told.kind()];
    }
    for (const std::string& uid : effects.forget_jobs) wishes_.erase(uid);
    // In this bench a silent rank does not run anywhere any more, so its lease has ended.
    for (const LeaseQuestion& question : effects.leases) Feed(LeaseChecked{question.uid, question.generation, 0});
    return effects;
  }

  void MoveClocks() {
    if (!Chance(1 / kStepsBetweenClocks)) return;
    const double slept = Chance(0.5) ? Between(0, kLongestSleep) : 0;
    wall_offset_ += slept > 0 ? slept : Between(-kFurthestStep, kFurthestStep);
    Feed(ClockSet{wall_offset_, slept});
  }

  void AddMachine() {
    const std::string name = "n" + std::to_string(++came_);
    Machine& machine = machines_[name];
    machine.ends_at = now_ + std::exponential_distribution<>(1 / kLifeSeconds)(random_);
    machine.noticed = Chance(kNoticed);
    v1::NodeReport& report = machine.report;
    report.set_node(name);
    report.set_incarnation("i-" + name);
    report.set_agent_incarnation("a-" + name);
    report.set_protocol_version(common::kProtocolVersion);
    report.set_slots(1);
    report.set_wait_ms(30'000);
  }

  void EndMachines() {
    while (!gone_at_.empty() && gone_at_.begin()->first <= now_) {
      Feed(NodeGone{gone_at_.begin()->second});
      gone_at_.erase(gone_at_.begin());
    }
    for (auto it = machines_.begin(); it != machines_.end();) {
      Machine& machine = it->second;
      if (now_ >= machine.ends_at) {
        std::erase_if(processes_, [&](const auto& process) { return process.second.node() == it->first; });
        if (Chance(kSaidToBeGone)) gone_at_.emplace(now_ + kHour, it->first);
        it = machines_.erase(it);
        continue;
      }
      machine.report.set_draining(machine.noticed && now_ >= machine.ends_at - kNoticeSeconds);
      if (machine.report.draining()) machine.report.set_drain_reason("its machine is taken back");
      ++it;
    }
  }

  void Submit() {
    const std::string uid = "uid-" + std::to_string(++submitted_);
    SubmitJob submit;
    v1::Job* job = submit.record.mutable_job();
    job->set_uid(uid);
    job->set_name("job-" + std::to_string(submitted_));
    submit.record.set_secret("secret");
    v1::JobStatus* status = job->mutable_status();
    status->set_submitted_at(now_ + wall_offset_);
    v1::JobSpec* spec = status->mutable_resolved_spec();
    const int workers = Whole(1, kMostWorkers);
    spec->mutable_workers()->set_min(1);
    spec->mutable_workers()->set_max(workers);
    spec->mutable_training()->set_global_batch(2 * kMostWorkers);
    spec->mutable_training()->set_micro_batch(1);
    spec->mutable_training()->set_steps(Whole(kFewestSteps, kMostSteps));
    spec->mutable_training()->set_precision("fp32");
    spec->mutable_checkpoint()->set_store("file:///store");
    wishes_[uid].steps = spec->training().steps();
    refused_ += !Feed(submit).status.ok();
  }

  // Lets agents report and obey. In the first round of a minute all agents report, and later only those that have
  // something to do.
  void Agents(bool all) {
    // Maps each node to the trainers that run there.
    std::map<std::string, std::vector<std::string>> running;
    for (const auto& [id, report] : processes_) running[report.node()].push_back(id);
    for (auto& [name, machine] : machines_) {
      v1::NodeReport& report = machine.report;
      auto* trainers = report.mutable_trainers();
      const bool had = !trainers->empty();
      trainers->erase(std::remove_if(trainers->begin(), trainers->end(), [](const auto& p) { return p.running(); }),
                      trainers->end());
      for (const std::string& id : running[name]) {
        v1::TrainerProcess* process = report.add_trainers();
        process->set_trainer(id);
        process->set_job_uid(processes_.at(id).job_uid());
        process->set_running(true);
      }
      const v1::NodeDirective before = all ? v1::NodeDirective() : cluster_.DirectiveForNode(name);
      if (all || had || before.trainers_size() > 0) {
        Feed(NodeReported{report});
        Obey(machine);
      }
    }
  }

  void Obey(Machine& machine) {
    v1::NodeReport& report = machine.report;
    const v1::NodeDirective told = cluster_.DirectiveForNode(report.node());
    report.set_known_revision(told.revision());
    const std::set<std::string> known(told.acknowledged_exits().begin(), told.acknowledged_exits().end());
    auto* trainers = report.mutable_trainers();
    trainers->erase(std::remove_if(trainers->begin(), trainers->end(),
                                   [&](const auto& p) { return !p.running() && known.count(p.trainer()) > 0; }),
                    trainers->end());
    const std::string wanted = told.trainers_size() > 0 ? told.trainers(0).job_uid() : "";
    bool runs = false;
    for (const v1::TrainerProcess& process : std::vector<v1::TrainerProcess>(trainers->begin(), trainers->end())) {
      if (!process.running() || processes_.count(process.trainer()) == 0) continue;
      if (process.job_uid() == wanted) {
        runs = true;
      } else {
        End(process.trainer());
      }
    }
    if (wanted.empty() || runs) return;
    v1::TrainerReport fresh = NewTrainer(report.node() + "/0", ++starts_, wanted, "secret");
    processes_.emplace(fresh.trainer(), std::move(fresh));
  }

  void End(const std::string& trainer) {
    const auto at = processes_.find(trainer);
    v1::TrainerProcess* exit = machines_.at(at->second.node()).report.add_trainers();
    exit->set_trainer(trainer);
    exit->set_job_uid(at->second.job_uid());
    exit->set_exit_seen(true);
    processes_.erase(at);
  }

  void Trainers() {
    std::map<std::string, std::vector<v1::TrainerReport*>> of_job;
    std::vector<std::string> ended;
    for (auto& [id, report] : processes_) {
      const std::string& saved = wishes_[report.job_uid()].saved;
      if (report.phase() == v1::TRAINER_READY && !saved.empty()) (void)SetFields({{"restorable", saved}}, report);
      report.set_sequence(report.sequence() + 1);
      report.set_wait_ms(30'000);
      Feed(TrainerReported{report});
      const v1::TrainerDirective told = cluster_.DirectiveForTrainer(report.job_uid(), id);
      report.set_known_revision(told.revision());
      if (told.action() == v1::TrainerDirective::EXIT) {
        ended.push_back(id);
      } else if (told.action() != v1::TrainerDirective::YIELD) {
        FollowDirective(told, report);
      }
      of_job[report.job_uid()].push_back(&report);
    }
    for (const auto& [uid, reports] : of_job) Work(uid, reports);
    for (const std::string& id : ended) End(id);
  }

  // Lets all members of the job's generation make some steps together. If a member is missing, the others are
  // interrupted.
  void Work(const std::string& uid, const std::vector<v1::TrainerReport*>& reports) {
    const v1::JobRecord* record = cluster_.FindJob(uid);
    if (record == nullptr) return;
    const v1::Membership& membership = record->membership();
    std::vector<v1::TrainerReport*> members;
    size_t entered = 0;
    for (v1::TrainerReport* report : reports) {
      if (report->generation() != membership.generation()) continue;
      members.push_back(report);
      entered += report->phase() == v1::TRAINER_RUNNING;
    }
    const auto size = static_cast<size_t>(membership.members_size());
    const bool lacks_one =
        std::any_of(membership.members().begin(), membership.members().end(),
                    [&](const v1::Member& member) { return processes_.count(member.trainer()) == 0; });
    if (size == 0 || (!lacks_one && entered < size)) return;
    Wish& wish = wishes_[uid];
    for (v1::TrainerReport* report : members) {
      if (report->phase() != v1::TRAINER_RUNNING) continue;
      const v1::TrainerDirective told = cluster_.DirectiveForTrainer(uid, report->trainer());
      if (lacks_one) {
        report->set_phase(v1::TRAINER_INTERRUPTED);
      } else if (told.action() == v1::TrainerDirective::YIELD) {
        FollowDirective(told, *report);
      } else {
        CompleteSteps(membership, std::min(kStepsARound, wish.steps - report->step()), *report);
        wish.saved = absl::StrCat(membership.generation(), "-", report->step(), "-x");
        (void)SetFields({{"committed", wish.saved}}, *report);
        if (report->step() < wish.steps) continue;
        report->set_phase(v1::TRAINER_FINISHED);
        report->set_state_digest("d");
      }
    }
  }

  const Options options_;
  Cluster cluster_;
  coordinator::Journal journal_;
  std::mt19937_64 random_;
  double now_ = 1000, wall_offset_ = 1.7e9, wake_at_ = 0;
  std::map<std::string, Machine> machines_;
  // `processes_` maps the id of each running trainer to the trainer's report.
  std::map<std::string, v1::TrainerReport> processes_;
  std::map<std::string, Wish> wishes_;
  std::multimap<double, std::string> gone_at_;
  // `kinds_` counts the events of each kind.
  std::map<std::string, int> kinds_;
  int came_ = 0, submitted_ = 0, refused_ = 0, starts_ = 0, crowded_out_ = 0, events_ = 0;
  double seconds_ = 0;
};

}  // namespace rekindle::core::long_life

#endif  // REKINDLE_BENCH_COORDINATOR_LONG_LIFE_WORLD_H_
