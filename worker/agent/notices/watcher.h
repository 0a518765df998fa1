// Polls each source of interruption notices as often as the documentation of its service says. Each source has a thread
// of its own, so that one that hangs delays neither the agent nor the other sources. The watcher waits some seconds for
// an answer, then logs once that the source cannot be heard. It polls that source again when the answer has come, and
// less and less often while the source fails.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_WATCHER_H_
#define REKINDLE_WORKER_AGENT_NOTICES_WATCHER_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/process/waker.h"
#include "common/sync/mutex.h"
#include "common/time/abandon.h"
#include "worker/agent/notices/judge.h"
#include "worker/agent/notices/notice_sources.h"

namespace rekindle::agent {

// Returns the seconds until the next poll of a notice source after `failures` failures in a row.
double NextPollSeconds(double interval_seconds, int failures);

// A NoticeWatcher is thread-safe.
class NoticeWatcher {
 public:
  // A Count function takes how many notices of a source are new or withdrawn. It is called on the source's thread and
  // must not block.
  using Count = std::function<void(const std::string& source, const NoticeCounts& counts)>;

  // `waker` is woken when verdict() or settled() has changed, and it must outlive the watcher. `count` is called with
  // the notices that are new or withdrawn.
  NoticeWatcher(std::vector<OpenSource> sources, const common::Waker* waker, Count count = nullptr);
  // The destructor does not wait for a source that hangs.
  ~NoticeWatcher();

  Verdict verdict() const;
  // Returns whether every source was polled once or did not answer in time. A report before that might withdraw notices
  // that an earlier agent reported.
  bool settled() const;
  // Stops the polling. Then it tells the sources that wait for an acknowledgement that nothing of any job is left on
  // this machine. The call takes some seconds at most.
  void AcknowledgeAll();

 private:
  struct Watched {
    OpenSource open;
    // `in_a_call` says that the source still hangs in a call that was abandoned, so AcknowledgeAll() leaves the source
    // out. The source's thread sets the field when the thread ends.
    bool in_a_call = false;
    std::thread thread;
  };

  struct Heard {
    absl::StatusOr<std::vector<Notice>> notices;
  };
  using Call = common::Abandonable<Heard>;

  void Loop(Watched& watched);
  // Waits for the answer to a poll of a source of notices. Returns nothing if the source hangs or the watcher stops.
  std::optional<Heard> Await(Watched& watched, Call& call);
  void Note(Watched& watched, const absl::StatusOr<std::vector<Notice>>& heard, int failures);
  void Stop();

  const common::Waker* const waker_;
  const Count count_;
  mutable common::Mutex mutex_;
  common::CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Judge judge_ ABSL_GUARDED_BY(mutex_);
  Verdict verdict_ ABSL_GUARDED_BY(mutex_);
  // `settled_` has the sources that answered at least once, or that did not answer in time for the first report.
  std::set<const Watched*> settled_ ABSL_GUARDED_BY(mutex_);
  // `watched_` has the sources of notices and their threads. It may not be resized once a thread runs, because the
  // threads refer to its elements.
  std::vector<Watched> watched_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_WATCHER_H_
