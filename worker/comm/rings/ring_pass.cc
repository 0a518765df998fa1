#include "worker/comm/rings/ring_pass.h"

#include <algorithm>

#include "worker/comm/rings/reduce.h"

namespace rekindle::comm {
namespace {

// Data goes around a ring in chunks of `kChunkBytes`. A few chunks fit the second-level cache.
constexpr size_t kChunkBytes = 128 << 10;

// Marks how far a list of segments has been sent or received. The bytes of the header come first.
struct Cursor {
  size_t header = 0;
  size_t step = 0;
  size_t offset = 0;

  template <typename Segments>
  void SkipEmpty(const Segments& segments) {
    while (step < segments.size() && offset == segments[step].bytes) {
      ++step;
      offset = 0;
    }
  }
};

class Pump {
 public:
  Pump(Mesh& mesh, const OperationHeader& header, const RingPass& pass) : mesh_(mesh), header_(header), pass_(pass) {
    send_.SkipEmpty(pass.sends);
    recv_.SkipEmpty(pass.receives);
  }

  bool Run();

 private:
  bool SendDone() const {
    return pass_.next < 0 || (send_.header == sizeof(header_) && send_.step == pass_.sends.size());
  }
  bool RecvDone() const {
    return pass_.prev < 0 || (recv_.header == sizeof(header_) && recv_.step == pass_.receives.size());
  }
  // Returns how many bytes of the segment at `send_` may be sent now.
  size_t Sendable() const;
  // TrySend() and the three functions after it return the bytes moved, or kLinkClosed.
  ssize_t TrySend();
  ssize_t TryRecv();
  ssize_t ReceiveData(Link& link);
  ssize_t ReduceData(Link& link);

  Mesh& mesh_;
  const OperationHeader& header_;
  const RingPass& pass_;
  OperationHeader theirs_;
  Cursor send_;
  Cursor recv_;
};

size_t Pump::Sendable() const {
  if (send_.step == pass_.sends.size()) return 0;
  const RingSend& segment = pass_.sends[send_.step];
  const size_t left = segment.bytes - send_.offset;
  if (segment.brought_by < 0) return left;
  const auto receive = static_cast<size_t>(segment.brought_by);
  if (recv_.step != receive) return recv_.step > receive ? left : 0;
  return recv_.offset - send_.offset;
}

ssize_t Pump::TrySend() {
  Link& link = mesh_.link(pass_.next);
  if (send_.header < sizeof(header_)) {
    const std::byte* data = reinterpret_cast<const std::byte*>(&header_) + send_.header;
    const ssize_t n = link.TrySend(data, sizeof(header_) - send_.header, Sendable() > 0);
    if (n > 0) send_.header += n;
    return n;
  }
  const size_t bytes = std::min(Sendable(), kChunkBytes);
  if (bytes == 0) return 0;
  const RingSend& segment = pass_.sends[send_.step];
  const std::byte* base = segment.brought_by < 0 ? pass_.first : pass_.out;
  const ssize_t n = link.TrySend(base + segment.offset + send_.offset, bytes, false);
  if (n > 0) {
    send_.offset += n;
    send_.SkipEmpty(pass_.sends);
  }
  return n;
}

ssize_t Pump::TryRecv() {
  Link& link = mesh_.link(pass_.prev);
  if (recv_.header < sizeof(header_)) {
    std::byte* data = reinterpret_cast<std::byte*>(&theirs_) + recv_.header;
    const ssize_t n = link.TryRecv(data, sizeof(header_) - recv_.header);
    if (n > 0) recv_.header += n;
    return n;
  }
  const ssize_t n =
      recv_.step < pass_.receives.size() && pass_.receives[recv_.step].reduce ? ReduceData(link) : ReceiveData(link);
  if (n > 0) {
    recv_.offset += n;
    recv_.SkipEmpty(pass_.receives);
  }
  return n;
}

ssize_t Pump::ReceiveData(Link& link) {
  const RingReceive& segment = pass_.receives[recv_.step];
  const size_t bytes = std::min(segment.bytes - recv_.offset, kChunkBytes);
  return link.TryRecv(pass_.out + segment.offset + recv_.offset, bytes);
}

ssize_t Pump::ReduceData(Link& link) {
  const RingReceive& segment = pass_.receives[recv_.step];
  const size_t element = SizeOf(pass_.type);
  bool closed = false;
  const auto there = link.Peek(std::min(segment.bytes - recv_.offset, kChunkBytes), &closed);
  const size_t count = there.size() / element;
  if (count == 0) return closed ? kLinkClosed : 0;
  const size_t offset = segment.offset + recv_.offset;
  Reduce(pass_.out + offset, pass_.in + offset, there.data(), count, pass_.type, pass_.op);
  link.Consume(count * element);
  return static_cast<ssize_t>(count * element);
}

bool Pump::Run() {
  while (!SendDone() || !RecvDone()) {
    bool moved = false;
    if (!RecvDone()) {
      const size_t header_before = recv_.header;
      const ssize_t n = TryRecv();
      if (n == kLinkClosed) return mesh_.Closed(pass_.prev);
      moved |= n > 0;
      if (recv_.header != header_before && recv_.header == sizeof(header_) &&
          !CheckHeader(mesh_, header_, theirs_, pass_.prev)) {
        return false;
      }
    }
    if (!SendDone()) {
      const ssize_t n = TrySend();
      if (n == kLinkClosed) return mesh_.Closed(pass_.next);
      moved |= n > 0;
    }
    if (mesh_.ended()) return false;
    if (moved) {
      mesh_.Moved();
      continue;
    }
    Mesh::Want wants[2];
    size_t count = 0;
    if (!RecvDone()) wants[count++] = {pass_.prev, false};
    if (!SendDone() && (send_.header < sizeof(header_) || Sendable() > 0)) wants[count++] = {pass_.next, true};
    if (!mesh_.Wait({wants, count})) return false;
  }
  if (pass_.next >= 0) mesh_.link(pass_.next).FinishSend();
  if (pass_.prev >= 0) mesh_.link(pass_.prev).FinishRecv();
  return true;
}

}  // namespace

bool RunRingPass(Mesh& mesh, const OperationHeader& header, const RingPass& pass) {
  return Pump(mesh, header, pass).Run();
}

}  // namespace rekindle::comm
