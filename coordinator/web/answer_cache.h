// Answers as text, each made at most every so often whoever asks, with a tag by which a browser knows that it has
// the newest.
#ifndef REKINDLE_COORDINATOR_WEB_ANSWER_CACHE_H_
#define REKINDLE_COORDINATOR_WEB_ANSWER_CACHE_H_

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/web/shared.h"

namespace rekindle::coordinator::web {

struct Answer {
  std::shared_ptr<const std::string> body;
  std::string tag;  // Another body has another one.
};

// Thread-safe.
class AnswerCache {
 public:
  static constexpr size_t kAnswers = 128;  // That were asked for last.

  explicit AnswerCache(double seconds) : seconds_(seconds) {}

  // What `make` gave at most `seconds` ago for this key, else what it gives now.
  absl::StatusOr<Answer> Get(const std::string& key, const std::function<absl::StatusOr<std::string>()>& make);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<Shared<Answer>> answer;
  };
  std::shared_ptr<Shared<Answer>> Find(const std::string& key);

  const double seconds_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // The one that was asked for last comes first.
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_ANSWER_CACHE_H_
