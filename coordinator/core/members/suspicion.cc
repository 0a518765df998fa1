#include "coordinator/core/members/suspicion.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

using Pair = std::pair<std::string, std::string>;

constexpr double kLongestExclusionSeconds = 300;
constexpr int kMaxPairs = 256;
constexpr int kMaxExclusions = 256;

Pair PairOf(const Charge& charge) {
  const std::string a = ShortName(charge.by), b = ShortName(charge.against);
  return {std::min(a, b), std::max(a, b)};
}

int AddFailure(v1::Suspicions& suspicions, const Pair& pair) {
  for (auto& known : *suspicions.mutable_pairs()) {
    if (known.a() != pair.first || known.b() != pair.second) continue;
    known.set_failures(known.failures() + 1);
    return known.failures();
  }
  if (suspicions.pairs_size() >= kMaxPairs) suspicions.mutable_pairs()->DeleteSubrange(0, 1);
  auto* added = suspicions.add_pairs();
  added->set_a(pair.first);
  added->set_b(pair.second);
  added->set_failures(1);
  return 1;
}

// Forgets the oldest exclusion of a node that has ended. Exclusions that still last are few, as each lasts for minutes
// only.
void ForgetEnded(google::protobuf::RepeatedPtrField<v1::Suspicions::Exclusion>& exclusions) {
  const auto ended = std::find_if(exclusions.begin(), exclusions.end(),
                                  [](const auto& exclusion) { return exclusion.seconds_left() <= 0; });
  if (ended != exclusions.end()) exclusions.erase(ended);
}

}  // namespace

std::vector<Charge> PrimaryCharges(const std::vector<Charge>& charges, const std::string& first) {
  std::vector<Charge> chosen;
  for (const auto kind : {v1::Accusation::UNREACHABLE, v1::Accusation::TIMEOUT}) {
    std::copy_if(charges.begin(), charges.end(), std::back_inserter(chosen),
                 [kind](const Charge& charge) { return charge.kind == kind; });
    if (!chosen.empty()) return chosen;
  }
  std::copy_if(charges.begin(), charges.end(), std::back_inserter(chosen),
               [&first](const Charge& charge) { return charge.by == first; });
  return chosen;
}

std::optional<std::vector<Charge>> FindCharges(const Job& job, const std::vector<MemberView>& views) {
  std::vector<Charge> charges;
  // Where several members were heard to have stopped at the same time, one that accuses nobody comes first: it has
  // stopped by itself, and the others have lost their connections to it.
  std::tuple<double, bool, std::string> first(kNever, true, "");
  for (const MemberView& view : views) {
    if (view.standing != Standing::kStopped) return std::nullopt;
    const v1::TrainerReport& report = view.trainer->report;
    if (report.generation() != job.record.membership().generation()) continue;
    first = std::min(first, {view.trainer->stopped_at, !report.accusations().empty(), view.member->trainer()});
    for (const v1::Accusation& accusation : report.accusations()) {
      charges.push_back({view.member->trainer(), accusation.trainer(), accusation.kind()});
    }
  }
  return PrimaryCharges(charges, std::get<std::string>(first));
}

std::optional<Removal> CountFailure(v1::Suspicions& suspicions, const std::vector<Charge>& primary,
                                    const v1::Membership& membership, const std::string& keep) {
  std::map<std::string, const v1::Member*> members;
  for (const v1::Member& member : membership.members()) members[ShortName(member.trainer())] = &member;
  std::map<Pair, std::set<std::string>> pairs;
  std::map<std::string, std::set<std::string>> accusers;
  for (const Charge& charge : primary) {
    if (charge.by == charge.against) continue;
    if (!members.count(ShortName(charge.by)) || !members.count(ShortName(charge.against))) continue;
    pairs[PairOf(charge)].insert(charge.by);
    accusers[ShortName(charge.against)].insert(charge.by);
  }
  std::optional<Removal> removal;
  std::tuple<size_t, int, int> worst;
  for (const auto& [pair, by] : pairs) {
    const int failures = AddFailure(suspicions, pair);
    if (failures < 2) continue;
    for (const auto& [name, other] : {pair, Pair{pair.second, pair.first}}) {
      const v1::Member& member = *members[name];
      if (member.trainer() == keep) continue;
      const std::tuple<size_t, int, int> key{accusers[name].size(), member.begin() - member.end(), member.rank()};
      if (removal && key <= worst) continue;
      worst = key;
      removal = Removal{member.trainer(), absl::StrCat("trainers ", pair.first, " and ", pair.second,
                                                       " could not reach each other ", failures, " times; ", name,
                                                       " is left out (accused by ", accusers[name].size(), ")")};
    }
  }
  return removal;
}

double Exclude(v1::Suspicions& suspicions, const std::string& node, double base) {
  v1::Suspicions::Exclusion* found = nullptr;
  for (auto& exclusion : *suspicions.mutable_exclusions()) {
    if (exclusion.node() == node) found = &exclusion;
  }
  if (found == nullptr) {
    if (suspicions.exclusions_size() >= kMaxExclusions) ForgetEnded(*suspicions.mutable_exclusions());
    found = suspicions.add_exclusions();
    found->set_node(node);
  }
  const double seconds = std::min(kLongestExclusionSeconds, base * std::pow(2.0, std::min(found->times(), 20)));
  found->set_times(found->times() + 1);
  found->set_seconds_left(seconds);
  return seconds;
}

}  // namespace rekindle::core
