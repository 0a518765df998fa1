#include "coordinator/fleet/providers/driving/reconcile.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/text/printable.h"

namespace rekindle::fleet {
namespace {

constexpr size_t kLongestError = 500;

core::PoolTrouble KindOf(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) return core::PoolTrouble::kNoCapacity;
  return RetryAfter(status) ? core::PoolTrouble::kThrottled : core::PoolTrouble::kFailed;
}

std::string Shown(const absl::Status& status) {
  return common::Printable({status.message().data(), status.message().size()}, kLongestError);
}

constexpr size_t kMostKnown = size_t{2} * kMaxMachines;

bool Ends(const Machine& machine) { return machine.state == MachineState::kEnding; }

int Running(const Listing& listing) {
  return static_cast<int>(std::count_if(listing.machines.begin(), listing.machines.end(),
                                        [](const Machine& m) { return m.state == MachineState::kRunning; }));
}

}  // namespace

void PoolReconciler::Order(core::PoolOrder order, double now) {
  const bool same = order_ && order_->nodes == order.nodes && order_->release == order.release &&
                    order_->end == order.end && order_->surplus == order.surplus;
  const bool looks =
      order.look_for != (order_ ? order_->look_for : std::vector<std::string>()) && !order.look_for.empty();
  order_ = std::move(order);
  answered_ = false;
  if (looks) list_at_ = now;
  // An order that repeats the one before makes the reconciler list the machines sooner, but the provider is still asked
  // for a listing at most once in a third of `poll_seconds`.
  if (same) {
    list_at_ = std::min(list_at_, std::max(now, listed_at_ + options_.poll_seconds / 3));
    return;
  }
  ++order_count_;
  is_fresh_ = false;
  if (!order_->end.empty()) list_at_ = now;
  set_ = false;
  set_at_ = now;
  set_failures_ = 0;
  set_trouble_ = shortage_ = {};
  short_since_.reset();
}

int PoolReconciler::Machines() const {
  const auto& all = listing_->machines;
  return static_cast<int>(all.size() - static_cast<size_t>(std::count_if(all.begin(), all.end(), Ends)));
}

// Returns whether another cluster may have ordered the machines that run in the pool.
bool PoolReconciler::IsNotOurs() const {
  const bool allowed = order_ && order_->surplus != core::Surplus::kIsOthers;
  return !allowed && !ever_set_ && listing_ && Machines() > 0;
}

std::optional<int> PoolReconciler::Desired() const {
  if (IsNotOurs()) return std::nullopt;
  if (!order_) return listing_ && Machines() < options_.min ? std::optional(options_.min) : std::nullopt;
  const int nodes = std::clamp(order_->nodes, options_.min, options_.max);
  const bool stays = order_->surplus == core::Surplus::kStays;
  if (stays && listing_ && nodes <= std::max(Machines(), listing_->desired.value_or(0))) return std::nullopt;
  return nodes;
}

// Returns the nodes whose machines have to be ended by name: those in order.end whose machines are still in the pool
// and do not end yet.
std::vector<std::string> PoolReconciler::ToEnd() const {
  std::vector<std::string> nodes;
  if (!order_ || !listing_ || !is_fresh_ || !options_.chooses_what_ends || IsNotOurs()) return nodes;
  for (const Machine& machine : listing_->machines) {
    const bool named = std::find(order_->end.begin(), order_->end.end(), machine.node) != order_->end.end();
    if (named && !machine.node.empty() && !Ends(machine)) nodes.push_back(machine.node);
  }
  return nodes;
}

// Returns what to ask the provider for next. Machines whose nodes never registered (order.end) are ended first: they
// are named, and the capacity is lowered by their number. After that the capacity is raised again, so that other
// machines come.
std::optional<PoolReconciler::Target> PoolReconciler::CurrentTarget() const {
  if (!listing_) return std::nullopt;
  const std::optional<int> desired = Desired();
  const std::vector<std::string> end = ToEnd();
  if (end.empty() && !desired) return std::nullopt;
  Target target{.nodes = desired.value_or(kMaxMachines), .release = end};
  if (!end.empty()) target.nodes = std::min(target.nodes, Machines() - static_cast<int>(end.size()));
  if (order_) target.release.insert(target.release.end(), order_->release.begin(), order_->release.end());
  return target;
}

PoolReconciler::Next PoolReconciler::next() const {
  Next next{.at = std::max(list_at_, wait_until_), .order_count = order_count_};
  for (const std::string& node : order_ ? order_->look_for : std::vector<std::string>()) {
    if (known_.count(node) != 0) next.look_for.push_back(node);
  }
  const double set_at = std::max(set_at_, wait_until_);
  const bool must_look = order_ && !order_->end.empty() && !is_fresh_;
  const std::optional<Target> target = CurrentTarget();
  if (set_ || must_look || !target || set_at > next.at) return next;
  next.set = true;
  next.look_for.clear();
  next.at = set_at;
  next.nodes = target->nodes;
  next.release = target->release;
  return next;
}

double PoolReconciler::After(const absl::Status& status, int failures, double now, double random) {
  const double pause = common::BackoffSeconds(options_.backoff, failures, random);
  if (const auto asked = RetryAfter(status)) wait_until_ = now + std::max(*asked, pause);
  return now + pause;
}

std::optional<core::PoolReported> PoolReconciler::Set(const Next& asked, const absl::Status& status, double now,
                                                      double random) {
  list_at_ = now;
  if (asked.order_count != order_count_) {
    if (!status.ok()) (void)After(status, 1, now, random);
    return std::nullopt;
  }
  set_ = status.ok();
  if (status.ok()) {
    ever_set_ = true;
    asked_nodes_ = asked.nodes;
    asked_at_ = now;
  }
  set_failures_ = status.ok() ? 0 : set_failures_ + 1;
  set_trouble_ = {};
  if (!status.ok()) {
    set_at_ = After(status, set_failures_, now, random);
    set_trouble_ = {KindOf(status), Shown(status)};
  }
  // A provider that lacks capacity may have granted a part of the order. So the refusal is only reported with the next
  // listing, which shows the granted part.
  if (set_trouble_.kind == core::PoolTrouble::kNoCapacity) return std::nullopt;
  return Report(now);
}

std::optional<core::PoolReported> PoolReconciler::Listed(const absl::StatusOr<Listing>& listing, double now,
                                                         double random) {
  absl::Status status = listing.status();
  if (listing.ok() && listing->machines.size() > static_cast<size_t>(kMaxMachines)) {
    status = absl::InternalError(absl::StrCat("the provider tells of ", listing->machines.size(), " machines"));
  }
  if (!status.ok()) {
    list_at_ = After(status, ++list_failures_, now, random);
    list_trouble_ = {KindOf(status), Shown(status)};
    return Report(now);
  }
  list_failures_ = 0;
  list_trouble_ = {};
  listing_ = *listing;
  listed_at_ = now;
  is_fresh_ = true;
  if (known_.size() > kMostKnown) known_.clear();
  for (const Machine& machine : listing_->machines) {
    if (!machine.node.empty()) known_.insert(machine.node);
  }
  const std::optional<int> desired = Desired();
  const int believed = listing_->desired.value_or(Machines());
  const std::optional<Target> target = CurrentTarget();
  // The provider's capacity may differ from the target because the provider forgot the order, because somebody else
  // changed the capacity, or because named machines have ended and others may come now. SetDesired is then called
  // again.
  if (target && set_ && believed != target->nodes) {
    set_ = false;
    if (target->nodes == asked_nodes_) set_at_ = std::max(set_at_, asked_at_ + options_.poll_seconds / 3);
  }
  if (desired && set_failures_ > 0 && believed == *desired && Running(*listing_) >= *desired) {
    // The provider refused the order, but the ordered machines run now, so SetDesired need not be tried again.
    set_ = true;
    set_failures_ = 0;
    set_trouble_ = {};
  }
  if (!desired || Running(*listing_) >= *desired) {
    short_since_.reset();
  } else if (!short_since_) {
    short_since_ = now;
  }
  shortage_ = Shortage(now);
  const bool settled = set_trouble_.error.empty() && !short_since_ && (!desired || Machines() == *desired) &&
                       (!order_ || order_->look_for.empty());
  list_at_ = now + (settled ? options_.poll_seconds : options_.poll_seconds / 3);
  return Report(now);
}

PoolReconciler::Trouble PoolReconciler::Shortage(double now) const {
  if (!short_since_) return {};
  if (!listing_->shortage.ok() && Machines() < *Desired()) {
    return {KindOf(listing_->shortage), Shown(listing_->shortage)};
  }
  if (now - *short_since_ <= options_.start_seconds) return {};
  return {core::PoolTrouble::kNoCapacity,
          absl::StrCat("for ", static_cast<int>(now - *short_since_), " s ", Running(*listing_), " of ", *Desired(),
                       " nodes run, though the provider has not refused them", listing_->waiting.empty() ? "" : ": ",
                       common::Printable(listing_->waiting, kLongestError))};
}

std::optional<core::PoolReported> PoolReconciler::Report(double now) {
  core::PoolReported report{.pool = options_.pool};
  for (const Machine& machine : listing_ ? listing_->machines : std::vector<Machine>()) {
    if (Ends(machine)) continue;
    ++report.running;
    report.machines.push_back({.id = machine.id,
                               .node = machine.node,
                               .running = machine.state == MachineState::kRunning,
                               .since = machine.since});
  }
  std::sort(report.machines.begin(), report.machines.end(),
            [](const core::PoolMachine& a, const core::PoolMachine& b) { return a.id < b.id; });
  report.listed = listing_.has_value();
  report.not_ours = IsNotOurs();
  if (listing_ && order_) {
    const auto& ended = listing_->ended;
    std::copy_if(order_->look_for.begin(), order_->look_for.end(), std::back_inserter(report.ended),
                 [&](const std::string& node) { return std::find(ended.begin(), ended.end(), node) != ended.end(); });
  }
  for (const Trouble* trouble : {&list_trouble_, &set_trouble_, &shortage_}) {
    if (trouble->kind == core::PoolTrouble::kNone) continue;
    report.trouble = trouble->kind;
    report.error = trouble->error;
    break;
  }
  // A report that differs only in the text of its error is not sent, because the text may contain a time such as "N s
  // ago".
  const bool same = reported_ && reported_->running == report.running && reported_->machines == report.machines &&
                    reported_->not_ours == report.not_ours && reported_->trouble == report.trouble &&
                    reported_->ended == report.ended;
  if (same && answered_) return std::nullopt;
  if (report.trouble != core::PoolTrouble::kNone) report.retry_after = std::max(0.0, next().at - now);
  answered_ = true;
  reported_ = report;
  return report;
}

}  // namespace rekindle::fleet
