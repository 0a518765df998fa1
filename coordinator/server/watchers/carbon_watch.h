// Reads carbon intensity from the files or the feed that the fleet file names, on a thread of its own. Files are read
// when they have changed, and a feed is read each time. If something cannot be read, the values that are known stay
// until they are stale.
#ifndef REKINDLE_COORDINATOR_SERVER_WATCHERS_CARBON_WATCH_H_
#define REKINDLE_COORDINATOR_SERVER_WATCHERS_CARBON_WATCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "coordinator/market/carbon.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::coordinator {

// CarbonWatch is thread-safe.
class CarbonWatch {
 public:
  struct Options {
    // `carbon` is the part of the fleet file that names the files or the feed of carbon intensities. It must come from
    // ResolveFleet.
    v1::Fleet::Carbon carbon;
    // `beside` is the folder of the fleet file.
    std::string beside;
    // `known` is what an earlier watch of the same feed has learnt.
    core::CarbonBook known;
    // `now` returns the Unix time.
    common::TimeSource now;
    // An answer of the feed is awaited for `seconds` seconds.
    double seconds = 10;
    // `on_change` receives what the watch knows of carbon intensities. It is called on the watch's thread, and not
    // before Start. It must return at once.
    std::function<void(core::CarbonBook)> on_change;
  };

  // Opens a watch. Files are read at once, and a feed later on the watch's thread. Errors name the file, the line and
  // the fix.
  static absl::StatusOr<std::unique_ptr<CarbonWatch>> Open(Options options);
  ~CarbonWatch();
  CarbonWatch(const CarbonWatch&) = delete;

  core::CarbonBook book() const;
  // Returns the carbon intensities in g/kWh at the Unix time `at`, for the regions for which they are known.
  std::map<std::string, double> IntensitiesAt(double at) const;
  bool SameFeed(const v1::Fleet::Carbon& carbon) const { return carbon.url() == options_.carbon.url(); }
  // Reads the carbon intensities again every `poll_seconds` seconds from now on. Start must be called at most once.
  void Start();

 private:
  explicit CarbonWatch(Options options) : options_(std::move(options)) {}
  void Run();
  void Refresh();
  absl::Status ReadFiles();
  absl::Status AskFeed();
  // A `Version` of a file changes when the file is written. Equal versions mean that the file need not be read again.
  using Version = std::tuple<int64_t, int64_t, int64_t, uint64_t>;
  std::vector<Version> Written() const;

  const Options options_;
  // `path_` is the path in the URL of the feed.
  std::string path_;
  // `http_` is the connection to the feed. It is null when files are read.
  std::unique_ptr<common::Http> http_;
  // `written_` has the versions of the files that were read last. Once the watch's thread runs, only it uses `written_`
  // and `trouble_`.
  std::vector<Version> written_;
  // `trouble_` is the error that was logged last.
  std::string trouble_;

  mutable common::Mutex mutex_;
  common::CondVar stopped_;
  core::CarbonBook book_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_WATCHERS_CARBON_WATCH_H_
