#include "coordinator/server/assembly/fleet_watch.h"

#include <sys/stat.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/spec/yaml.h"
#include "common/sync/mutex.h"
#include "coordinator/fleet/file/fleet_text.h"
#include "coordinator/fleet/file/price_book.h"

namespace rekindle::coordinator {
namespace {

absl::StatusOr<v1::Fleet> ReadFleet(const std::string& path) {
  if (path.empty()) return v1::Fleet();
  const auto text = common::ReadFile(*common::PosixFileSystem(), path, common::kMaxYamlBytes);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat("--fleet: ", std::string(text.status().message())));
  return fleet::ParseFleet(*text, path);
}

// Returns the Unix time at which the file was written, or 0 where the time is not known.
double WrittenAt(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 ? static_cast<double>(facts.st_mtim.tv_sec) : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FleetWatch>> FleetWatch::Open(Machines::Options options, Reports reports,
                                                             common::TimeSource wall) {
  std::unique_ptr<FleetWatch> self(new FleetWatch(std::move(options), std::move(reports), std::move(wall)));
  absl::StatusOr<v1::Fleet> fleet = ReadFleet(self->file_);
  if (!fleet.ok()) return fleet.status();
  absl::StatusOr<std::unique_ptr<CarbonWatch>> carbon = self->OpenCarbon(*fleet);
  if (!carbon.ok()) return carbon.status();
  {
    const common::MutexLock lock(self->mutex_);
    self->carbon_ = *std::move(carbon);
  }
  self->prices_ = fleet::ToPriceBook(*fleet, WrittenAt(self->file_));
  self->fleet_ = *std::move(fleet);
  return self;
}

FleetWatch::FleetWatch(Machines::Options options, Reports reports, common::TimeSource wall)
    : file_(options.fleet), reports_(std::move(reports)), wall_(std::move(wall)), machines_(std::move(options)) {}

absl::Status FleetWatch::Start() {
  if (absl::Status started = machines_.Start(fleet_, reports_.machines); !started.ok()) return started;
  const common::MutexLock lock(mutex_);
  carbon_->Start();
  return absl::OkStatus();
}

absl::Status FleetWatch::Reload() {
  const absl::StatusOr<v1::Fleet> fleet = ReadFleet(file_);
  if (!fleet.ok()) return fleet.status();
  core::PriceBook prices = fleet::ToPriceBook(*fleet, WrittenAt(file_));
  absl::StatusOr<std::unique_ptr<CarbonWatch>> carbon = OpenCarbon(*fleet);
  if (!carbon.ok()) return carbon.status();
  // The machines are reloaded before the prices, so that an order for a new pool finds the provider of the pool.
  if (absl::Status machines = machines_.Reload(*fleet); !machines.ok()) return machines;
  // Only the thread that calls Reload replaces `carbon_`, so Reload may use the new watch of carbon intensity without
  // the lock.
  CarbonWatch& watch = **carbon;
  {
    const common::MutexLock lock(mutex_);
    // The old watch of carbon intensity ends before the new one reports. Otherwise values of the old watch could
    // replace newer ones.
    carbon_ = *std::move(carbon);
  }
  prices_ = std::move(prices);
  reports_.prices(prices_);
  reports_.carbon(watch.book());
  watch.Start();
  return absl::OkStatus();
}

void FleetWatch::Stop() {
  {
    const common::MutexLock lock(mutex_);
    carbon_.reset();
  }
  machines_.Stop();
}

absl::StatusOr<std::unique_ptr<CarbonWatch>> FleetWatch::OpenCarbon(const v1::Fleet& fleet) const {
  CarbonWatch::Options options{.carbon = fleet.carbon(), .beside = common::DirName(file_), .now = wall_};
  {
    const common::MutexLock lock(mutex_);
    if (carbon_ && !fleet.carbon().url().empty() && carbon_->SameFeed(fleet.carbon())) options.known = carbon_->book();
  }
  options.on_change = reports_.carbon;
  absl::StatusOr<std::unique_ptr<CarbonWatch>> opened = CarbonWatch::Open(std::move(options));
  if (opened.ok() || file_.empty()) return opened;
  return absl::InvalidArgumentError(absl::StrCat(file_, ": ", opened.status().message()));
}

core::CarbonBook FleetWatch::carbon() const {
  const common::MutexLock lock(mutex_);
  return carbon_ ? carbon_->book() : core::CarbonBook();
}

std::map<std::string, double> FleetWatch::CarbonIntensities() const {
  const common::MutexLock lock(mutex_);
  return carbon_ ? carbon_->IntensitiesAt(wall_()) : std::map<std::string, double>();
}

}  // namespace rekindle::coordinator
