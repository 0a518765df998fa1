// Carries the output of code of users to a log, without secrets, and not more of it than a disk can take.
#ifndef REKINDLE_WORKER_USER_CODE_OUTPUT_PUMP_H_
#define REKINDLE_WORKER_USER_CODE_OUTPUT_PUMP_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"
#include "common/process/waker.h"
#include "worker/user_code/scrubber.h"

namespace rekindle::user_code {

// Decides how many bytes of output are kept. It is a pure class without a clock: times are seconds of one steady clock.
class OutputBudget {
 public:
  // So much is kept at once, and so much more in each second.
  static constexpr double kBytes = 4 << 20;
  static constexpr double kBytesASecond = 64 << 10;

  // Returns whether `bytes` more are kept.
  bool Take(size_t bytes, double now);
  // Returns how many bytes were not kept since the last call that returned another number than 0. Returns 0 while
  // more is being lost.
  uint64_t TakeLost(double now);
  // Returns how many bytes TakeLost has still to return.
  uint64_t lost() const { return lost_; }

 private:
  void Fill(double now);

  double left_ = kBytes;
  double at_ = 0;
  uint64_t lost_ = 0;
};

class OutputPump {
 public:
  // Begins to carry what is written to write_end() to the descriptor `log`, which must outlive this object. Processes
  // of `uid` may open the pipe again by its name in /proc, if it is given.
  static absl::StatusOr<std::unique_ptr<OutputPump>> Start(int log, std::shared_ptr<const Scrubber> scrubber,
                                                           std::optional<uid_t> uid);
  // Carries what is there already, and ends, whoever has the other end open.
  ~OutputPump();

  // Returns the end that processes write to. It becomes invalid by CloseWriteEnd().
  int write_end() const { return write_end_.get(); }
  void CloseWriteEnd() { write_end_.Reset(); }

 private:
  OutputPump(int log, std::shared_ptr<const Scrubber> scrubber, common::UniqueFd read_end, common::UniqueFd write_end)
      : log_(log), scrubber_(std::move(scrubber)), read_end_(std::move(read_end)), write_end_(std::move(write_end)) {}
  void Run();
  // Reads once. Returns false if there is nothing to read now, or nothing will come any more.
  bool Read();
  void Write(std::string text);
  void TellLost(uint64_t bytes);
  // Writes the whole lines that have come, and all that has come if it is the `end`.
  void WriteLines(bool end);

  const int log_;
  const std::shared_ptr<const Scrubber> scrubber_;
  const common::UniqueFd read_end_;
  common::UniqueFd write_end_;
  const common::Waker stop_;
  OutputBudget budget_;
  std::string pending_;
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace rekindle::user_code

#endif  // REKINDLE_WORKER_USER_CODE_OUTPUT_PUMP_H_
