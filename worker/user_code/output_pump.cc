#include "worker/user_code/output_pump.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/process/process.h"
#include "common/time/clock.h"

namespace rekindle::user_code {
namespace {

constexpr size_t kAtOnce = 64 << 10;
// A line that is longer is cut, so that a process which never ends one fills no memory.
constexpr size_t kLongestLine = 64 << 10;
// So much of a line that is cut, or as much as the longest secret has, is looked at again with what follows, as a
// secret may not be whole yet.
constexpr size_t kOverlap = 4 << 10;
// At the end of a pump, a process that still writes is not listened to for longer than so many reads.
constexpr int kLastReads = 64;
// After so many milliseconds without output, the budget has what TakeLost asks for.
constexpr int kTellLostMs = 1000;

}  // namespace

void OutputBudget::Fill(double now) {
  left_ = std::min(kBytes, left_ + std::max(0.0, now - at_) * kBytesASecond);
  at_ = now;
}

bool OutputBudget::Take(size_t bytes, double now) {
  Fill(now);
  if (static_cast<double>(bytes) > left_) {
    lost_ += bytes;
    return false;
  }
  left_ -= static_cast<double>(bytes);
  return true;
}

uint64_t OutputBudget::TakeLost(double now) {
  Fill(now);
  return left_ < kBytesASecond ? 0 : std::exchange(lost_, 0);
}

absl::StatusOr<std::unique_ptr<OutputPump>> OutputPump::Start(int log, std::shared_ptr<const Scrubber> scrubber,
                                                              std::optional<uid_t> uid) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return common::ErrnoError("pipe");
  common::UniqueFd read_end(ends[0]), write_end(ends[1]);
  if (fcntl(read_end.get(), F_SETFL, O_NONBLOCK) != 0) return common::ErrnoError("fcntl");
  if (uid && fchown(write_end.get(), *uid, *uid) != 0) return common::ErrnoError("give a pipe to code of users");
  std::unique_ptr<OutputPump> pump(new OutputPump(log, std::move(scrubber), std::move(read_end), std::move(write_end)));
  pump->thread_ = std::thread([p = pump.get()] { p->Run(); });
  return pump;
}

OutputPump::~OutputPump() {
  write_end_.Reset();
  stop_.Wake();
  thread_.join();
}

void OutputPump::Run() {
  pollfd entries[] = {{.fd = read_end_.get(), .events = POLLIN}, {.fd = stop_.fd(), .events = POLLIN}};
  while (!is_closed_) {
    poll(entries, 2, budget_.lost() > 0 ? kTellLostMs : -1);
    Read();
    TellLost(budget_.TakeLost(common::SteadySeconds()));
    WriteLines(false);
    if ((entries[1].revents & POLLIN) != 0) break;
  }
  for (int i = 0; i < kLastReads && Read(); ++i) WriteLines(false);
  WriteLines(true);
  TellLost(budget_.lost());
}

bool OutputPump::Read() {
  char bytes[kAtOnce];
  const ssize_t got = read(read_end_.get(), bytes, sizeof bytes);
  if (got > 0) pending_.append(bytes, static_cast<size_t>(got));
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) is_closed_ = true;
  return got > 0;
}

void OutputPump::WriteLines(bool end) {
  size_t ready = end ? pending_.size() : pending_.rfind('\n') + 1;
  if (pending_.size() - ready > kLongestLine) {
    // Nothing before the overlap is the begin of a secret that is not whole yet.
    const size_t overlap = scrubber_ ? std::max(kOverlap, scrubber_->Longest()) : kOverlap;
    if (scrubber_) pending_ = scrubber_->ScrubWhole(pending_);
    ready = std::max(ready, pending_.size() - std::min(pending_.size(), overlap));
  }
  ready = std::min(ready, pending_.size());
  if (ready == 0) return;
  std::string text = pending_.substr(0, ready);
  pending_.erase(0, ready);
  if (!budget_.Take(text.size(), common::SteadySeconds())) return;
  if (scrubber_) text = end ? scrubber_->Scrub(text) : scrubber_->ScrubWhole(text);
  Write(std::move(text));
}

void OutputPump::TellLost(uint64_t bytes) {
  if (bytes == 0) return;
  Write(absl::StrCat("rekindle: ", bytes, " bytes of output were dropped, because there was too much of it\n"));
}

void OutputPump::Write(std::string text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(log_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    // Where the log's disk is full, the output is lost and the training goes on.
    if (wrote <= 0) return;
    done += static_cast<size_t>(wrote);
  }
}

}  // namespace rekindle::user_code
