#include "coordinator/core/machines/name_claims.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/certainty/certainty.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// At most this many other machines that report under one node's name are told apart.
constexpr size_t kMaxClaims = 8;
constexpr double kForgetSeconds = 60;
// A machine whose claim is not decided yet calls many times a second. So a machine with a claim that has been silent
// for more than this many seconds has gone.
constexpr double kSpeaksAgainSeconds = 3;
constexpr size_t kLongestKey = 600;
constexpr size_t kLongestVersion = 64;
constexpr char kAdvice[] = "give it a name of its own with --node";

enum class Sender { kNode, kStale, kOther };

Sender WhoSpeaks(const NodeState& node, const v1::NodeReport& report) {
  const v1::NodeRecord& record = node.record;
  if (record.incarnation().empty()) return Sender::kNode;
  if (record.incarnation() != report.incarnation()) return Sender::kOther;
  if (record.agent_incarnation() == report.agent_incarnation()) return Sender::kNode;
  // A home folder on a machine has one agent at a time. So where a new agent reports from the node's folder, the
  // earlier agent is dead, and only reports that it sent before may still arrive.
  if (record.home().empty() || record.home() != report.home()) return Sender::kOther;
  return node.past_agents.contains(report.agent_incarnation()) ? Sender::kStale : Sender::kNode;
}

std::string Where(const v1::NodeReport& report) {
  std::vector<std::string> parts;
  if (!report.heard_at().empty()) parts.push_back(absl::StrCat("at ", Bounded(report.heard_at())));
  if (!report.zone().empty()) parts.push_back(absl::StrCat("zone ", report.zone()));
  if (!report.version().empty()) parts.push_back(absl::StrCat("version ", Bounded(report.version(), kLongestVersion)));
  return parts.empty() ? "" : absl::StrCat(" (", absl::StrJoin(parts, ", "), ")");
}

std::string DescribeClaim(const NodeState& node, const NameClaim& claim) {
  return absl::StrCat("another machine", claim.where, " gives the name ", node.record.name(),
                      ", too: it runs nothing until this one", Where(node.report), " is gone; ", kAdvice);
}

std::string WhyRefused(const NodeState& node, const NameClaim& claim) {
  const std::string& name = node.record.name();
  const std::string waits = absl::StrCat("it runs nothing until that one is gone; ", kAdvice);
  return node.past_agents.contains(claim.agent)
             ? absl::StrCat("another machine", Where(node.report), " took the name ", name, " over from this one",
                            claim.where, ", which did not answer or had left: ", waits)
             : absl::StrCat("the name ", name, " is that of another machine", Where(node.report),
                            ", which lives; refused is this one", claim.where, ": ", waits);
}

void Refuse(Turn& turn, const NodeState& node, NameClaim& claim) {
  claim.refusal = WhyRefused(node, claim);
  turn.Emit(nullptr, "node_name_in_use", DescribeClaim(node, claim), node.record.name());
}

NameClaim& ClaimOf(NodeState& node, const v1::NodeReport& report) {
  const std::string home = report.home().empty() ? report.agent_incarnation() : report.home();
  const std::string machine = Bounded(absl::StrCat(report.incarnation(), " ", home), kLongestKey);
  const auto found = std::find_if(node.claims.begin(), node.claims.end(),
                                  [&](const NameClaim& claim) { return claim.machine == machine; });
  if (found != node.claims.end()) return *found;
  if (node.claims.size() >= kMaxClaims) {
    node.claims.erase(std::min_element(node.claims.begin(), node.claims.end(),
                                       [](const NameClaim& a, const NameClaim& b) { return a.heard < b.heard; }));
  }
  NameClaim& claim = node.claims.emplace_back();
  claim.machine = machine;
  return claim;
}

// Opens another machine's claim to the node's name, and probes the node.
void Open(Turn& turn, NodeState& node, const v1::NodeReport& report, NameClaim& claim) {
  claim.since = turn.now;
  claim.recorded = report.incarnation() == node.record.incarnation();
  claim.where = Where(report);
  // A machine that had the name before and lost it to the other one is refused without a probe, because the two must
  // not take turns.
  claim.answered = node.past_agents.contains(claim.agent);
  if (claim.answered) return;
  ++node.probe;
  if (node.asked_at <= node.heard) node.asked_at = turn.now;
  turn.state.watch_nodes_at = turn.now;
}

// Returns whether the node has drained and its agent was told to leave.
bool HasLeft(const NodeState& node) {
  return node.record.draining() && !node.record.drained_agent().empty() &&
         node.record.drained_agent() == node.record.agent_incarnation();
}

bool IsGone(const Turn& turn, const NodeState& node, const NameClaim& claim, bool alone) {
  if (node.lost || HasLeft(node)) return true;
  if (!claim.refusal.empty() || claim.again == kNever) return false;
  const Tunables& tunables = turn.state.tunables;
  if (node.reported) {
    const double patience = alone ? tunables.hung_up_seconds : tunables.name_seconds;
    // The node may have been probed before the other machine opened its claim. If the time to answer that probe was
    // over by then, the node gets no more time.
    const bool had_time = node.asked_at > node.heard && node.asked_at + patience <= claim.since;
    return had_time || turn.now >= claim.again + patience;
  }
  // The coordinator was restarted and knows the node from its record alone, because the node has not reported since.
  // The node gets time to report again before another machine may have its name.
  const double back_by = turn.state.started + tunables.reconnect_seconds;
  if (turn.now < std::max(claim.again, back_by) + tunables.name_seconds) return false;
  return claim.recorded || std::none_of(node.claims.begin(), node.claims.end(), [&](const NameClaim& other) {
           return other.recorded && other.heard >= turn.now - tunables.name_seconds;
         });
}

}  // namespace

bool IsTheNode(Turn& turn, NodeState& node, const NodeReported& event, const std::string& error) {
  const v1::NodeReport& report = event.report;
  const Sender sender = WhoSpeaks(node, report);
  if (sender != Sender::kOther) return sender == Sender::kNode;
  // Only a few claims to one name are kept. Where more machines than that report under the name, each new claim drops
  // an older one, whose machine opens it again with its next report. So that this emits no event each time, a claim is
  // refused at once when there are too many.
  const bool crowded = node.claims.size() >= kMaxClaims;
  NameClaim& claim = ClaimOf(node, report);
  claim.agent = report.agent_incarnation();
  claim.heard = turn.now;
  turn.state.watch_nodes_at = std::min(turn.state.watch_nodes_at, turn.now + kForgetSeconds);
  claim.error = error;
  if (error.empty() && claim.since == kNever) {
    Open(turn, node, report, claim);
    if (crowded) claim.refusal = WhyRefused(node, claim);
  } else if (error.empty() && claim.again == kNever) {
    claim.again = turn.now;
    if (claim.answered) Refuse(turn, node, claim);
  }
  // A claim is decided when its machine reports, so a machine that is gone by then does not take the name.
  if (!error.empty() || !IsGone(turn, node, claim, event.alone)) return false;
  node.past_agents.erase(claim.agent);
  node.claims.erase(node.claims.begin() + (&claim - node.claims.data()));
  return true;
}

bool IsElsewhere(const v1::NodeRecord& record, const v1::NodeReport& report) {
  if (record.incarnation().empty() || record.agent_incarnation() == report.agent_incarnation()) return false;
  return record.incarnation() != report.incarnation() ||
         (!record.home().empty() && !report.home().empty() && record.home() != report.home());
}

void RefuseClaims(Turn& turn, NodeState& node) {
  if (node.claims.empty()) return;
  std::erase_if(node.claims, [&](const NameClaim& claim) {
    return claim.refusal.empty() && claim.heard < turn.now - kSpeaksAgainSeconds;
  });
  for (NameClaim& claim : node.claims) {
    if (!claim.refusal.empty() || !claim.error.empty()) continue;
    claim.answered = true;
    if (claim.again != kNever) Refuse(turn, node, claim);
  }
}

double ForgetClaims(NodeState& node, double now) {
  std::erase_if(node.claims, [&](const NameClaim& claim) { return now >= claim.heard + kForgetSeconds; });
  double next = kNever;
  for (const NameClaim& claim : node.claims) next = std::min(next, claim.heard + kForgetSeconds);
  return next;
}

std::string DescribeClaims(const NodeState& node) {
  std::vector<std::string> all;
  for (const NameClaim& claim : node.claims) {
    if (!claim.refusal.empty() && claim.error.empty()) all.push_back(DescribeClaim(node, claim));
  }
  return absl::StrJoin(all, "; ");
}

const NameClaim* FindClaim(const NodeState& node, const std::string& agent) {
  for (const NameClaim& claim : node.claims) {
    if (claim.agent == agent) return &claim;
  }
  return nullptr;
}

bool MaySpeakFor(const NodeState& node, const std::string& agent) {
  if (node.record.incarnation().empty() || node.record.agent_incarnation() == agent) return true;
  // The report of a new agent of the node may have been refused, so that the node's record does not name this agent.
  // Then the node's error is meant for this agent.
  return !node.error.empty() && FindClaim(node, agent) == nullptr;
}

bool AwaitsDecision(const NodeState& node, const std::string& agent) {
  if (MaySpeakFor(node, agent)) return false;
  const NameClaim* claim = FindClaim(node, agent);
  return claim != nullptr && claim->refusal.empty() && claim->error.empty();
}

}  // namespace rekindle::core
