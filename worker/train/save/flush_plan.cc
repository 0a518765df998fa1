#include "worker/train/save/flush_plan.h"

#include "absl/strings/str_format.h"

namespace rekindle::train {
namespace {

// `kReservedSeconds` of the time that is left are kept for the end of the step under way, and for the manifest once the
// planes are written.
constexpr double kReservedSeconds = 2;
// The plan uses only `kUsableShare` of the remaining seconds. The write rate was measured before all nodes of a zone
// flush at once, so it may be too good.
constexpr double kUsableShare = 0.75;

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// Plans to save both planes or nothing.
FlushDecision PlanExact(const FlushSituation& situation, double usable) {
  const int64_t bytes = situation.plane0_bytes + situation.plane1_bytes;
  const double seconds = situation.bytes_per_second > 0 ? static_cast<double>(bytes) / situation.bytes_per_second : 0;
  if (seconds > usable) {
    return {
        FlushPlan::kNothing,
        absl::StrFormat("no flush: the job must be exact, and both planes (%.1f MB a rank) take %.1f s at the "
                        "measured %.1f MB/s a rank, with %.1f s left of which %.1f s count",
                        Megabytes(bytes), seconds, situation.bytes_per_second / 1e6, situation.seconds_left, usable)};
  }
  return {FlushPlan::kBothPlanes,
          absl::StrFormat("both planes (%.1f MB a rank), as the job must be exact: %.1f s are left", Megabytes(bytes),
                          situation.seconds_left)};
}

}  // namespace

FlushDecision PlanFlush(const FlushSituation& situation) {
  const double usable = (situation.seconds_left - kReservedSeconds) * kUsableShare;
  if (usable <= 0) {
    return {FlushPlan::kNothing, absl::StrFormat("no flush: of the %.1f s left, %.0f s go to the step and the manifest",
                                                 situation.seconds_left, kReservedSeconds)};
  }
  if (situation.exact_only) return PlanExact(situation, usable);
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
