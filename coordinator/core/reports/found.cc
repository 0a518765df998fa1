#include "coordinator/core/reports/found.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_job_file.h"
#include "common/digest/sha256.h"
#include "coordinator/core/record/found_jobs.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/core/record/store_search.h"
#include "coordinator/core/record/stored_record.h"
#include "coordinator/core/reports/job_admission.h"
#include "coordinator/core/reports/trainer_reports.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/taken_over/revival.h"

namespace rekindle::core {
namespace {

// At most this many found jobs are shown. The trainers of further ones are left alone as well.
constexpr size_t kMostFound = 1000;
// `kMaxName`, `kMaxReport`, `kMaxSpec` and `kMaxProblem` limit, in bytes, what a report may say of a found job.
constexpr size_t kMaxName = 300;
constexpr size_t kMaxReport = 300 << 10;
constexpr size_t kMaxSpec = 1 << 20;
constexpr size_t kMaxProblem = 300;

bool IsName(const std::string& text) { return !text.empty() && text.size() <= kMaxName; }

// Makes room for another found job, by forgetting one that is shown but of which nothing runs any more.
void ForgetOneFound(Turn& turn) {
  auto& found = turn.state.found;
  const auto ended =
      std::find_if(found.begin(), found.end(), [](const auto& job) { return job.second.running.empty(); });
  if (ended == found.end()) return;
  turn.effects.forget_jobs.push_back(ended->first);
  ++turn.effects.crowded_out;
  found.erase(ended);
}

FoundJob* FindOrAdd(Turn& turn, const std::string& uid) {
  auto& found = turn.state.found;
  const auto known = found.find(uid);
  if (known != found.end()) return &known->second;
  if (found.size() >= kMostFound) ForgetOneFound(turn);
  if (!IsName(uid) || found.size() >= kMostFound) return nullptr;
  FoundJob& job = found[uid];
  job.record.mutable_job()->set_uid(uid);
  // The uid serves as the job's name until an agent reports the true name.
  job.record.mutable_job()->set_name(uid);
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_state(v1::FOUND);
  status->set_checkpoint_step(-1);
  status->set_submitted_at(turn.now + turn.state.wall_offset);
  return &job;
}

bool Runs(const FoundJob& job, const std::string& trainer) {
  const auto node = job.running.find(NodeOf(trainer));
  return node != job.running.end() && node->second.count(trainer) > 0;
}

// Shows what is known of a found job, and emits an event once its name is known.
void Show(Turn& turn, FoundJob& job) {
  int generation = 0, step = 0;
  std::vector<std::string> nodes;
  for (const auto& [id, report] : job.trainers) {
    generation = std::max(generation, report.generation());
    step = std::max(step, report.completed_step());
  }
  for (const auto& [node, trainers] : job.running) nodes.push_back(node);
  v1::Job* shown = job.record.mutable_job();
  v1::JobStatus* status = shown->mutable_status();
  const std::string where = nodes.empty() ? "nothing of it runs any more"
                                          : absl::StrCat("its trainers run on ", Bounded(JoinWords(nodes), 300));
  const std::string stored =
      job.stored.empty() ? "" : absl::StrCat(", nor does its store say whose it is (", job.stored, ")");
  const std::string reason =
      absl::StrCat(where, ", and there is no record of it", stored, "; what runs goes on as it is; `rekindle adopt ",
                   shown->name(), "` takes it over");
  if (status->generation() == generation && status->step() == step && status->reason() == reason) return;
  status->set_generation(generation);
  status->set_step(step);
  status->set_reason(reason);
  turn.effects.changed_jobs.push_back(shown->uid());
  if (job.told || !status->has_resolved_spec()) return;
  job.told = true;
  v1::Event event;
  event.set_kind("job_found");
  event.set_job(shown->name());
  event.set_text(absl::StrCat("job ", shown->name(), " is found: ", reason));
  turn.effects.events.push_back(std::move(event));
}

// Takes the job's name, secret and spec from what an agent was told to run of it. Where two agents differ the first one
// counts, and trainers with another secret are no trainers of the job.
void TakeWantedTrainer(Turn& turn, const v1::DesiredTrainer& wanted) {
  const auto found = turn.state.found.find(wanted.job_uid());
  if (found == turn.state.found.end() || !found->second.record.secret().empty()) return;
  if (!IsName(wanted.job_name()) || !IsName(wanted.job_secret()) || wanted.spec().ByteSizeLong() > kMaxSpec) return;
  v1::JobRecord& record = found->second.record;
  record.set_secret(wanted.job_secret());
  record.mutable_job()->set_name(wanted.job_name());
  *record.mutable_job()->mutable_spec() = wanted.spec();
  *record.mutable_job()->mutable_status()->mutable_resolved_spec() = wanted.spec();
  Show(turn, found->second);
}

// Returns why the file in a found job's store does not prove whose job it is. `secret` is the secret that agents report
// for the job. Returns an empty string where the file proves it.
std::string WhyNotProven(const State& state, const v1::JobFile& file, const std::string& secret) {
  const std::string foreign = WhyForeign(state, file);
  if (!foreign.empty() || file.over()) return foreign;
  if (secret.empty() || file.secret_sha256() != common::Sha256Hex(secret)) {
    return "its trainers have another secret than the job of the record there";
  }
  return "";
}

// Returns whether some trainer of the job is in a generation. Trainers that are in none do not show which generation is
// the job's newest.
bool SomeoneIsInAGeneration(const FoundJob& job, const std::string& secret) {
  return std::any_of(job.trainers.begin(), job.trainers.end(), [&](const auto& trainer) {
    const v1::TrainerReport& report = trainer.second;
    const bool waits = report.phase() == v1::TRAINER_READY || report.phase() == v1::TRAINER_STARTING;
    return report.generation() > 0 && !waits && report.job_secret() == secret;
  });
}

// Hands the reports of the found job's trainers to the job that was taken over. Each trainer counts as heard when its
// report came, and not now, because it may have fallen silent since.
void TakeTrainers(Turn& turn, const FoundJob& found, Job& job) {
  for (const auto& [id, report] : found.trainers) {
    if (report.job_secret() != job.record.secret() || !AcceptReport(turn, job, report)) continue;
    job.trainers.at(id).heard = found.heard.at(id);
  }
}

// Takes a found job over with the given record. If the job is over, its slots are free once nothing of it runs.
void TakeJobOver(Turn& turn, const v1::JobFile& file, const v1::JobRecord& record) {
  State& state = turn.state;
  const std::string& uid = file.job_uid();
  const std::string& name = record.job().name();
  const auto same_name = state.newest.find(name);
  const std::string before = same_name == state.newest.end() ? "" : same_name->second;
  const FoundJob found = std::move(state.found.extract(uid).mapped());
  Adopt(turn, record);
  // Where the found job is over, a job that has its name now keeps the name.
  if (file.over() && !before.empty()) state.newest[name] = before;
  Job& job = state.jobs.at(uid);
  turn.Save(job);
  turn.Replan();
  if (file.over()) {
    turn.Emit(&job, "job_was_over",
              absl::StrCat("job ", name, " is over, as the record in its store says (",
                           Bounded(file.over_reason(), 300), "): what still runs of it is stopped"));
    return;
  }
  turn.Emit(&job, "job_adopted",
            absl::StrCat("job ", name, " is taken over from its trainers: the record in its store is this cluster's, ",
                         "and they know its secret"));
  TakeTrainers(turn, found, job);
}

// Takes the found job over and returns an empty string, or returns why the record in its store does not prove whose it
// is.
std::string TryTakeOver(Turn& turn, const FoundJob& found, const v1::StoredJob& stored, const std::string& secret) {
  if (stored.job_file().empty()) return Bounded(stored.problem(), kMaxProblem);
  const std::string& uid = stored.job_uid();
  const absl::StatusOr<v1::JobFile> file = DecodeJobFile(stored.job_file(), uid);
  if (!file.ok()) return Bounded(std::string(file.status().message()), kMaxProblem);
  std::string why = WhyNotProven(turn.state, *file, secret);
  if (!why.empty()) return why;
  const std::string& name = file->record().job().name();
  if (!file->over() && IsNameTaken(turn.state, name)) {
    return absl::StrCat("another job has its name: `rekindle cancel ", name, "` that one");
  }
  if (!file->over() && !SomeoneIsInAGeneration(found, secret)) return "none of its trainers is in a generation";
  const v1::JobRecord record = Revive(*file, {.secret = secret,
                                              .store_generation = std::clamp(stored.generation(), 0, kMostNumber),
                                              .unix_now = turn.now + turn.state.wall_offset});
  TakeJobOver(turn, *file, record);
  return "";
}

}  // namespace

void TakeReportOfFound(Turn& turn, const v1::TrainerReport& report) {
  const auto found = turn.state.found.find(report.job_uid());
  if (found == turn.state.found.end() || report.ByteSizeLong() > kMaxReport) return;
  FoundJob& job = found->second;
  // A trainer's report on a found job does not count until the trainer's agent has reported the trainer, too.
  if (!Runs(job, report.trainer())) return;
  const auto known = job.trainers.find(report.trainer());
  if (known != job.trainers.end()) {
    const bool is_same = known->second.job_secret() == report.job_secret();
    if (is_same) job.heard[report.trainer()] = turn.now;
    if (is_same && report.sequence() <= known->second.sequence()) return;
    // The trainer's earlier report has the job's secret and the present report has another one, so the present one is
    // false.
    if (!is_same && known->second.job_secret() == job.record.secret()) return;
  }
  job.trainers[report.trainer()] = report;
  job.heard[report.trainer()] = turn.now;
  Show(turn, job);
}

void TakeReportOfFound(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  // `runs` maps the uid of each job that nobody knows to its trainers that run on the node.
  std::map<std::string, std::set<std::string>> runs;
  for (const v1::TrainerProcess& process : report.trainers()) {
    const bool is_unknown = process.running() && turn.state.jobs.count(process.job_uid()) == 0;
    if (!is_unknown || !IsName(process.trainer()) || NodeOf(process.trainer()) != report.node()) continue;
    runs[process.job_uid()].insert(process.trainer());
    if (process.slot() >= 0 && process.slot() < report.slots()) node.slots[process.slot()] = process.job_uid();
  }
  if (runs.empty() && turn.state.found.empty()) return;
  for (const auto& [uid, trainers] : runs) (void)FindOrAdd(turn, uid);
  for (auto& [uid, job] : turn.state.found) {
    const auto now = runs.find(uid);
    const auto before = job.running.find(report.node());
    if (now == runs.end() && before == job.running.end()) continue;
    if (now != runs.end() && before != job.running.end() && now->second == before->second) continue;
    turn.Replan();
    job.running.erase(report.node());
    if (now != runs.end()) job.running[report.node()] = now->second;
    std::erase_if(job.trainers, [&](const auto& trainer) { return !Runs(job, trainer.first); });
    Show(turn, job);
  }
  for (const v1::DesiredTrainer& wanted : report.left_alone()) {
    if (runs.count(wanted.job_uid()) > 0) TakeWantedTrainer(turn, wanted);
  }
}

bool TakeStoredJobs(Turn& turn, const v1::NodeReport& report) {
  bool taken = false;
  for (const v1::StoredJob& stored : report.stored_jobs()) {
    const auto found = turn.state.found.find(stored.job_uid());
    if (found == turn.state.found.end() || !ReadsStoreOf(turn.state, report.node(), found->second)) continue;
    std::string secret;
    for (const v1::DesiredTrainer& wanted : report.left_alone()) {
      if (wanted.job_uid() == stored.job_uid()) secret = wanted.job_secret();
    }
    const std::string why = TryTakeOver(turn, found->second, stored, secret);
    taken = taken || why.empty();
    if (why.empty() || why == found->second.stored) continue;
    found->second.stored = why;
    Show(turn, found->second);
  }
  return taken;
}

void AdoptFound(Turn& turn, const std::string& uid) {
  const auto at = turn.state.found.find(uid);
  const auto known = turn.state.jobs.find(uid);
  if (known != turn.state.jobs.end()) {
    const v1::Job& job = known->second.record.job();
    turn.effects.status =
        absl::FailedPreconditionError(absl::StrCat("job ", job.name(), " is ", v1::JobState_Name(job.status().state()),
                                                   ", not FOUND: there is nothing to take over"));
    return;
  }
  if (at == turn.state.found.end()) {
    turn.effects.status = absl::NotFoundError(
        absl::StrCat("no job of the uid ", Bounded(uid, 64), " is FOUND; `rekindle jobs` lists all"));
    return;
  }
  const FoundJob found = at->second;
  const std::string& name = found.record.job().name();
  if (found.record.secret().empty()) {
    turn.effects.status = absl::FailedPreconditionError(
        absl::StrCat("no agent has said what was wanted of job ", name, ": let the agent of one of its nodes run"));
    return;
  }
  if (IsNameTaken(turn.state, name)) {
    turn.effects.status = absl::FailedPreconditionError(
        absl::StrCat("another job has the name ", name, ": `rekindle cancel ", name, "` it first"));
    return;
  }
  // Until all trainers had time to report, a job is not adopted of which only waiting trainers were heard. Members that
  // have its newest state may report a moment later than trainers that wait to join them.
  const double all_heard_at = turn.state.started + turn.state.tunables.node_lost_seconds;
  if (turn.now < all_heard_at && !SomeoneIsInAGeneration(found, found.record.secret())) {
    turn.effects.status = absl::FailedPreconditionError(absl::StrCat(
        "none of the trainers of job ", name, " that were heard of is in a generation, and others may not ",
        "have been heard of since the coordinator was started: `rekindle adopt ", name, "` in ",
        Seconds(all_heard_at - turn.now)));
    return;
  }
  turn.state.found.erase(at);
  Job& job = AddFound(turn, found.record);
  // Trainers that are gone may have saved more than those that are heard of know.
  AskToLook(turn, job);
  turn.Emit(&job, "job_adopted", absl::StrCat("job ", name, " is taken over from its trainers, as its user asked"));
  TakeTrainers(turn, found, job);
}

}  // namespace rekindle::core
