// Takes in what other threads hand to the loop.
#include <algorithm>
#include <utility>

#include "common/log/log.h"
#include "coordinator/server/loop/loop.h"

namespace rekindle::coordinator {
namespace {

double Wait(int wait_ms) { return std::clamp(wait_ms / 1e3, 0.0, Loop::kMaxWaitSeconds); }

// Returns a change that no user asks for. If it is refused, the log says so with the words of `refused`.
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

void Loop::Sync(v1::TrainerReport report, TrainerPolls::Reply reply) {
  const double deadline = now() + Wait(report.wait_ms());
  LoopItem item = TrainerItem{std::move(report), std::move(reply), deadline};
  if (absl::Status queued = queue_.Add(item); !queued.ok()) std::get<TrainerItem>(item).reply(queued);
}

void Loop::Sync(v1::NodeReport report, NodePolls::Reply reply, NodePolls::Alive alive) {
  const double deadline = now() + Wait(report.wait_ms());
  LoopItem item = NodeItem{std::move(report), std::move(reply), std::move(alive), deadline};
  if (absl::Status queued = queue_.Add(item); !queued.ok()) std::get<NodeItem>(item).reply(queued);
}

void Loop::Apply(Mutation mutation) {
  LoopItem item = std::move(mutation);
  if (absl::Status queued = queue_.Add(item); !queued.ok()) std::get<Mutation>(item).done(queued);
}

void Loop::SetPrices(core::PriceBook prices) {
  Apply(Unasked("SetPrices", core::PricesSet{std::move(prices)}, log::Level::kError, "the prices are not set"));
}

void Loop::HearPrice(core::PriceHeard heard) {
  Apply(Unasked("HearPrice", std::move(heard), log::Level::kWarning, "a price is not heard"));
}

void Loop::SetCarbon(core::CarbonBook carbon) {
  Apply(Unasked("SetCarbon", core::CarbonSet{std::move(carbon)}, log::Level::kWarning, "carbon intensity is not set"));
}

void Loop::Report(core::PoolReported report) {
  LoopItem item = std::move(report);
  if (absl::Status queued = queue_.Add(item); !queued.ok()) {
    log::Warning("what a provider says is not heard", {{"error", std::string(queued.message())}});
  }
}

absl::Status Loop::Post(std::function<void()> task) {
  LoopItem item = std::move(task);
  return queue_.Add(item);
}

void Loop::Supersede(std::vector<Write> writes, const std::string& why, std::function<void()> done) {
  queue_.Supersede(absl::FailedPreconditionError(why), [this, writes = std::move(writes), done = std::move(done)] {
    journal_.Add(writes);
    on_silent_ = done;
  });
}

}  // namespace rekindle::coordinator
