#include "coordinator/core/forming.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "coordinator/core/announce.h"
#include "coordinator/core/formation.h"
#include "coordinator/core/suspicion.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

Candidate ToCandidate(const Trainer& trainer, int previous_rank) {
  const v1::TrainerReport& report = trainer.report;
  Candidate candidate;
  candidate.trainer = report.trainer();
  candidate.node = report.node();
  candidate.address = report.address();
  candidate.host = report.host();
  candidate.previous_rank = previous_rank;
  candidate.step = report.step();
  candidate.attempt = report.attempt();
  candidate.holding.seconds = report.micro_batch_seconds();
  if (report.phase() == v1::TRAINER_INTERRUPTED) {
    candidate.holding.holds.assign(report.assigned().begin(), report.assigned().end());
    candidate.holding.computed = report.computed();
  }
  return candidate;
}

// State of a stopped member that belongs to the newest history. A READY trainer's may be stale.
bool HoldsNewest(const Trainer& trainer) {
  return trainer.report.has_state() && trainer.report.phase() != v1::TRAINER_READY;
}

std::vector<Candidate> Joiners(const Turn& turn, const Job& job) {
  std::vector<Candidate> joiners;
  for (const auto& [id, trainer] : job.trainers) {
    if (MayJoin(turn.state, job, trainer, turn.now)) joiners.push_back(ToCandidate(trainer, -1));
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
    for (const auto& [slot, uid] : node.slots) desired += uid == job.record.job().uid();
  }
  return std::min(desired, MaxWorkers(job));
}

int NextGeneration(const Job& job) {
  int highest = std::max(job.record.membership().generation(), job.record.store_generation());
  for (const auto& [id, trainer] : job.trainers) highest = std::max(highest, trainer.report.generation());
  return highest + 1;
}

void WaitForWorkers(Turn& turn, Job& job, size_t have) {
  const int missing = MinWorkers(job) - static_cast<int>(have);
  const std::string reason = absl::StrCat("waits for ", std::max(1, missing), " more worker", missing > 1 ? "s" : "",
                                          " (has ", have, ", needs ", MinWorkers(job), ")");
  if (job.record.job().status().state() != v1::PENDING && job.record.membership().generation() > 0) {
    turn.Emit(&job, "waiting", absl::StrCat(reason, ": ", job.forming.reason));
  }
  SetState(job, v1::PENDING, reason);
}

// Two live ranks that failed each other before: one of them has to go.
void CountAccusations(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  job.forming.pairs_counted = true;
  std::vector<Charge> charges;
  for (const MemberView& view : views) {
    if (view.standing != Standing::kStopped) return;  // Somebody was silent or dead: that explains the failure.
    if (view.trainer->report.generation() != job.record.membership().generation()) continue;
    for (const v1::Accusation& accusation : view.trainer->report.accusations()) {
      charges.push_back({view.member->trainer(), accusation.trainer(), accusation.kind(), view.trainer->stopped_at});
    }
  }
  if (charges.empty() || views.size() < 2) return;
  const auto removal = CountFailure(*job.record.mutable_suspicions(), PrimaryCharges(charges), job.record.membership());
  job.must_save = true;
  if (!removal) return;
  const std::string node = FindMember(job, removal->trainer)->node();
  const double seconds = Exclude(*job.record.mutable_suspicions(), node, turn.state.tunables.exclusion_seconds);
  job.excluded_until[node] = turn.now + seconds;
  job.forming.removed = removal->trainer;
  job.forming.removed_reason = absl::StrCat(removal->reason, "; node ", node, " is kept out for ", Seconds(seconds));
  turn.Emit(&job, "excluded", job.forming.removed_reason, node);
}

// True when every member has stopped, died or run out of grace.
bool Settle(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  bool settled = true;
  for (const MemberView& view : views) {
    if (view.standing != Standing::kAwaited) continue;
    if (turn.now >= view.give_up_at) {
      job.trainers[view.member->trainer()].left_out = true;
    } else {
      turn.Wake(job, view.give_up_at);
      settled = false;
    }
  }
  return settled;
}

// Nobody of the newest generation holds its state. Waits until the silent ones are gone for good, then takes
// the highest step that any live replica or checkpoint has.
struct Fallback {
  bool wait = false;
  std::vector<Candidate> pool;
  Origin origin;
};

// The checkpoint that the newest generation should restore, when a member tried, failed and found another since.
std::string FindSpoiled(const Job& job, const std::vector<Candidate>& pool) {
  const std::string& tried = job.record.membership().source().checkpoint();
  if (tried.empty()) return "";
  for (const Candidate& candidate : pool) {
    const v1::TrainerReport& report = FindTrainer(job, candidate.trainer)->report;
    if (report.phase() != v1::TRAINER_INTERRUPTED || report.has_state()) continue;
    if (report.generation() == job.record.membership().generation() && report.restorable().manifest() != tried) {
      return tried;
    }
  }
  return "";
}

Fallback FromAnywhere(Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate> survivors) {
  Fallback result;
  for (const MemberView& view : views) {
    if (view.standing != Standing::kLeftOut || turn.now >= view.gone_at) continue;
    turn.Wake(job, view.gone_at);
    result.wait = true;
  }
  const bool any_survivor = !survivors.empty();
  result.pool = std::move(survivors);
  Fill(result.pool, Joiners(turn, job), MaxWorkers(job));
  for (Candidate& candidate : result.pool) candidate.live = job.trainers[candidate.trainer].report.has_state();
  if (result.pool.empty()) job.ready_since = kNever;
  if (result.wait || static_cast<int>(result.pool.size()) < MinWorkers(job)) {
    WaitForWorkers(turn, job, result.pool.size());
    result.wait = true;
    return result;
  }
  if (job.ready_since == kNever) job.ready_since = turn.now;
  const double form_at = job.ready_since + turn.state.tunables.formation_seconds;
  const int desired = DesiredWorkers(turn.state, job);
  if (!any_survivor && static_cast<int>(result.pool.size()) < desired && turn.now < form_at) {
    SetState(job, v1::PENDING, absl::StrCat(result.pool.size(), " of ", desired, " workers are ready; waits a moment"));
    turn.Wake(job, form_at);
    result.wait = true;
    return result;
  }
  const Candidate* best = FindBest(result.pool);
  if (best != nullptr) result.origin = {Origin::Kind::kRank, best->step, best->attempt, ""};
  const std::string spoiled = FindSpoiled(job, result.pool);
  std::pair<int, int> newest{-1, -1};
  for (const Candidate& candidate : result.pool) {
    const v1::TrainerReport& report = job.trainers[candidate.trainer].report;
    if (!report.has_restorable() || report.restorable().manifest() == spoiled) continue;
    const std::pair<int, int> found{report.restorable().generation(), report.restorable().step()};
    if (found <= newest) continue;
    newest = found;
    if (best != nullptr && best->step >= found.second) continue;
    result.origin = {Origin::Kind::kCheckpoint, found.second, 0, report.restorable().manifest()};
  }
  return result;
}

// Members of draining nodes go at a boundary when others keep the state, or nobody is there to take it.
void ReleaseDraining(const Turn& turn, Job& job, std::vector<Candidate>& pool, bool others_to_come) {
  const bool others_live = std::any_of(pool.begin(), pool.end(), [&](const Candidate& candidate) {
    return candidate.live && !IsDraining(turn.state, candidate.node);
  });
  const bool others = others_to_come || std::any_of(pool.begin(), pool.end(), [&](const Candidate& candidate) {
                        return !IsDraining(turn.state, candidate.node);
                      });
  if (!others_live && others) return;  // First hand the state on; the next generation is without them.
  std::erase_if(pool, [&](const Candidate& candidate) {
    if (!IsDraining(turn.state, candidate.node)) return false;
    Trainer& trainer = job.trainers[candidate.trainer];
    trainer.death_kind = "drained";
    trainer.death =
        absl::StrCat("node ", candidate.node, " drains: ", turn.state.nodes.at(candidate.node).record.drain_reason());
    return true;
  });
}

}  // namespace

bool MayJoin(const State& state, const Job& job, const Trainer& trainer, double now) {
  if (!trainer.reported || !trainer.death.empty() || trainer.report.phase() != v1::TRAINER_READY) return false;
  if (FindMember(job, trainer.report.trainer()) != nullptr) return false;
  if (job.excluded_until.count(trainer.report.node()) || IsDraining(state, trainer.report.node())) return false;
  if (job.refused.count(trainer.report.trainer())) return false;
  constexpr double kSlackSeconds = 2;  // Beyond the wait it asked for: then it is not there any more.
  return now - trainer.heard <= std::clamp(trainer.report.wait_ms(), 0, 30'000) / 1000.0 + kSlackSeconds;
}

void OpenForming(Turn& turn, Job& job, const std::string& reason, bool failure) {
  job.active = false;
  job.yielding = false;
  job.forming = Forming{};
  job.forming.since = turn.now;
  job.forming.reason = reason;
  job.forming.failure = failure;
  job.forming.completed_at = job.completed_at;
  job.ready_since = kNever;
  for (auto& [id, trainer] : job.trainers) trainer.left_out = false;
  if (!failure) return;
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = turn.state.nodes.find(member.node());
    if (node != turn.state.nodes.end()) ++node->second.probe;
  }
}

void EndJob(Turn& turn, Job& job, v1::JobState state, const std::string& kind, const std::string& reason) {
  job.active = false;
  job.yielding = false;
  SetState(job, state, reason);
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_last_event(reason);
  status->clear_members();
  if (turn.state.wall_offset > 0) status->set_finished_at(turn.now + turn.state.wall_offset);
  job.open_faults.clear();
  job.must_save = true;
  turn.Emit(&job, kind, reason);
}

bool TryFinish(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  std::map<std::string, std::vector<std::string>> digests;
  int finished = 0;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kDead || view.standing == Standing::kLeftOut) continue;
    if (view.standing != Standing::kStopped || view.trainer->report.phase() != v1::TRAINER_FINISHED) return false;
    digests[view.trainer->report.state_digest()].push_back(ShortName(view.member->trainer()));
    ++finished;
  }
  if (finished == 0) return false;
  if (digests.size() == 1) {
    v1::JobStatus* status = job.record.mutable_job()->mutable_status();
    status->set_state_digest(digests.begin()->first);
    status->set_step(SpecOf(job).training().steps());
    EndJob(turn, job, v1::SUCCEEDED, "succeeded",
           absl::StrCat("all ", finished, " members finished step ", status->step(), " with equal state ",
                        status->state_digest()));
    return true;
  }
  std::vector<std::string> words;
  for (const auto& [digest, names] : digests) words.push_back(absl::StrCat(digest, " on ", JoinWords(names)));
  EndJob(turn, job, v1::FAILED, "failed", absl::StrCat("the final states differ: ", JoinWords(words)));
  return true;
}

void TryForm(Turn& turn, Job& job) {
  std::vector<MemberView> views = SurveyMembers(turn.state, job);
  if (!Settle(turn, job, views)) return;
  views = SurveyMembers(turn.state, job);
  if (TryFinish(turn, job, views)) return;
  if (job.forming.failure && !job.forming.pairs_counted) {
    CountAccusations(turn, job, views);
    views = SurveyMembers(turn.state, job);
  }
  std::vector<Candidate> pool;
  bool boundary = true;
  for (const MemberView& view : views) {
    if (view.standing != Standing::kStopped) continue;
    Candidate candidate = ToCandidate(*view.trainer, view.member->rank());
    candidate.live = HoldsNewest(*view.trainer) && candidate.step >= job.record.job().status().step();
    boundary = boundary && view.trainer->report.phase() != v1::TRAINER_INTERRUPTED;
    pool.push_back(std::move(candidate));
  }
  const Candidate* best = FindBest(pool);
  for (const Candidate& candidate : pool) {
    boundary = boundary && (best == nullptr || !candidate.live ||
                            std::tie(candidate.step, candidate.attempt) == std::tie(best->step, best->attempt));
  }
  const std::vector<Candidate> joiners = Joiners(turn, job);
  if (boundary && best != nullptr) ReleaseDraining(turn, job, pool, !job.record.want_paused() && !joiners.empty());
  if (job.record.want_paused()) {
    SetState(job, v1::PAUSED, "paused by the user");
    return;
  }
  best = FindBest(pool);
  if (best == nullptr) {
    Fallback fallback = FromAnywhere(turn, job, views, std::move(pool));
    if (fallback.wait) return;
    Announce(turn, job,
             BuildMembership(std::move(fallback.pool), fallback.origin, true, MicroBatches(job), NextGeneration(job)),
             fallback.origin, views);
    return;
  }
  const Origin origin{Origin::Kind::kRank, best->step, best->attempt, ""};
  Fill(pool, joiners, boundary ? MaxWorkers(job) : MinWorkers(job));
  if (static_cast<int>(pool.size()) < MinWorkers(job)) {
    WaitForWorkers(turn, job, pool.size());
    return;
  }
  Announce(turn, job, BuildMembership(std::move(pool), origin, boundary, MicroBatches(job), NextGeneration(job)),
           origin, views);
}

}  // namespace rekindle::core
