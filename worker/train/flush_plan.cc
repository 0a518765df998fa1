#include "worker/train/flush_plan.h"

#include "absl/strings/str_format.h"

namespace rekindle::train {
namespace {

// Of the seconds left: for the step under way to end, and for the manifest once the planes are there.
constexpr double kReservedSeconds = 2;
// Of the rest: a rate measured before all nodes of a zone flush at once may be too good.
constexpr double kUsableShare = 0.75;

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

}  // namespace

FlushDecision PlanFlush(const FlushSituation& situation) {
  if (situation.replica_stays) return {FlushPlan::kNothing, "nothing to flush: a live replica of the state stays"};
  const double usable = (situation.seconds_left - kReservedSeconds) * kUsableShare;
  if (usable <= 0) {
    return {FlushPlan::kNothing, absl::StrFormat("no flush: of the %.1f s left, %.0f s go to the step and the manifest",
                                                 situation.seconds_left, kReservedSeconds)};
  }
  if (situation.bytes_per_second <= 0) {
    return {FlushPlan::kPlane0, absl::StrFormat("plane 0 alone (%.1f MB a rank): %.1f s are left, and how fast the "
                                                "store is has not been measured",
                                                Megabytes(situation.plane0_bytes), situation.seconds_left)};
  }
  const double plane0 = static_cast<double>(situation.plane0_bytes) / situation.bytes_per_second;
  const double both = plane0 + static_cast<double>(situation.plane1_bytes) / situation.bytes_per_second;
  const std::string rate = absl::StrFormat("at the measured %.1f MB/s a rank, with %.1f s left of which %.1f s count",
                                           situation.bytes_per_second / 1e6, situation.seconds_left, usable);
  if (plane0 > usable) {
    return {FlushPlan::kNothing, absl::StrFormat("no flush: plane 0 (%.1f MB a rank) takes %.1f s %s",
                                                 Megabytes(situation.plane0_bytes), plane0, rate)};
  }
  if (situation.plane1_bytes > 0 && both <= usable) {
    return {FlushPlan::kBothPlanes,
            absl::StrFormat("both planes (%.1f MB a rank) take %.1f s %s",
                            Megabytes(situation.plane0_bytes + situation.plane1_bytes), both, rate)};
  }
  if (situation.plane1_bytes == 0) {
    return {FlushPlan::kPlane0, absl::StrFormat("plane 0, all there is (%.1f MB a rank), takes %.1f s %s",
                                                Megabytes(situation.plane0_bytes), plane0, rate)};
  }
  return {FlushPlan::kPlane0, absl::StrFormat("plane 0 alone (%.1f MB a rank) takes %.1f s, both would take %.1f s, %s",
                                              Megabytes(situation.plane0_bytes), plane0, both, rate)};
}

}  // namespace rekindle::train
