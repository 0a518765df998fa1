#include "coordinator/core/members/survey.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "coordinator/core/certainty/certainty.h"
#include "coordinator/core/machines/directives.h"
#include "coordinator/core/state/fault_kind.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// Returns whether a member has stopped. A report from the newest generation settles it. A report from an older
// generation comes from a trainer that had not entered the newest generation before its end. Such a report counts once
// the trainer has seen that it has to wait.
bool HasStopped(const State& state, const Job& job, const Trainer& trainer) {
  const v1::TrainerReport& report = trainer.report;
  switch (report.phase()) {
    case v1::TRAINER_READY:
    case v1::TRAINER_INTERRUPTED:
    case v1::TRAINER_QUIESCED:
    case v1::TRAINER_FINISHED:
      break;
    default:
      return false;
  }
  if (report.phase() != v1::TRAINER_READY && report.generation() == job.record.membership().generation()) return true;
  if (job.active) return false;
  return trainer.waits || report.known_revision() == TrainerDirectiveFor(state, job, report.trainer()).revision();
}

struct Word {
  bool closed = false;
  // `waited` says that the charge is TIMEOUT or UNREACHABLE, so that the accuser has already waited for a deadline.
  bool waited = false;
  std::string by;
};

// Evidence is what the silent members of one survey are judged by. It is gathered once for all of them.
struct Evidence {
  double deadline = 0;
  // `against` maps an accused trainer to what other trainers say against it.
  std::unordered_map<std::string_view, Word> against;

  Word Against(const std::string& accused) const {
    const auto found = against.find(accused);
    return found == against.end() ? Word() : found->second;
  }
};

Evidence Gather(const Tunables& tunables, const Job& job) {
  Evidence evidence{.deadline = DeadlineSeconds(tunables, job), .against = {}};
  for (const v1::Member& member : job.record.membership().members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr || !trainer->reported) continue;
    if (trainer->report.generation() != job.record.membership().generation()) continue;
    for (const v1::Accusation& accusation : trainer->report.accusations()) {
      if (accusation.trainer() == member.trainer()) continue;
      Word& word = evidence.against[accusation.trainer()];
      (accusation.kind() == v1::Accusation::CLOSED ? word.closed : word.waited) = true;
      if (word.by.empty()) word.by = ShortName(member.trainer());
    }
  }
  return evidence;
}

// Returns the time since when the job waits for members that have not stopped. If all members were silent for a while,
// the wait begins at the earliest when the first of them is heard again, because before that none could be heard.
double WaitsSince(const Job& job) { return std::max(job.regroup.forming.since, job.regroup.heard_again); }

// Returns whether the node's agent has reported since the failure and lists the trainer as running.
bool AgentVouches(const State& state, const std::string& node, const std::string& trainer, double since) {
  const auto it = state.nodes.find(node);
  if (it == state.nodes.end() || it->second.heard <= since) return false;
  for (const v1::TrainerProcess& process : it->second.report.trainers()) {
    if (process.trainer() == trainer) return process.running();
  }
  return false;
}

bool AgentHeard(const State& state, const std::string& node, double since) {
  const auto it = state.nodes.find(node);
  return it != state.nodes.end() && it->second.heard > since;
}

std::string NotHeard(const MemberView& view) {
  return absl::StrCat("trainer ", ShortName(view.member->trainer()), " was not heard of any more");
}

void JudgeSilence(const State& state, const Job& job, const Evidence& evidence, MemberView& view) {
  const Tunables& tunables = state.tunables;
  const std::string name = ShortName(view.member->trainer());
  const double since = WaitsSince(job);
  const double deadline = evidence.deadline;
  const bool heard = view.trainer != nullptr && view.trainer->heard > since;
  const Word word = evidence.Against(view.member->trainer());
  view.by_silence = true;
  view.give_up_at = since + deadline;
  // `had_its_time` says that the member counted as gone before the others stopped.
  const bool had_its_time = GoneAt(state, job, view.trainer) <= since;
  const bool stayed_silent = had_its_time || (!heard && since == job.regroup.heard_again);
  view.kind = WordOf(stayed_silent ? FaultKind::kNodeKilled : FaultKind::kTrainerFrozen);
  view.cause =
      stayed_silent ? NotHeard(view) : absl::StrCat("trainer ", name, " did not answer within ", Seconds(deadline));
  if (had_its_time) {
    view.give_up_at = since;
  } else if (!heard && word.waited) {
    const double last = view.trainer != nullptr ? view.trainer->heard : -kNever;
    view.give_up_at = std::max(since + tunables.closed_grace_seconds, last + tunables.minimum_deadline_seconds / 2);
    view.cause = absl::StrCat("trainer ", name, " made no progress within the deadline (", word.by,
                              " waited for it) and is silent");
  } else if (!heard && word.closed) {
    if (AgentVouches(state, view.member->node(), view.member->trainer(), since)) {
      view.kind = WordOf(FaultKind::kTrainerKilled);
      view.cause =
          absl::StrCat("trainer ", name, " closed its connections and did not answer within ", Seconds(deadline));
    } else {
      view.give_up_at = since + tunables.closed_grace_seconds;
      const bool agent = AgentHeard(state, view.member->node(), since);
      view.kind = WordOf(agent ? FaultKind::kTrainerKilled : FaultKind::kNodeKilled);
      view.cause =
          absl::StrCat(agent ? "trainer " : "node ", agent ? name : view.member->node(), ": its connection to ",
                       word.by, " closed and ", agent ? "it did" : "neither its trainer nor its agent",
                       agent ? " not answer" : " answered", " within ", Seconds(tunables.closed_grace_seconds));
    }
  }
  if (state.restarted) view.give_up_at = std::max(view.give_up_at, state.started + tunables.reconnect_seconds);
}

}  // namespace

double DeadlineSeconds(const Tunables& tunables, const Job& job) {
  double p99 = 0;
  for (const v1::Member& member : job.record.membership().members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer != nullptr && trainer->reported) p99 = std::max(p99, trainer->report.step_seconds_p99());
  }
  return std::max(tunables.minimum_deadline_seconds, tunables.deadline_steps * p99);
}

double GoneAt(const State& state, const Job& job, const Trainer* trainer) {
  const bool known = trainer != nullptr && trainer->reported;
  double heard = std::max(state.started, job.regroup.heard_again);
  if (known) heard = std::max(heard, trainer->heard);
  const double wait = known ? PollSeconds(trainer->report.wait_ms()) : 0;
  return heard + wait + state.tunables.node_lost_seconds;
}

double GivenUpAt(const State& state, const Job& job, const Trainer* trainer) {
  constexpr double kStuckFactor = 6;
  return std::min(GoneAt(state, job, trainer), WaitsSince(job) + kStuckFactor * state.tunables.node_lost_seconds);
}

std::string DescribeInterruption(const Trainer& trainer) {
  std::vector<std::string> words;
  for (const v1::Accusation& accusation : trainer.report.accusations()) {
    if (words.size() >= 3) break;
    const char* what = accusation.kind() == v1::Accusation::CLOSED    ? " closed its connection"
                       : accusation.kind() == v1::Accusation::TIMEOUT ? " made no progress in time"
                                                                      : " could not be reached";
    words.push_back(ShortName(accusation.trainer()) + what);
  }
  if (words.empty() && !trainer.report.error().empty()) words.push_back(Bounded(trainer.report.error()));
  return absl::StrCat("trainer ", ShortName(trainer.report.trainer()), " was interrupted", words.empty() ? "" : ": ",
                      JoinWords(words));
}

std::vector<MemberView> SurveyMembers(const State& state, const Job& job) {
  std::vector<MemberView> views;
  views.reserve(job.record.membership().members_size());
  std::optional<Evidence> evidence;
  for (const v1::Member& member : job.record.membership().members()) {
    MemberView view;
    view.member = &member;
    view.trainer = FindTrainer(job, member.trainer());
    view.gone_at = job.active ? GoneAt(state, job, view.trainer) : GivenUpAt(state, job, view.trainer);
    if (view.trainer != nullptr && IsMemberGone(job, *view.trainer)) {
      view.standing = Standing::kDead;
      view.kind = view.trainer->death_kind;
      view.cause = view.trainer->death;
    } else if (!job.regroup.forming.removed.empty() && job.regroup.forming.removed == member.trainer()) {
      view.standing = Standing::kDead;
      view.kind = WordOf(FaultKind::kExcluded);
      view.cause = job.regroup.forming.removed_reason;
    } else if (view.trainer != nullptr && view.trainer->reported && HasStopped(state, job, *view.trainer)) {
      view.standing = Standing::kStopped;
    } else {
      if (!job.active) {
        if (!evidence) evidence = Gather(state.tunables, job);
        JudgeSilence(state, job, *evidence, view);
      }
      if (view.trainer != nullptr && view.trainer->left_out) view.standing = Standing::kLeftOut;
    }
    views.push_back(std::move(view));
  }
  return views;
}

void LeaveOutSilent(const State& state, const Job& job, double now, std::vector<MemberView>& views) {
  for (MemberView& view : views) {
    // The digest of a member that has finished counts, whatever becomes of it.
    if (view.standing != Standing::kStopped || view.trainer->report.phase() == v1::TRAINER_FINISHED) continue;
    if (now < GoneAt(state, job, view.trainer)) continue;
    view.standing = Standing::kLeftOut;
    view.kind = WordOf(FaultKind::kNodeKilled);
    view.cause = NotHeard(view);
    view.by_silence = true;
  }
}

}  // namespace rekindle::core
