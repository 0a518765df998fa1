#include "coordinator/server/loop/loop.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"

namespace rekindle::coordinator {
namespace {

// While the coordinator only listens, polls of agents last at least `kListeningPollSeconds` seconds. Agents wait longer
// than that for an answer.
constexpr double kListeningPollSeconds = 1;
// The core may ask for its next tick at once. At least `kShortestTick` seconds pass between two ticks, so that the loop
// does not run without a pause.
constexpr double kShortestTick = 0.001;

}  // namespace

Loop::Loop(StateStore* store, common::Metrics* metrics, Options options)
    : store_(store),
      options_(std::move(options)),
      commit_seconds_(metrics->Histogram("rekindle_state_store_commit_seconds",
                                         "Time of a transaction of the coordinator's database.")),
      commit_failures_(metrics->Counter("rekindle_state_store_commit_failures_total",
                                        "Transactions of the coordinator's database that failed.")),
      clock_(options_.clocks),
      inbox_(&clock_),
      cluster_(options_.tunables),
      journal_(store),
      published_(options_.clocks.boot, options_.identity, metrics),
      decisions_(&cluster_, &journal_, &clock_, &published_, metrics),
      publisher_(&cluster_, &clock_, &published_, options_.on_alert, options_.on_forgotten),
      polls_(&cluster_, &clock_, &published_.leases) {}

absl::Status Loop::Start() {
  ended_ = inbox_.queue().superseded();
  if (absl::Status restored = Restore(); !restored.ok()) return restored;
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

absl::Status Loop::Restore() {
  JobTotals& totals = published_.job_metrics.totals();
  absl::StatusOr<core::Restored> restored = journal_.Load();
  if (!restored.ok()) return restored.status();
  if (absl::Status loaded = totals.Load(*store_); !loaded.ok()) return loaded;
  // A superseded coordinator must not act on what its records say.
  if (!ended_.ok()) return absl::OkStatus();
  restored->wall_offset = clock_.Begin();
  restored->prices = options_.prices;
  restored->carbon = options_.carbon;
  restored->cluster = options_.identity.cluster;
  restored->epoch = {options_.identity.epoch, options_.identity.epoch_tag};
  restored->listen_first = options_.listen_seconds > 0;
  listens_until_ = now() + options_.listen_seconds;
  Unpublished& unpublished = decisions_.unpublished();
  for (const v1::JobRecord& record : restored->jobs) {
    unpublished.changed_jobs.insert(record.job().uid());
    totals.Restore(record.job());
  }
  for (const v1::PoolRecord& record : restored->pools) unpublished.pools[record.name()] = record;
  // Nobody waits for the status of the event that restores the core.
  (void)decisions_.Take(*std::move(restored));
  decisions_.Decide();
  // Calls are answered from what was published, which is nothing so far. So the restored jobs and pools are published
  // now, with the first transaction.
  CommitAndPublish();
  totals.EndRestoring();
  return absl::OkStatus();
}

void Loop::Stop() {
  inbox_.queue().Stop();
  if (thread_.joinable()) return thread_.join();
  ItemQueue::Taken unserved = inbox_.queue().Await(0);
  ended_ = unserved.ended;
  RefuseAll(std::move(unserved.items));
}

void Loop::Run() {
  while (true) {
    const double wake = NextWake();
    ItemQueue::Taken taken = inbox_.queue().Await(wake - now());
    ended_ = taken.ended;
    if (absl::IsUnavailable(ended_)) return EndWith(std::move(taken.items));
    if (!ended_.ok()) {
      BeSilent(std::move(taken.items));
    } else {
      Turn(std::move(taken.items));
    }
  }
}

void Loop::Turn(std::vector<LoopItem> items) {
  if (outage_.lasts() && outage_.MayTry(now())) CommitAndPublish();
  if (outage_.lasts()) {
    held_.Hold(std::move(items), WhyNoChange());
    held_.Expire(now(), absl::UnavailableError(outage_.error().message()));
  } else {
    if (const auto moved = clock_.Follow()) (void)decisions_.Take(*moved);
    std::vector<LoopItem> all = held_.Take();
    for (LoopItem& item : items) all.push_back(std::move(item));
    for (LoopItem& item : all) std::visit([this](auto& what) { Handle(what); }, item);
    if (cluster_.IsListening() && now() >= listens_until_) EndListening();
    // The core is told the time only after the reports, because a report in the queue may prove that a silent node or
    // trainer lives.
    if (core_now() >= decisions_.wake_at() && now() >= last_tick_ + kShortestTick) {
      last_tick_ = now();
      (void)decisions_.Take(core::Tick{});
    }
    decisions_.Decide();
    CommitAndPublish();
  }
  polls_.Expire(WhySilent());
  published_.bulletin.WakeDue(now());
}

void Loop::Handle(TrainerItem& item) {
  const TrainerKey key(item.report.job_uid(), item.report.trainer());
  const int32_t known_revision = item.report.known_revision();
  decisions_.unpublished().touched.jobs.insert(key.first);
  // The status of the core's step is ignored, because the directive that answers a wrong report says what is wrong with
  // it.
  (void)decisions_.Take(core::TrainerReported{std::move(item.report)});
  polls_.trainers().Add(key, known_revision, item.deadline, std::move(item.reply));
}

void Loop::Handle(NodeItem& item) {
  const NodeKey key(item.report.node(), item.report.agent_incarnation());
  const int32_t known_revision = item.report.known_revision();
  // Earlier releases of the agent send log lines in `logs`.
  item.report.clear_logs();
  decisions_.unpublished().touched.nodes.insert(key.first);
  const std::string rival = cluster_.RivalOf(key.first, key.second);
  const bool alone = !rival.empty() && !polls_.nodes().AnyAlive({key.first, rival});
  (void)decisions_.Take(core::NodeReported{std::move(item.report), alone});
  // While the coordinator listens, it gives no directive. The poll still has to last a while, because the agent asks
  // again as soon as its poll ends.
  if (cluster_.IsListening()) item.deadline = std::max(item.deadline, now() + kListeningPollSeconds);
  if (!cluster_.RivalOf(key.first, key.second).empty()) {
    item.deadline = std::min(item.deadline, now() + kUndecidedSeconds);
  }
  polls_.nodes().Add(key, known_revision, item.deadline, std::move(item.reply), std::move(item.alive));
}

void Loop::Handle(core::PoolReported& report) {
  published_.pools.Reported(report);
  (void)decisions_.Take(std::move(report));
}

void Loop::EndListening() {
  const auto [identity, writes] = options_.on_listened();
  journal_.Add(writes);
  published_.job_files.SetIdentity(identity);
  (void)decisions_.Take(core::ListenedFirst{{identity.epoch, identity.epoch_tag}});
  log::Info("listened long enough: decisions begin");
}

void Loop::CommitAndPublish() {
  const std::vector<v1::Event> events = journal_.events();
  if (!journal_.empty()) {
    const double begun = now();
    const absl::Status committed = journal_.Commit();
    commit_seconds_.Observe(now() - begun);
    if (!committed.ok()) return CommitFailed(committed);
  }
  if (outage_.lasts()) EndOutage();
  Unpublished durable = std::exchange(decisions_.unpublished(), {});
  Publish(durable, events);
  AnswerLeases(durable.leases);
  TakeNotices();
}

void Loop::CommitFailed(const absl::Status& error) {
  commit_failures_.Increment();
  const bool first = outage_.Failed(error, now());
  if (first) clock_.StandStill();
  // The health service learns of the failure first, and only then callers are refused. So no refused caller hears from
  // the health service that all is well.
  if (first) options_.on_serving(false);
  for (auto& [done, reply] : std::exchange(decisions_.unpublished().answers, {})) {
    done(absl::UnavailableError(absl::StrCat("the change is not saved yet: ", error.message(),
                                             "; it will be, so ask again with the same request_id")));
  }
  if (absl::IsAborted(error)) options_.on_fatal(error);
}

void Loop::EndOutage() {
  log::Info("the state store can be written again");
  outage_.End();
  clock_.GoOn();
  // Reports were refused if their deadline passed while the store could not be written. So listening begins anew.
  if (cluster_.IsListening()) listens_until_ = now() + options_.listen_seconds;
  options_.on_serving(true);
}

void Loop::Publish(Unpublished& durable, const std::vector<v1::Event>& events) {
  for (const auto& [name, pool] : durable.pools) published_.pools.Set(pool);
  publisher_.Publish(durable.changed_jobs, durable.forgotten_jobs, events);
  for (const core::PoolOrder& order : durable.orders) published_.pools.Ordered(order);
  if (!durable.orders.empty()) options_.on_orders(durable.orders);
  for (auto& [done, reply] : durable.answers) done(std::move(reply));
  if (!cluster_.IsListening()) polls_.Check(std::move(durable.touched));
}

void Loop::AnswerLeases(const std::vector<core::LeaseQuestion>& questions) {
  if (questions.empty()) return;
  for (const core::LeaseQuestion& question : questions) {
    const double left = published_.leases.End(question.uid, question.generation, question.seconds);
    (void)decisions_.Take(core::LeaseChecked{question.uid, question.generation, left});
    decisions_.unpublished().touched.jobs.insert(question.uid);
  }
  decisions_.Decide();
  // CommitAndPublish may call AnswerLeases again. The recursion ends, because the core waits before it asks again about
  // a lease that has not ended.
  CommitAndPublish();
}

void Loop::TakeNotices() {
  core::Effects notices;
  notices.events = options_.take_notices();
  if (notices.events.empty()) return;
  journal_.Add(notices, unix_now());
  // CommitAndPublish may call TakeNotices again. The recursion ends, because each notice is taken only once.
  CommitAndPublish();
}

absl::Status Loop::WhySilent() const {
  if (outage_.lasts()) return absl::UnavailableError(outage_.error().message());
  if (!cluster_.IsListening()) return absl::OkStatus();
  return absl::UnavailableError("the coordinator listens who lives before it decides: try again in some seconds");
}

absl::Status Loop::WhyNoChange() const {
  if (!ended_.ok() || !outage_.lasts()) return ended_;
  return absl::UnavailableError(absl::StrCat("the state cannot be saved: ", outage_.error().message()));
}

double Loop::NextWake() const {
  if (!ended_.ok()) return outage_.lasts() ? outage_.retry_at() : kForever;
  const double wake = std::min(polls_.NextDeadline(), published_.bulletin.NextDue());
  if (outage_.lasts()) return std::min({wake, held_.NextDeadline(), outage_.retry_at()});
  if (cluster_.IsListening()) return std::min(wake, listens_until_);
  return std::min(wake, std::max(clock_.When(decisions_.wake_at()), last_tick_ + kShortestTick));
}

void Loop::Supersede(std::vector<Write> writes, const std::string& why, std::function<void()> done) {
  inbox_.queue().Supersede(absl::FailedPreconditionError(why),
                           [this, writes = std::move(writes), done = std::move(done)] {
                             journal_.Add(writes);
                             on_silent_ = done;
                           });
}

void Loop::RefuseAll(std::vector<LoopItem> items) {
  for (LoopItem& item : held_.Take()) items.push_back(std::move(item));
  Refuse(std::move(items), ended_);
  for (auto& [done, reply] : std::exchange(decisions_.unpublished().answers, {})) done(ended_);
  polls_.AnswerAll(ended_);
  published_.bulletin.WakeAll();
}

void Loop::EndWith(std::vector<LoopItem> items) {
  RefuseAll(std::move(items));
  if (inbox_.queue().superseded().ok() || journal_.empty()) return;
  if (absl::Status saved = journal_.Commit(); !saved.ok()) {
    log::Error("that this coordinator was superseded could not be saved", {{"error", std::string(saved.message())}});
  }
}

void Loop::BeSilent(std::vector<LoopItem> items) {
  RefuseAll(std::move(items));
  options_.on_serving(false);
  if (!journal_.empty() && outage_.MayTry(now())) {
    const absl::Status committed = journal_.Commit();
    if (!committed.ok()) CommitFailed(committed);
    if (committed.ok()) outage_.End();
    if (committed.ok()) clock_.GoOn();
  }
  if (on_silent_) std::exchange(on_silent_, nullptr)();
}

}  // namespace rekindle::coordinator
