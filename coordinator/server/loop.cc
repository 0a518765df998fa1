#include "coordinator/server/loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace rekindle::coordinator {
namespace {

constexpr double kListeningPollSeconds = 1;  // Less than agents wait for an answer.
constexpr double kClockMoved = 0.1;          // Less is of how clocks are read, or corrected all the time.
constexpr double kShortestTick = 0.001;      // The core's next wish may be now; never spin on it.

double Wait(int wait_ms) { return std::clamp(wait_ms / 1e3, 0.0, Loop::kMaxWaitSeconds); }

// What waits for a person, and what is lost. docs/costs.md lists them.
bool IsAlert(const v1::Event& event) {
  static const std::set<std::string> kinds = {
      "disk_reserve_used", "disk_reserve_missing", "arithmetic_differs", "budget_alert", "budget_stop",
      "burn_rate",         "checkpoint_damaged",   "checkpoint_missing", "data_differs", "finishing",
      "final_state_lost",  "retries_stop",         "finishing_alert",    "steps_lost",   "pool_avoided",
      "pool_not_ours",     "pool_names_differ"};
  return kinds.contains(event.kind());
}

}  // namespace

Loop::Loop(StateStore* store, common::Metrics* metrics, Options options)
    : store_(store),
      options_(std::move(options)),
      commit_seconds_(metrics->Histogram("rekindle_state_store_commit_seconds",
                                         "Time of a transaction of the coordinator's database.")),
      commit_failures_(metrics->Counter("rekindle_state_store_commit_failures_total",
                                        "Transactions of the coordinator's database that failed.")),
      crowded_out_(metrics->Counter("rekindle_crowded_out_total",
                                    "Trainers, nodes, refusals and things told that full lists have forgotten.")),
      job_files_(options_.identity),
      cluster_(options_.tunables),
      journal_(store),
      job_metrics_(metrics) {}

absl::Status Loop::Stopped() { return absl::UnavailableError("the coordinator is stopping: try again"); }

double Loop::now() const { return options_.clocks.steady(); }

double Loop::core_now() const { return (failing() ? failed_since_ : now()) - stalled_; }

absl::Status Loop::Start() {
  absl::StatusOr<core::Restored> restored = journal_.Load();
  if (!restored.ok()) return restored.status();
  if (absl::Status loaded = job_metrics_.totals().Load(*store_); !loaded.ok()) return loaded;
  {
    const std::lock_guard lock(mutex_);
    ended_ = superseded_;
  }
  if (!ended_.ok()) {  // What its records say is nobody's business any more.
    thread_ = std::thread([this] { Run(); });
    return absl::OkStatus();
  }
  asleep_ = Slept();
  restored->wall_offset = unix_offset_ = options_.clocks.wall() - now();
  restored->prices = options_.prices;
  restored->carbon = options_.carbon;
  restored->cluster = options_.identity.cluster;
  restored->epoch = {options_.identity.epoch, options_.identity.epoch_tag};
  restored->listen_first = options_.listen_seconds > 0;
  listens_until_ = now() + options_.listen_seconds;
  for (const v1::JobRecord& record : restored->jobs) {
    unpublished_.changed_jobs.insert(record.job().uid());
    job_metrics_.totals().Restore(record.job());
  }
  for (const v1::PoolRecord& record : restored->pools) unpublished_.pools[record.name()] = record;
  (void)Take(*std::move(restored));  // Nobody asked.
  Settle();
  CommitAndPublish();  // What restoring changed: who asks from now on is not answered from empty books.
  job_metrics_.totals().EndRestoring();
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

void Loop::Stop() {
  std::vector<Item> unserved;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    if (!thread_.joinable()) unserved.swap(queue_);
  }
  arrived_.notify_one();
  if (thread_.joinable()) return thread_.join();
  ended_ = Stopped();
  RefuseAll(std::move(unserved));
}

absl::Status Loop::Enqueue(Item& item) {
  std::lock_guard lock(mutex_);
  if (stop_) return Stopped();
  if (!superseded_.ok()) return superseded_;
  if (queue_.size() >= kMaxQueue) return absl::UnavailableError("the coordinator has too much to do: try again");
  queue_.push_back(std::move(item));
  arrived_.notify_one();
  return absl::OkStatus();
}

void Loop::Sync(v1::TrainerReport report, TrainerPolls::Reply reply) {
  const double deadline = now() + Wait(report.wait_ms());
  Item item = TrainerItem{std::move(report), std::move(reply), deadline};
  if (absl::Status queued = Enqueue(item); !queued.ok()) std::get<TrainerItem>(item).reply(queued);
}

void Loop::Sync(v1::NodeReport report, NodePolls::Reply reply, NodePolls::Alive alive) {
  const double deadline = now() + Wait(report.wait_ms());
  Item item = NodeItem{std::move(report), std::move(reply), std::move(alive), deadline};
  if (absl::Status queued = Enqueue(item); !queued.ok()) std::get<NodeItem>(item).reply(queued);
}

void Loop::Apply(Mutation mutation) {
  Item item = std::move(mutation);
  if (absl::Status queued = Enqueue(item); !queued.ok()) std::get<Mutation>(item).done(queued);
}

void Loop::SetPrices(core::PriceBook prices) {
  Apply({"", "SetPrices", [prices = std::move(prices)] { return core::Event(core::PricesSet{prices}); },
         [] { return std::string(); },
         [](const absl::StatusOr<std::string>& done) {
           if (!done.ok()) log::Error("the prices are not set", {{"error", std::string(done.status().message())}});
         }});
}

void Loop::HearPrice(core::PriceHeard heard) {
  Apply({"", "HearPrice", [heard = std::move(heard)] { return core::Event(heard); }, [] { return std::string(); },
         [](const absl::StatusOr<std::string>& done) {
           if (!done.ok()) log::Warning("a price is not heard", {{"error", std::string(done.status().message())}});
         }});
}

void Loop::SetCarbon(core::CarbonBook carbon) {
  Apply({"", "SetCarbon", [carbon = std::move(carbon)] { return core::Event(core::CarbonSet{carbon}); },
         [] { return std::string(); },
         [](const absl::StatusOr<std::string>& done) {
           if (!done.ok())
             log::Warning("carbon intensity is not set", {{"error", std::string(done.status().message())}});
         }});
}

void Loop::Report(core::PoolReported report) {
  Item item = std::move(report);
  if (absl::Status queued = Enqueue(item); !queued.ok()) {
    log::Warning("what a provider says is not heard", {{"error", std::string(queued.message())}});
  }
}

absl::Status Loop::Post(std::function<void()> task) {
  Item item = std::move(task);
  return Enqueue(item);
}

void Loop::Supersede(std::vector<Write> writes, const std::string& why, std::function<void()> done) {
  const std::lock_guard lock(mutex_);
  superseded_ = absl::FailedPreconditionError(why);
  queue_.push_back(Task([this, writes = std::move(writes), done = std::move(done)] {
    journal_.Add(writes);
    on_silent_ = done;
  }));
  arrived_.notify_one();
}

void Loop::Run() {
  while (true) {
    std::vector<Item> items;
    {
      std::unique_lock lock(mutex_);
      const double wake = NextWake();
      const auto ready = [this] { return stop_ || !queue_.empty(); };
      if (wake == kForever) {
        arrived_.wait(lock, ready);
      } else {
        arrived_.wait_for(lock, std::chrono::duration<double>(std::max(0.0, wake - now())), ready);
      }
      items.swap(queue_);
      if (stop_) ended_ = Stopped();
      if (!stop_ && !superseded_.ok()) ended_ = superseded_;
    }
    if (absl::IsUnavailable(ended_)) return EndWith(std::move(items));
    if (!ended_.ok()) {
      BeSilent(std::move(items));
    } else {
      Turn(std::move(items));
    }
  }
}

void Loop::Turn(std::vector<Item> items) {
  if (failing() && now() >= retry_at_) CommitAndPublish();
  if (failing()) {
    Hold(std::move(items));
  } else {
    FollowClocks();
    std::vector<Item> all = std::exchange(held_, {});
    for (Item& item : items) all.push_back(std::move(item));
    for (Item& item : all) std::visit([this](auto& what) { Handle(what); }, item);
    if (cluster_.IsListening() && now() >= listens_until_) EndListening();
    // After the reports: time must not accuse whom a report in the queue acquits.
    if (core_now() >= wake_at_ && now() >= last_tick_ + kShortestTick) {
      last_tick_ = now();
      (void)Take(core::Tick{});
    }
    Settle();
    CommitAndPublish();
  }
  Expire();
  bulletin_.WakeDue(now());
}

void Loop::FollowClocks() {
  const double slept = Slept() - asleep_;
  const double offset = options_.clocks.wall() - now();
  const bool was_asleep = slept > kClockMoved;
  if (!was_asleep && stalled_ == told_stalled_ && std::abs(offset - unix_offset_) < kClockMoved) return;
  const double stood_still = (was_asleep ? slept : 0) + stalled_ - told_stalled_;
  if (was_asleep) asleep_ += slept;
  told_stalled_ = stalled_;
  unix_offset_ = offset;
  (void)Take(core::ClockSet{unix_offset_ + stalled_, stood_still});
}

void Loop::EndListening() {
  const auto [identity, writes] = options_.on_listened();
  journal_.Add(writes);
  job_files_.SetIdentity(identity);
  (void)Take(core::ListenedFirst{{identity.epoch, identity.epoch_tag}});
  log::Info("listened long enough: decisions begin");
}

void Loop::Handle(TrainerItem& item) {
  const TrainerKey key(item.report.job_uid(), item.report.trainer());
  const int32_t known_revision = item.report.known_revision();
  unpublished_.touched_jobs.insert(key.first);
  (void)Take(core::TrainerReported{std::move(item.report)});  // Its directive says what is wrong with it.
  trainer_polls_.Add(key, known_revision, item.deadline, std::move(item.reply));
}

void Loop::Handle(NodeItem& item) {
  const NodeKey key(item.report.node(), item.report.agent_incarnation());
  const int32_t known_revision = item.report.known_revision();
  item.report.clear_logs();  // Earlier agents send lines so.
  unpublished_.touched_nodes.insert(key.first);
  const std::string rival = cluster_.RivalOf(key.first, key.second);
  const bool alone = !rival.empty() && !node_polls_.AnyAlive({key.first, rival});
  (void)Take(core::NodeReported{std::move(item.report), alone});
  // Nobody is told anything, so that nobody asks again at once.
  if (cluster_.IsListening()) item.deadline = std::max(item.deadline, now() + kListeningPollSeconds);
  if (!cluster_.RivalOf(key.first, key.second).empty()) {
    item.deadline = std::min(item.deadline, now() + kUndecidedSeconds);
  }
  node_polls_.Add(key, known_revision, item.deadline, std::move(item.reply), std::move(item.alive));
}

void Loop::Handle(Mutation& mutation) {
  if (!mutation.request_id.empty()) {
    // A repetition is answered as the first was, which may be of this very turn.
    if (unpublished_.requests.count(mutation.request_id) > 0) Settle();
    if (const v1::RequestRecord* seen = journal_.FindRequest(mutation.request_id)) {
      if (seen->call() == mutation.call) return Answer(mutation, seen->reply());
      return Answer(mutation,
                    absl::InvalidArgumentError(absl::StrCat("request_id: ", mutation.request_id,
                                                            " was used for another call: use a new one for each")));
    }
  }
  const absl::StatusOr<core::Event> event = mutation.event();
  if (!event.ok()) return Answer(mutation, event.status());
  if (absl::Status status = Take(*event); !status.ok()) return Answer(mutation, status);
  if (!mutation.request_id.empty()) unpublished_.requests.insert(mutation.request_id);
  unpublished_.unanswered.push_back(std::move(mutation));
}

void Loop::Handle(core::PoolReported& report) {
  pools_.Reported(report);
  (void)Take(std::move(report));
}

absl::Status Loop::Take(const core::Event& event) {
  core::Effects effects;
  cluster_.Take(event, core_now(), &effects);
  journal_.Add(effects, now() + unix_offset_);
  unpublished_.leases.insert(unpublished_.leases.end(), effects.leases.begin(), effects.leases.end());
  unpublished_.changed_jobs.insert(effects.changed_jobs.begin(), effects.changed_jobs.end());
  AbsorbForgotten(effects);
  return effects.status;
}

void Loop::Settle() {
  core::Effects effects;
  cluster_.Settle(core_now(), &effects);
  Absorb(effects);
  unpublished_.requests.clear();
  for (Mutation& mutation : std::exchange(unpublished_.unanswered, {})) {
    absl::StatusOr<std::string> reply = mutation.answer();
    if (reply.ok() && !mutation.request_id.empty()) {
      v1::RequestRecord record;
      record.set_id(mutation.request_id);
      record.set_call(mutation.call);
      record.set_reply(*reply);
      record.set_at(now() + unix_offset_);
      journal_.Add(record);
    }
    Answer(mutation, std::move(reply));
  }
}

void Loop::Answer(Mutation& mutation, absl::StatusOr<std::string> reply) {
  unpublished_.answers.emplace_back(std::move(mutation.done), std::move(reply));
}

void Loop::Absorb(const core::Effects& effects) {
  journal_.Add(effects, now() + unix_offset_);
  AbsorbForgotten(effects);
  wake_at_ = effects.wake_at;
  unpublished_.leases.insert(unpublished_.leases.end(), effects.leases.begin(), effects.leases.end());
  unpublished_.orders.insert(unpublished_.orders.end(), effects.orders.begin(), effects.orders.end());
  for (const v1::PoolRecord& pool : effects.save_pools) unpublished_.pools[pool.name()] = pool;
  unpublished_.changed_jobs.insert(effects.changed_jobs.begin(), effects.changed_jobs.end());
  unpublished_.touched_jobs.insert(effects.touched_jobs.begin(), effects.touched_jobs.end());
  unpublished_.touched_all = unpublished_.touched_all || effects.all_touched;
}

void Loop::CommitAndPublish() {
  const std::vector<v1::Event> events = journal_.events();
  if (!journal_.empty()) {
    const double begun = now();
    const absl::Status committed = journal_.Commit();
    commit_seconds_.Observe(now() - begun);
    if (!committed.ok()) return CommitFailed(committed);
  }
  if (failing()) {
    log::Info("the state store can be written again");
    failure_ = absl::OkStatus();
    retry_after_ = 0;
    stalled_ += now() - failed_since_;
    if (cluster_.IsListening()) listens_until_ = now() + options_.listen_seconds;  // What came meanwhile was not kept.
    options_.on_serving(true);
  }
  for (const auto& [name, pool] : unpublished_.pools) pools_.Set(pool);
  PublishJobs(events);
  for (const core::PoolOrder& order : unpublished_.orders) pools_.Ordered(order);
  if (!unpublished_.orders.empty()) options_.on_orders(unpublished_.orders);
  for (auto& [done, reply] : unpublished_.answers) done(std::move(reply));
  CheckPolls();
  const std::vector<core::LeaseQuestion> leases = std::move(unpublished_.leases);
  unpublished_ = {};
  AnswerLeases(leases);
  core::Effects notices;
  notices.events = options_.take_notices();
  if (notices.events.empty()) return;
  journal_.Add(notices, now() + unix_offset_);
  CommitAndPublish();  // Each is taken once, so that this ends.
}

void Loop::AnswerLeases(const std::vector<core::LeaseQuestion>& questions) {
  if (questions.empty()) return;
  for (const core::LeaseQuestion& question : questions) {
    const double left = leases_.End(question.uid, question.generation, question.seconds);
    (void)Take(core::LeaseChecked{question.uid, question.generation, left});
    unpublished_.touched_jobs.insert(question.uid);
  }
  Settle();
  CommitAndPublish();  // Each is asked again only later, so that this ends.
}

void Loop::SetLease(const v1::JobRecord& record) {
  const double granted = record.granted_until();
  const bool is_limited = granted > 0 && !IsOver(record.job());
  leases_.SetSpending(record.job().uid(), is_limited ? std::optional(granted - (now() + unix_offset_)) : std::nullopt);
  const v1::JobState state = record.job().status().state();
  const bool stands =
      (state == v1::RUNNING || state == v1::FINISHING) && record.ended_generation() < record.membership().generation();
  if (!stands) return leases_.Forget(record.job().uid());
  leases_.Set(record.job().uid(), record.membership().generation(), record.membership().digest(), record.secret());
}

v1::TrainerDirective Loop::DirectiveForTrainer(const TrainerKey& key, int32_t known) {
  v1::TrainerDirective directive = cluster_.DirectiveForTrainer(key.first, key.second, known);
  const bool stands =
      directive.action() == v1::TrainerDirective::RUN || directive.action() == v1::TrainerDirective::YIELD;
  if (stands) leases_.Answered(key.first, directive.membership().generation());
  const std::optional<double> seconds = leases_.SpendSeconds(key.first);
  if (seconds) directive.set_spend_seconds(*seconds);
  return directive;
}

v1::NodeDirective Loop::DirectiveForAgent(const NodeKey& key, int32_t known) {
  v1::NodeDirective directive = cluster_.DirectiveForAgent(key.first, key.second, known);
  log_senders_.Told(key.first, directive);
  const core::Cluster::Horizons horizons = cluster_.HorizonsOf(key.first);
  directive.set_alone_seconds(horizons.alone_seconds);
  if (!std::isinf(horizons.spend_until)) {
    directive.set_spend_seconds(std::max(0.0, horizons.spend_until - (now() + unix_offset_)));
  }
  return directive;
}

void Loop::PublishJobs(const std::vector<v1::Event>& events) {
  for (const std::string& uid : unpublished_.changed_jobs) {
    const v1::JobRecord* record = cluster_.FindJob(uid);
    if (record == nullptr) continue;
    if (!cluster_.IsListening()) {
      SetLease(*record);
      job_files_.Set(*record, now() + unix_offset_);
    }
    const JobBoard::JobPointer before = jobs_.Find(uid);
    job_metrics_.Update(before.get(), record->job(), events, unix_now());
    jobs_.Set(record->job());
    bulletin_.Publish("job/" + uid);
  }
  ForgetJobs();
  for (const v1::Event& event : events) {
    const bool alert = IsAlert(event);
    log::Write(alert ? log::Level::kWarning : log::Level::kInfo, event.text(),
               {{"event", event.kind()},
                {"job", event.job()},
                {"generation", event.generation()},
                {"step", event.step()},
                {"node", event.node()}});
    if (alert) options_.on_alert(event);
  }
  if (!events.empty()) bulletin_.Publish("events");
}

void Loop::CheckPolls() {
  if (cluster_.IsListening()) return;
  const auto for_trainer = [this](const TrainerKey& key, int32_t known) { return DirectiveForTrainer(key, known); };
  const auto for_node = [this](const NodeKey& key, int32_t known) { return DirectiveForAgent(key, known); };
  if (unpublished_.touched_all) {
    trainer_polls_.CheckAll(for_trainer);
    return node_polls_.CheckAll(for_node);
  }
  for (const std::string& uid : unpublished_.touched_jobs) {
    trainer_polls_.CheckFrom(
        {uid, ""}, [&](const TrainerKey& key) { return key.first == uid; }, for_trainer);
  }
  if (!unpublished_.touched_jobs.empty()) {
    for (const std::string& name : cluster_.NodesOf(unpublished_.touched_jobs)) unpublished_.touched_nodes.insert(name);
  }
  for (const std::string& name : unpublished_.touched_nodes) {
    node_polls_.CheckFrom(
        {name, ""}, [&](const NodeKey& key) { return key.first == name; }, for_node);
  }
}

absl::Status Loop::WhySilent() const {
  if (failing()) return absl::UnavailableError(failure_.message());
  if (!cluster_.IsListening()) return absl::OkStatus();
  return absl::UnavailableError("the coordinator listens who lives before it decides: try again in some seconds");
}

void Loop::Expire() {
  const absl::Status unpublished = WhySilent();
  trainer_polls_.Expire(now(), [&](const TrainerKey& key, int32_t known) -> absl::StatusOr<v1::TrainerDirective> {
    if (!unpublished.ok()) return unpublished;
    return DirectiveForTrainer(key, known);
  });
  node_polls_.Expire(now(), [&](const NodeKey& key, int32_t known) -> absl::StatusOr<v1::NodeDirective> {
    if (!unpublished.ok()) return unpublished;
    return DirectiveForAgent(key, known);
  });
}

double Loop::NextWake() const {
  if (!ended_.ok()) return failing() ? retry_at_ : kForever;
  double wake = std::min({trainer_polls_.NextDeadline(), node_polls_.NextDeadline(), bulletin_.NextDue()});
  if (failing()) {
    for (const Item& item : held_) {
      if (const auto* trainer = std::get_if<TrainerItem>(&item)) wake = std::min(wake, trainer->deadline);
      if (const auto* node = std::get_if<NodeItem>(&item)) wake = std::min(wake, node->deadline);
    }
    return std::min(wake, retry_at_);
  }
  if (cluster_.IsListening()) return std::min(wake, listens_until_);
  return std::min(wake, std::max(wake_at_ + stalled_, last_tick_ + kShortestTick));
}

}  // namespace rekindle::coordinator
