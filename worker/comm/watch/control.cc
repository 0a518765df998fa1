#include "worker/comm/watch/control.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::comm {

void SetDetail(ControlFrame& frame, const std::string& text) {
  const size_t n = std::min(text.size(), sizeof(frame.detail) - 1);
  std::memcpy(frame.detail, text.data(), n);
  frame.detail[n] = 0;
}

std::string GetDetail(const ControlFrame& frame) {
  std::string text(frame.detail, strnlen(frame.detail, sizeof(frame.detail)));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return text;
}

ControlFrame MakeAbort(const Verdict& verdict) {
  if (verdict.notice.type == ControlFrame::kAbort) return verdict.notice;
  ControlFrame frame{.type = ControlFrame::kAbort};
  for (const Accusation& accusation : verdict.accusations) {
    frame.accused |= uint64_t{1} << accusation.rank;
    frame.kind = static_cast<uint32_t>(accusation.kind);
  }
  const absl::string_view message = verdict.status.message();
  SetDetail(frame, verdict.accusations.empty() ? std::string(message) : verdict.accusations.front().detail);
  return frame;
}

Verdict ReadAbort(const ControlFrame& frame, int from, int self, int world_size) {
  Verdict verdict{.notice = frame};
  const std::string detail = GetDetail(frame);
  for (int accused = 0; accused < world_size; ++accused) {
    if ((frame.accused >> accused & 1) == 0 || accused == self) continue;
    const auto kind = static_cast<Accusation::Kind>(std::min<uint32_t>(frame.kind, 2));
    verdict.accusations.push_back({accused, kind, absl::StrCat("reported by rank ", from, ": ", detail)});
  }
  const bool me = (frame.accused >> self & 1) != 0;
  verdict.status = absl::AbortedError(
      absl::StrCat("rank ", from, " ended the communicator", me ? " and accuses this rank" : "", ": ", detail));
  return verdict;
}

ControlChannel::ControlChannel(UniqueFd fd) : fd_(std::move(fd)) { TuneStream(fd_.get()); }

bool ControlChannel::Send(const ControlFrame& frame) {
  const common::MutexLock lock(send_mutex_);
  ssize_t n;
  do {
    n = send(fd_.get(), &frame, sizeof(frame), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof(frame))) return true;
  // A frame that was sent only in part would garble the next ones, so the channel is shut down.
  if (n > 0) Shutdown();
  return false;
}

ControlChannel::Received ControlChannel::Receive(ControlFrame* frame) {
  while (have_ < sizeof(partial_)) {
    const ssize_t n =
        recv(fd_.get(), reinterpret_cast<char*>(&partial_) + have_, sizeof(partial_) - have_, MSG_DONTWAIT);
    if (n > 0) {
      have_ += n;
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return Received::kNothing;
    } else {
      return Received::kClosed;
    }
  }
  have_ = 0;
  *frame = partial_;
  return Received::kFrame;
}

void ControlChannel::Shutdown() { shutdown(fd_.get(), SHUT_RDWR); }

}  // namespace rekindle::comm
