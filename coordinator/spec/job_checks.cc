#include "coordinator/spec/job_checks.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "coordinator/core/account/off_peak.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/fleet/simulator/job_goals.h"

namespace rekindle::coordinator {
namespace {

using core::SubmitCheck;

void CheckName(const Submission& s, const Facts&, Checker& check) { check.Add("name", CheckJobName(s.job.name())); }

// Makes a JobCheck::run of a check that looks only at the resolved spec.
template <void (*kCheck)(Checker&, const v1::JobSpec&)>
void OfSpec(const Submission& s, const Facts&, Checker& check) {
  kCheck(check, s.resolved);
}

void OfCheckpoint(const Submission& s, const Facts&, Checker& check) {
  CheckCheckpoint(check, s.job.spec(), s.resolved);
}

void OfHours(const Submission& s, const Facts&, Checker& check) {
  check.Add("spec.goals.off_peak", core::CheckOffPeak(s.resolved.goals()));
}

// The estimate of a job is checked only if the job has a deadline, because it is used only to plan for the deadline.
void OfEstimate(const Submission& s, const Facts&, Checker& check) {
  if (s.resolved.goals().deadline_hours() <= 0) return;
  check.Add("spec.estimate", fleet::ResolveGoals(s.resolved).status(), {"spec.workers", "spec.training.steps"});
}

// Checks that the spec fits into the job's job.json. The check leaves out what a coordinator fills in from its own
// settings, so that every coordinator and `rekindle` give the same answer. job.json has room for these settings, which
// are small.
void OfSize(const Submission& s, const Facts&, Checker& check) {
  check.Add("spec", core::CheckFitsJobFile(FillSpec(s.job.spec(), UnknownSettings())));
}

void OfWeights(const Submission& s, const Facts& facts, Checker& check) {
  check.Add("spec.model.weights", facts.own_files(s.resolved));
}

void OfPolicy(const Submission& s, const Facts& facts, Checker& check) {
  CheckPrecisionPolicy(check, s.job.spec(), *facts.settings);
}

void OfDefaultStore(const Submission& s, const Facts&, Checker& check) {
  CheckArchiveOfDefaultStore(check, s.job.spec(), s.resolved);
}

const JobReach& ReachOf(const Facts& facts) {
  static const auto* everything = new JobReach();
  return facts.reach == nullptr ? *everything : *facts.reach;
}

void OfDataRoots(const Submission& s, const Facts& facts, Checker& check) {
  check.Add("spec.data", CheckDataNames(s.resolved, ReachOf(facts)));
}

void OfStoreServers(const Submission& s, const Facts& facts, Checker& check) {
  check.Add("spec.checkpoint.store", CheckStoreServers(s.resolved, ReachOf(facts)));
}

void OfCode(const Submission& s, const Facts& facts, Checker& check) {
  check.Add("spec.model.python", CheckCode(s.resolved, ReachOf(facts)));
}

void OfDataFiles(const Submission& s, const Facts& facts, Checker& check) {
  check.Add("spec.data", CheckDataFiles(s.resolved, ReachOf(facts)));
}

void OfStoreFolder(const Submission& s, const Facts&, Checker& check) {
  check.Add("spec.checkpoint.store", CheckStoreFolder(s.resolved));
}

void OfRoom(const Submission&, const Facts& facts, Checker& check) { check.Add("", facts.room()); }

void OfOtherNames(const Submission&, const Facts& facts, Checker& check) {
  check.Add("name", facts.cluster(SubmitCheck::kName));
}

void OfNodes(const Submission&, const Facts& facts, Checker& check) {
  check.Add("spec.training.precision", facts.cluster(SubmitCheck::kPrecision));
}

void OfInterpreters(const Submission&, const Facts& facts, Checker& check) {
  check.Add("spec.model.python", facts.cluster(SubmitCheck::kOwnModel));
}

void OfBudget(const Submission&, const Facts& facts, Checker& check) {
  check.Add("spec.goals.budget", facts.cluster(SubmitCheck::kBudget));
}

void OfGoals(const Submission&, const Facts& facts, Checker& check) {
  check.Add("spec.goals", facts.cluster(SubmitCheck::kGoals));
}

unsigned KnownOf(const Facts& facts) {
  unsigned known = kNothing;
  if (facts.own_files != nullptr) known |= kOwnFiles;
  if (facts.settings != nullptr) known |= kSettings;
  if (facts.files) known |= kFiles;
  if (facts.cluster != nullptr && facts.room != nullptr) known |= kCluster;
  return known;
}

void Run(const JobCheck& row, const Submission& submission, const Facts& facts, Checker* check) {
  if (IsRun(row, facts) && check->Sound(row.reads)) row.run(submission, facts, *check);
}

}  // namespace

std::span<const JobCheck> JobChecks() {
  // `checks` lists all checks of a job. Problems are reported in the order of the list, unless the caller of the checks
  // sorts the problems by line. Checks of the job's own fields come first, in the order of the proto. Checks that look
  // at anything else follow.
  static const auto* checks = new std::vector<JobCheck>{
      {"name", kNothing, {}, CheckName},
      {"seed, priority and team", kNothing, {}, OfSpec<CheckSeedPriorityTeam>},
      {"workers", kNothing, {}, OfSpec<CheckWorkers>},
      {"model", kNothing, {}, OfSpec<CheckModel>},
      {"data", kNothing, {}, OfSpec<CheckData>},
      {"training", kNothing, {}, OfSpec<CheckTraining>},
      {"optimizer", kNothing, {}, OfSpec<CheckOptimizer>},
      {"schedule", kNothing, {}, OfSpec<CheckSchedule>},
      {"checkpoint", kNothing, {}, OfCheckpoint},
      {"goals", kNothing, {}, OfSpec<CheckGoals>},
      {"off-peak hours", kNothing, {}, OfHours},
      {"estimate for a deadline", kNothing, {"spec.goals", "spec.workers", "spec.training.steps"}, OfEstimate},
      {"levers", kNothing, {}, OfSpec<CheckStepLevers>},
      {"recovery", kNothing, {}, OfSpec<CheckRecovery>},
      {"size", kNothing, {}, OfSize},
      {"weights", kOwnFiles, {"spec.model"}, OfWeights},
      {"precision policy", kSettings, {"spec.training.precision"}, OfPolicy},
      {"default store", kSettings, {"spec.checkpoint"}, OfDefaultStore},
      {"code of users", kSettings, {"spec.model"}, OfCode},
      {"data roots", kSettings, {"spec.data", "spec.model"}, OfDataRoots},
      {"servers of stores", kSettings, {"spec.checkpoint"}, OfStoreServers},
      {"data files", kFiles, {"spec.data", "spec.model"}, OfDataFiles},
      {"checkpoint folder", kFiles, {"spec.checkpoint"}, OfStoreFolder},
      {"room for a job", kJobs, {}, OfRoom},
      {"name in use", kJobs, {"name"}, OfOtherNames},
      {"precision of the nodes", kNodes, {"spec.training.precision", "spec.workers"}, OfNodes},
      {"interpreters of the nodes", kNodes, {"spec.model", "spec.workers.device"}, OfInterpreters},
      {"budget", kPrices, {"spec.goals.budget", "spec.workers"}, OfBudget},
      {"goals on the fleet",
       kNodes | kPrices,
       {"spec.workers", "spec.training", "spec.estimate", "spec.goals.objective", "spec.goals.capacity",
        "spec.goals.deadline_hours", "spec.goals.off_peak"},
       OfGoals},
  };
  return *checks;
}

bool IsRun(const JobCheck& check, const Facts& facts) { return (check.needs & ~KnownOf(facts)) == 0; }

void CheckJob(const Submission& submission, const Facts& facts, Checker* check) {
  for (const JobCheck& row : JobChecks()) {
    if ((row.needs & kCluster) == 0) Run(row, submission, facts, check);
  }
}

void CheckInCluster(const Submission& submission, const Facts& facts, Checker* check) {
  for (const JobCheck& row : JobChecks()) {
    if ((row.needs & kCluster) != 0) Run(row, submission, facts, check);
  }
}

std::string Describe(unsigned needs) {
  static constexpr std::pair<Need, const char*> kWords[] = {{kOwnFiles, "files of this machine"},
                                                            {kSettings, "the coordinator's settings"},
                                                            {kFiles, "files of the coordinator's machine"},
                                                            {kNodes, "nodes"},
                                                            {kPrices, "prices"},
                                                            {kJobs, "other jobs"}};
  std::vector<std::string> words;
  for (const auto& [need, word] : kWords) {
    if ((needs & need) != 0) words.push_back(word);
  }
  return words.empty() ? "nothing" : absl::StrJoin(words, " and ");
}

const Defaults& UnknownSettings() {
  static const auto* settings = new Defaults{.store = "file:///of/a/coordinator/that/is/not/asked"};
  return *settings;
}

}  // namespace rekindle::coordinator
