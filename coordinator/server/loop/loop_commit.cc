// Makes durable what the core has decided, and lets it be seen then.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "coordinator/server/loop/loop.h"

namespace rekindle::coordinator {

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
  // The health status changes before the answers, so that a refused caller finds the health service agreeing.
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
  // Reports whose deadline passed during the failure were refused, so listening begins anew.
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
  // The recursion ends because each question is asked again only later.
  CommitAndPublish();
}

void Loop::TakeNotices() {
  core::Effects notices;
  notices.events = options_.take_notices();
  if (notices.events.empty()) return;
  journal_.Add(notices, unix_now());
  // The recursion ends because each notice is taken only once.
  CommitAndPublish();
}

}  // namespace rekindle::coordinator
