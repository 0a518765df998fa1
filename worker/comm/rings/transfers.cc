#include "worker/comm/rings/transfers.h"

#include <vector>

namespace rekindle::comm {
namespace {

// Tries once to move bytes of a transfer. Returns the bytes moved, or kLinkClosed.
ssize_t Step(Link& link, const OperationHeader& header, Transfer& t) {
  constexpr size_t kHeader = sizeof(OperationHeader);
  const bool in_header = t.moved < kHeader;
  const size_t left = in_header ? kHeader - t.moved : kHeader + t.bytes - t.moved;
  std::byte* data = in_header ? reinterpret_cast<std::byte*>(&t.header) + t.moved : t.data + (t.moved - kHeader);
  if (!t.send) return link.TryRecv(data, left);
  if (in_header) {
    return link.TrySend(reinterpret_cast<const std::byte*>(&header) + t.moved, left, t.bytes > 0);
  }
  return link.TrySend(data, left, false);
}

}  // namespace

bool RunTransfers(Mesh& mesh, const OperationHeader& header, std::span<Transfer> transfers) {
  constexpr size_t kHeader = sizeof(OperationHeader);
  std::vector<Mesh::Want> wants;
  size_t open = transfers.size();
  while (open > 0) {
    bool moved = false;
    wants.clear();
    for (Transfer& t : transfers) {
      if (t.moved == kHeader + t.bytes) continue;
      const ssize_t n = Step(mesh.link(t.peer), header, t);
      if (n == kLinkClosed) return mesh.Closed(t.peer);
      t.moved += n;
      moved |= n > 0;
      if (n > 0 && t.moved == kHeader && !t.send && !CheckHeader(mesh, header, t.header, t.peer)) return false;
      if (t.moved == kHeader + t.bytes) {
        t.send ? mesh.link(t.peer).FinishSend() : mesh.link(t.peer).FinishRecv();
        --open;
      } else {
        wants.push_back({t.peer, t.send});
      }
    }
    if (mesh.ended()) return false;
    if (moved) {
      mesh.Moved();
    } else if (!mesh.Wait(wants)) {
      return false;
    }
  }
  return true;
}

}  // namespace rekindle::comm
