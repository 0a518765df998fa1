#include "coordinator/core/members/candidates.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// Returns the time at which a trainer that says nothing more ceases to count as present. That is some seconds after the
// end of the long poll that its last report began.
double SilentAt(const Trainer& trainer) {
  constexpr double kSlackSeconds = 2;
  return trainer.heard + PollSeconds(trainer.report.wait_ms()) + kSlackSeconds;
}

bool IsStarting(const Trainer& trainer) {
  return trainer.reported && trainer.death.empty() && trainer.report.phase() == v1::TRAINER_STARTING;
}

// Returns the error of the checkpoint store that keeps trainers from joining the job, because each of them reads the
// store first. Returns an empty string where there is none.
std::string StoreTrouble(const Job& job) {
  for (const auto& [id, trainer] : job.trainers) {
    const std::string& error = trainer.report.checkpoint_error();
    if (IsStarting(trainer) && !error.empty()) return Bounded(error);
  }
  return "";
}

// Returns what one of the trainers that are starting does meanwhile, as far as it says so. Returns an empty string
// where none does.
std::string StartNote(const Job& job) {
  for (const auto& [id, trainer] : job.trainers) {
    const std::string& note = trainer.report.note();
    if (IsStarting(trainer) && !note.empty()) return absl::StrCat(ShortName(id), " starts: ", Bounded(note));
  }
  return "";
}

// Returns which node cannot start a trainer of the job, and why, and how many others cannot either. Returns an empty
// string where there is none.
std::string StartTroubles(const State& state, const Job& job) {
  const std::string& uid = job.record.job().uid();
  std::string first;
  int others = 0;
  for (const std::string& name : state.start_troubles) {
    const NodeState& node = state.nodes.at(name);
    if (node.lost || !HoldsSlotOf(node, uid)) continue;
    const v1::StartTrouble* trouble = StartTroubleOf(node.report, uid);
    if (trouble == nullptr) continue;
    if (first.empty()) {
      first = absl::StrCat("node ", name, " cannot start a trainer: ", Bounded(trouble->words()));
    } else {
      ++others;
    }
  }
  if (others > 0) absl::StrAppend(&first, "; nor can ", others, " other node", others > 1 ? "s" : "");
  return first;
}

}  // namespace

Candidate ToCandidate(const Trainer& trainer, int previous_rank) {
  const v1::TrainerReport& report = trainer.report;
  Candidate candidate;
  candidate.trainer = report.trainer();
  candidate.node = report.node();
  candidate.address = report.address();
  candidate.host = report.host();
  candidate.process = report.process();
  candidate.previous_rank = previous_rank;
  candidate.step = report.step();
  candidate.attempt = report.attempt();
  candidate.total_blocks = report.total_blocks();
  for (int i = 0; i + 1 < report.held_blocks_size(); i += 2) {
    candidate.blocks.emplace_back(report.held_blocks(i), report.held_blocks(i + 1));
  }
  candidate.prepared = report.prepared();
  candidate.holding.seconds = report.micro_batch_seconds();
  if (report.phase() == v1::TRAINER_INTERRUPTED) {
    candidate.holding.holds.assign(report.assigned().begin(), report.assigned().end());
    candidate.holding.computed = report.computed();
  }
  return candidate;
}

bool MayJoin(const State& state, const Job& job, const Trainer& trainer, double now) {
  if (!trainer.reported || !trainer.death.empty() || trainer.report.phase() != v1::TRAINER_READY) return false;
  if (trainer.report.store_unseen() && !IsFinishing(job)) return false;
  if (FindMember(job, trainer.report.trainer()) != nullptr) return false;
  if (MustLeave(state, job, trainer.report.trainer())) return false;
  if (job.refused.contains(trainer.report.trainer()) || !StaleMicroBatch(job, trainer.report).empty()) return false;
  return now < SilentAt(trainer);
}

bool JoinsNow(const Turn& turn, Job& job, const Trainer& trainer) {
  if (!MayJoin(turn.state, job, trainer, turn.now)) return false;
  turn.Wake(job, SilentAt(trainer));
  return true;
}

std::vector<Candidate> Joiners(const Turn& turn, Job& job) {
  std::vector<Candidate> joiners;
  for (const auto& [id, trainer] : job.trainers) {
    if (JoinsNow(turn, job, trainer) && !job.excluded_until.count(trainer.report.node())) {
      joiners.push_back(ToCandidate(trainer, -1));
    }
  }
  return joiners;
}

void Fill(std::vector<Candidate>& pool, const std::vector<Candidate>& joiners, int up_to) {
  for (const Candidate& joiner : joiners) {
    if (static_cast<int>(pool.size()) >= up_to) return;
    pool.push_back(joiner);
  }
}

int DesiredWorkers(const State& state, const Job& job) {
  int desired = 0;
  for (const auto& [name, node] : state.nodes) {
    if (node.lost || node.record.draining()) continue;
    for (const auto& [slot, uid] : node.slots) {
      desired += uid == job.record.job().uid() && !job.giving_up.count(absl::StrCat(name, "/", slot));
    }
  }
  return std::min(desired, MaxWorkers(job));
}

void WaitForWorkers(Turn& turn, Job& job, size_t have) {
  const int missing = MinWorkers(job) - static_cast<int>(have);
  std::string reason = absl::StrCat("waits for ", std::max(1, missing), " more worker", missing > 1 ? "s" : "",
                                    " (has ", have, ", needs ", MinWorkers(job), ")");
  if (!SpecOf(job).workers().device().empty()) absl::StrAppend(&reason, " on ", SpecOf(job).workers().device());
  if (!job.wishes.waits_for.empty()) absl::StrAppend(&reason, ": ", job.wishes.waits_for);
  if (const std::string trouble = StoreTrouble(job); !trouble.empty()) {
    absl::StrAppend(&reason, ": trainers wait for the checkpoint store: ", trouble);
  }
  if (const std::string note = StartNote(job); !note.empty()) absl::StrAppend(&reason, ": ", note);
  if (const std::string troubles = StartTroubles(turn.state, job); !troubles.empty()) {
    absl::StrAppend(&reason, ": ", troubles);
  }
  if (job.record.job().status().state() != v1::PENDING && job.record.membership().generation() > 0) {
    turn.Emit(&job, "waiting", absl::StrCat(reason, ": ", job.regroup.forming.reason));
  }
  SetState(turn, job, v1::PENDING, reason);
}

}  // namespace rekindle::core
