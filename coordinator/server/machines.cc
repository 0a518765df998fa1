#include "coordinator/server/machines.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/file.h"
#include "common/spec/yaml.h"
#include "coordinator/fleet/fleet_text.h"

namespace rekindle::coordinator {
namespace {

absl::StatusOr<v1::Fleet> ReadFleet(const std::string& path) {
  if (path.empty()) return v1::Fleet();
  const auto text = common::ReadFile(*common::PosixFileSystem(), path, common::kMaxYamlBytes);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat("--fleet: ", std::string(text.status().message())));
  return fleet::ParseFleet(*text, path);
}

}  // namespace

absl::Status Machines::Start(fleet::FleetRunner::Report report) {
  const absl::StatusOr<v1::Fleet> fleet = ReadFleet(options_.fleet);
  if (!fleet.ok()) return fleet.status();
  absl::StatusOr<fleet::Providers> providers = fleet::OpenProviders(
      *fleet,
      {.data = options_.data, .endpoint_file = options_.endpoint_file, .beside = common::DirName(options_.fleet)});
  if (!providers.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(options_.fleet, ": ", std::string(providers.status().message())));
  }
  const std::lock_guard lock(mutex_);
  local_ = providers->local;
  runner_ = std::make_unique<fleet::FleetRunner>(std::move(providers->accounts), std::move(report));
  for (auto& [pool, order] : waiting_) runner_->Order(std::move(order));
  waiting_.clear();
  return absl::OkStatus();
}

void Machines::Order(core::PoolOrder order) {
  const std::lock_guard lock(mutex_);
  if (runner_) {
    runner_->Order(std::move(order));
  } else {
    waiting_[order.pool] = order;
  }
}

absl::Status Machines::SetMarket(const v1::SetMarketRequest& request) {
  std::shared_ptr<fleet::LocalProvider> local;
  {
    const std::lock_guard lock(mutex_);
    local = local_;
  }
  if (!local) return absl::NotFoundError("the fleet file has no local pool with `machines`");
  return local->SetMarket(request.pool(), request.nodes(),
                          request.has_notice_seconds() ? std::optional(request.notice_seconds()) : std::nullopt);
}

void Machines::Stop() {
  std::unique_ptr<fleet::FleetRunner> runner;
  {
    const std::lock_guard lock(mutex_);
    runner = std::move(runner_);
  }
  if (runner) runner->Stop();  // Without the lock: it waits for a report, which may order.
}

void Machines::EndLocal(double seconds) {
  if (local_) local_->EndAll(seconds);
}

}  // namespace rekindle::coordinator
