#include "coordinator/server/loop/loop_inbox.h"

#include <algorithm>
#include <utility>

#include "common/log/log.h"

namespace rekindle::coordinator {
namespace {

double Wait(int wait_ms) { return std::clamp(wait_ms / 1e3, 0.0, LoopInbox::kMaxWaitSeconds); }

// Returns a change that no user asks for. If the change is refused, `refused` is logged with the error.
Mutation Unasked(const char* call, core::Event event, log::Level level, const char* refused) {
  return {.request_id = "",
          .call = call,
          .event = [event = std::move(event)] { return event; },
          .answer = [] { return std::string(); },
          .done =
              [level, refused](const absl::StatusOr<std::string>& done) {
                if (!done.ok()) log::Write(level, refused, {{"error", std::string(done.status().message())}});
              }};
}

}  // namespace

void LoopInbox::Sync(v1::TrainerReport report, TrainerPolls::Reply reply) {
  const double deadline = clock_->Now() + Wait(report.wait_ms());
  LoopItem item = TrainerItem{std::move(report), std::move(reply), deadline};
  if (absl::Status queued = queue_.Add(item); !queued.ok()) std::get<TrainerItem>(item).reply(queued);
}

void LoopInbox::Sync(v1::NodeReport report, NodePolls::Reply reply, NodePolls::Alive alive) {
  const double deadline = clock_->Now() + Wait(report.wait_ms());
  LoopItem item = NodeItem{std::move(report), std::move(reply), std::move(alive), deadline};
  if (absl::Status queued = queue_.Add(item); !queued.ok()) std::get<NodeItem>(item).reply(queued);
}

void LoopInbox::Apply(Mutation mutation) {
  LoopItem item = std::move(mutation);
  if (absl::Status queued = queue_.Add(item); !queued.ok()) std::get<Mutation>(item).done(queued);
}

void LoopInbox::SetPrices(core::PriceBook prices) {
  Apply(Unasked("SetPrices", core::PricesSet{std::move(prices)}, log::Level::kError, "the prices are not set"));
}

void LoopInbox::HearPrice(core::PriceHeard heard) {
  Apply(Unasked("HearPrice", std::move(heard), log::Level::kWarning, "a price is not heard"));
}

void LoopInbox::SetCarbon(core::CarbonBook carbon) {
  Apply(Unasked("SetCarbon", core::CarbonSet{std::move(carbon)}, log::Level::kWarning, "carbon intensity is not set"));
}

void LoopInbox::Report(core::PoolReported report) {
  LoopItem item = std::move(report);
  if (absl::Status queued = queue_.Add(item); !queued.ok()) {
    log::Warning("what a provider says is not heard", {{"error", std::string(queued.message())}});
  }
}

absl::Status LoopInbox::Post(std::function<void()> task) {
  LoopItem item = std::move(task);
  return queue_.Add(item);
}

}  // namespace rekindle::coordinator
