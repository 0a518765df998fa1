#include "coordinator/fleet/providers/local/local.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/digest/hash.h"
#include "common/files/file.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::fleet {
namespace {

constexpr double kLongestWait = 60;
constexpr double kLongestNotice = 86400;
// The file by which a local machine gets a preemption notice has at most `kMaxNotice` bytes.
constexpr size_t kMaxNotice = 256;
constexpr size_t kMaxEndpoint = 256;

}  // namespace

absl::StatusOr<std::unique_ptr<LocalProvider>> LocalProvider::Open(const LocalOptions& options) {
  std::unique_ptr<LocalProvider> self(new LocalProvider(options));
  for (const char* folder : {"/nodes", "/logs", "/pools"}) {
    if (absl::Status status = MakeFolder(options.folder + folder); !status.ok()) return status;
  }
  {
    const common::MutexLock lock(self->mutex_);
    std::set<std::string> prefixes;
    for (auto& [name, pool] : self->pools_) {
      if (!prefixes.insert(pool.market.prefix).second) {
        return absl::InvalidArgumentError(absl::StrCat("pool ", name, ": its nodes would be called ",
                                                       pool.market.prefix,
                                                       "-1 and so on, as those of another pool: give it another name"));
      }
      if (absl::Status status = self->Load(pool); !status.ok()) return status;
      self->Adopt(pool);
    }
  }
  self->thread_ = std::thread([raw = self.get()] { raw->Watch(); });
  return self;
}

LocalProvider::LocalProvider(const LocalOptions& options) : options_(options), wake_(eventfd(0, EFD_CLOEXEC)) {
  for (const LocalPoolOptions& each : options_.pools) {
    Pool& pool = pools_[each.pool];
    pool.options = each;
    pool.market.prefix = NodePrefix(each.pool);
    pool.market.boot_seconds = each.boot_seconds;
  }
}

LocalProvider::~LocalProvider() {
  {
    const common::MutexLock lock(mutex_);
    stop_ = true;
  }
  Wake();
  if (thread_.joinable()) thread_.join();
}

void LocalProvider::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(wake_.get(), &one, sizeof one);
}

LocalNode LocalProvider::NodeOf(const Pool& pool, const std::string& node) const {
  const std::string folder = options_.folder + "/nodes/" + node;
  return {.folder = folder,
          .name = node,
          .coordinator = "",
          .pool = pool.options.pool,
          .memory = options_.memory,
          .shared_memory =
              absl::StrCat("/dev/shm/rekindle-", common::Xxh3_128Hex(options_.folder).substr(0, 12), "-", node),
          .notice_file = folder + "/notice",
          .programs = options_.programs};
}

std::string LocalProvider::StateFile(const Pool& pool) const {
  return absl::StrCat(options_.folder, "/pools/", pool.market.prefix);
}

absl::Status LocalProvider::Load(Pool& pool) {
  absl::StatusOr<LocalState> state = ReadLocalState(StateFile(pool));
  if (absl::IsNotFound(state.status())) state = LocalState{.began = common::WallSeconds()};
  if (!state.ok()) return state.status();
  pool.state = *state;
  pool.market.next_number = state->next_number;
  pool.market.notice_seconds = state->notice_seconds.value_or(pool.options.notice_seconds);
  Save(pool);
  return absl::OkStatus();
}

void LocalProvider::Save(Pool& pool) const {
  pool.state.next_number = pool.market.next_number;
  const absl::Status written = WriteLocalState(StateFile(pool), pool.state);
  if (written.ok()) return;
  log::Warning("the state of a local pool cannot be written",
               {{"pool", pool.options.pool}, {"error", std::string(written.message())}});
}

// Takes over the machines that an earlier coordinator started. A preemption notice that such a machine has remains in
// force.
void LocalProvider::Adopt(Pool& pool) {
  const auto names = common::PosixFileSystem()->List(options_.folder + "/nodes");
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    const int number = NodeNumber(name, pool.market.prefix);
    if (number == 0) continue;
    const LocalNode node = NodeOf(pool, name);
    auto found = MachineProcesses::Find(node, LogOf(name));
    if (!found.ok()) {
      KillNode(node.folder);
      continue;
    }
    LocalMachine machine{.number = number, .node = name, .started = true};
    const auto info = common::PosixFileSystem()->Stat(node.notice_file);
    const auto text = common::ReadFile(*common::PosixFileSystem(), node.notice_file, kMaxNotice);
    double seconds = 0;
    if (info.ok() && text.ok() && absl::SimpleAtod(text->substr(0, text->find('s')), &seconds)) {
      machine.ends_at = info->modified + seconds;
    }
    pool.market.machines.push_back(machine);
    pool.machines.emplace(name, *std::move(found));
    pool.market.next_number = std::max(pool.market.next_number, number + 1);
  }
  std::sort(pool.market.machines.begin(), pool.market.machines.end(),
            [](const LocalMachine& a, const LocalMachine& b) { return a.number < b.number; });
  // The machines of an earlier coordinator stay until an order says otherwise.
  pool.market.desired = pool.market.Staying();
}

void LocalProvider::Start(Pool& pool, const std::string& name, double now) {
  auto endpoint = common::ReadFile(*common::PosixFileSystem(), options_.endpoint_file, kMaxEndpoint);
  absl::Status status = endpoint.status();
  if (status.ok()) {
    LocalNode node = NodeOf(pool, name);
    node.coordinator = std::string(absl::StripAsciiWhitespace(*endpoint));
    auto started = MachineProcesses::Start(node, LogOf(name), common::SteadySeconds());
    status = started.status();
    if (status.ok()) pool.machines.insert_or_assign(name, *std::move(started));
  }
  if (status.ok()) return;
  log::Warning("a local machine did not start", {{"node", name}, {"error", std::string(status.message())}});
  Act(pool, fleet::Ended(pool.market, name, 0, now), now);
}

void LocalProvider::Act(Pool& pool, const std::vector<LocalAction>& actions, double now) {
  for (const LocalAction& action : actions) {
    const LocalNode node = NodeOf(pool, action.node);
    const auto machine = pool.machines.find(action.node);
    switch (action.verb) {
      case LocalVerb::kStart:
        log::Info("a local machine starts", {{"node", node.name}, {"pool", node.pool}});
        Start(pool, node.name, now);
        break;
      case LocalVerb::kNotice:
        log::Info("a local machine is told to go", {{"node", node.name}, {"seconds", action.seconds}});
        (void)common::WriteFileAtomic(
            *common::PosixFileSystem(), node.notice_file,
            absl::StrFormat("%.3fs the market of pool %s shrank\n", action.seconds, node.pool));
        break;
      case LocalVerb::kStop:
        log::Info("a local machine is given back", {{"node", node.name}});
        if (machine != pool.machines.end()) machine->second.Stop();
        break;
      case LocalVerb::kKill:
        log::Info("a local machine goes", {{"node", node.name}});
        if (machine != pool.machines.end()) machine->second.Kill();
        KillNode(node.folder);
        pool.machines.erase(action.node);
        ended_.NotifyAll();
        break;
    }
  }
}

// Does everything that is due in all pools, and returns when Turn has to be called again.
double LocalProvider::Turn(double now) {
  double next = now + kLongestWait;
  for (auto& [name, pool] : pools_) {
    std::map<std::string, double> ended;
    const double steady = common::SteadySeconds();
    for (auto& [node, machine] : pool.machines) {
      next = std::min(next, now + machine.Tend(steady) - steady);
      if (const auto lived = machine.Ended(steady)) ended.emplace(node, *lived);
    }
    for (const auto& [node, lived] : ended) Act(pool, fleet::Ended(pool.market, node, lived, now), now);
    const double elapsed = std::max(0.0, now - pool.state.began);
    const bool by_trace = !pool.state.nodes && !pool.options.trace.nodes.empty();
    pool.market.allowed = by_trace ? pool.options.trace.At(elapsed) : pool.state.nodes.value_or(pool.options.nodes);
    if (by_trace) next = std::min(next, now + pool.options.trace.UntilChange(elapsed));
    const int number = pool.market.next_number;
    const std::vector<LocalAction> actions = Advance(pool.market, now);
    // The number of a new machine must be saved before the machine exists, because its name must never be used again.
    if (pool.market.next_number != number) Save(pool);
    Act(pool, actions, now);
    next = std::min(next, NextWake(pool.market));
  }
  return next;
}

void LocalProvider::Watch() {
  for (;;) {
    std::vector<pollfd> watched = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    double wait = 0;
    {
      const common::MutexLock lock(mutex_);
      if (stop_) return;
      const double now = common::WallSeconds();
      wait = Turn(now) - now;
      for (const auto& [name, pool] : pools_) {
        for (const auto& [node, machine] : pool.machines) machine.Watch(&watched);
      }
    }
    poll(watched.data(), watched.size(), std::max(1, static_cast<int>(std::ceil(wait * 1000))));
    uint64_t count = 0;
    if (watched[0].revents != 0) [[maybe_unused]]
      const ssize_t ignored = read(wake_.get(), &count, sizeof count);
  }
}

absl::Status LocalProvider::SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                                       double) {
  const common::MutexLock lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return absl::NotFoundError(absl::StrCat("no local pool ", pool));
  const double now = common::WallSeconds();
  Act(found->second, fleet::SetDesired(found->second.market, nodes, release, now), now);
  Turn(now);
  Wake();
  if (found->second.market.allowed >= nodes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the market of pool ", pool, " lets ", found->second.market.allowed, " of ", nodes, " nodes run"));
}

absl::StatusOr<Listing> LocalProvider::List(const std::string& pool, double) {
  const common::MutexLock lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return absl::NotFoundError(absl::StrCat("no local pool ", pool));
  const LocalMarket& market = found->second.market;
  Listing listing{.desired = market.desired};
  for (const LocalMachine& machine : market.machines) {
    const MachineState state = machine.ends_at   ? MachineState::kEnding
                               : machine.started ? MachineState::kRunning
                                                 : MachineState::kStarting;
    listing.machines.push_back({.id = machine.node, .node = machine.node, .state = state, .since = machine.starts_at});
  }
  if (market.allowed < market.desired) {
    listing.shortage = absl::ResourceExhaustedError(
        absl::StrCat("the market of pool ", pool, " lets ", market.allowed, " of ", market.desired, " nodes run"));
  }
  return listing;
}

absl::Status LocalProvider::SetMarket(const std::string& pool, int nodes, std::optional<double> notice_seconds) {
  const common::MutexLock lock(mutex_);
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return absl::NotFoundError(absl::StrCat("no local pool '", pool, "' in the fleet file"));
  const double notice = notice_seconds.value_or(0);
  if (nodes < 0 || nodes > kMaxMachines || !(notice >= 0 && notice <= kLongestNotice)) {
    return absl::InvalidArgumentError(absl::StrCat("nodes: 0 to ", kMaxMachines, "; notice_seconds: 0 to a day"));
  }
  found->second.state.nodes = nodes;
  if (notice_seconds) found->second.state.notice_seconds = found->second.market.notice_seconds = *notice_seconds;
  Save(found->second);
  Wake();
  return absl::OkStatus();
}

void LocalProvider::EndAll(double seconds) {
  common::MutexLock lock(mutex_);
  const double now = common::WallSeconds();
  for (auto& [name, pool] : pools_) {
    Act(pool, fleet::SetDesired(pool.market, 0, {}, now), now);
  }
  Wake();
  const auto gone = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::all_of(pools_.begin(), pools_.end(), [](const auto& each) { return each.second.machines.empty(); });
  };
  if (ended_.WaitFor(lock, std::chrono::duration<double>(seconds), gone)) return;
  for (auto& [name, pool] : pools_) {
    while (!pool.machines.empty()) Act(pool, {{LocalVerb::kKill, std::string(pool.machines.begin()->first)}}, now);
    pool.market.machines.clear();
  }
}

}  // namespace rekindle::fleet
