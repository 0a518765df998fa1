// Reads carbon intensity where the fleet file says, from a thread of its own: files when they have changed, a feed each
// time. What cannot be read leaves what is known as it is, until that is stale.
#ifndef REKINDLE_COORDINATOR_SERVER_CARBON_WATCH_H_
#define REKINDLE_COORDINATOR_SERVER_CARBON_WATCH_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/http.h"
#include "coordinator/core/carbon.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::coordinator {

// Thread-safe.
class CarbonWatch {
 public:
  struct Options {
    v1::Fleet::Carbon carbon;                         // As ResolveFleet leaves it.
    std::string beside;                               // Folder of the fleet file.
    core::CarbonBook known;                           // Of a feed that was asked before.
    std::function<double()> now;                      // Unix time.
    double seconds = 10;                              // For an answer.
    std::function<void(core::CarbonBook)> on_change;  // Not before Start; on the thread. Must return at once.
  };

  // Reads files at once; a feed is asked by the thread. Errors name file, line and the fix.
  static absl::StatusOr<std::unique_ptr<CarbonWatch>> Open(Options options);
  ~CarbonWatch();
  CarbonWatch(const CarbonWatch&) = delete;

  core::CarbonBook book() const;
  // g/kWh at a Unix time, of the regions of which it is known.
  std::map<std::string, double> IntensitiesAt(double at) const;
  bool SameFeed(const v1::Fleet::Carbon& carbon) const { return carbon.url() == options_.carbon.url(); }
  // Looks again each poll_seconds from now on. Once.
  void Start();

 private:
  explicit CarbonWatch(Options options) : options_(std::move(options)) {}
  void Run();
  void Look();
  absl::Status ReadFiles();
  absl::Status AskFeed();
  using Version = std::tuple<int64_t, int64_t, int64_t, uint64_t>;  // Of a file.
  std::vector<Version> Written() const;

  const Options options_;
  std::string path_;                    // Of the feed.
  std::unique_ptr<common::Http> http_;  // Null: files.
  std::vector<Version> written_;
  std::string trouble_;  // That was logged last.

  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  core::CarbonBook book_;  // Under mutex_, as is the next.
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_CARBON_WATCH_H_
