#include "worker/comm/rings/collectives.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "worker/comm/rings/reduce.h"
#include "worker/comm/rings/ring_pass.h"
#include "worker/comm/rings/transfers.h"

namespace rekindle::comm {
namespace {

// An exchange in one hop with all peers is faster than a ring for at most `kDirectBytes` per peer and at most
// `kDirectTotal` for all peers together.
constexpr size_t kDirectBytes = 16 << 10;
constexpr size_t kDirectTotal = 128 << 10;
// A ring all-reduce works on `kSliceBytes` for each rank at a time. So received data is sent on, and partial sums are
// replaced by the sums, while they are still in the cache.
constexpr size_t kSliceBytes = 512 << 10;
// Up to `kStarBytes`, the root of a broadcast sends to all ranks itself.
constexpr size_t kStarBytes = 64 << 10;

bool Direct(const Mesh& mesh, size_t bytes) {
  return bytes <= kDirectBytes && bytes * mesh.world_size() <= kDirectTotal;
}

// Sends each rank's `bytes` bytes to every other rank. `all` has one slot per rank, and this rank's slot is already
// filled.
bool Exchange(Mesh& mesh, const OperationHeader& header, std::byte* all, size_t bytes) {
  std::vector<Transfer> transfers;
  for (int peer = 0; peer < mesh.world_size(); ++peer) {
    if (peer == mesh.rank()) continue;
    transfers.push_back({.peer = peer, .send = true, .data = all + mesh.rank() * bytes, .bytes = bytes});
    transfers.push_back({.peer = peer, .send = false, .data = all + peer * bytes, .bytes = bytes});
  }
  return RunTransfers(mesh, header, transfers);
}

bool DirectAllReduce(Mesh& mesh, const OperationHeader& header, const void* in, void* out, size_t count, DataType type,
                     ReduceOp op) {
  const size_t bytes = count * SizeOf(type);
  // The buffer for the values of all ranks is made of 64-bit words, so that it is aligned for every type. Its size is
  // rounded up to a multiple of 8 bytes.
  std::vector<uint64_t> memory((bytes * mesh.world_size() + 7) / 8);
  auto* all = reinterpret_cast<std::byte*>(memory.data());
  if (bytes > 0) std::memcpy(all + mesh.rank() * bytes, in, bytes);
  if (!Exchange(mesh, header, all, bytes)) return false;
  // The ranks' values are reduced in the order of the ranks, so that all ranks get the same bits.
  for (int rank = 1; rank < mesh.world_size(); ++rank) Reduce(all, all, all + rank * bytes, count, type, op);
  if (bytes > 0) std::memcpy(out, all, bytes);
  return true;
}

// Adds a ring all-reduce of elements [begin, begin + count) to the pass. The elements are divided into one slice per
// rank. Slice k is reduced along the ring and ends complete at one owner. From there it goes around once more.
void AddBlock(RingPass& pass, const Mesh& mesh, size_t begin, size_t count, size_t element) {
  const int world = mesh.world_size();
  const int first_receive = static_cast<int>(pass.receives.size());
  for (int step = 0; step < 2 * (world - 1); ++step) {
    auto slice = [&](int k) {
      const auto index = static_cast<size_t>((k + 2 * world) % world);
      const size_t from = count * index / world;
      return std::pair((begin + from) * element, (count * (index + 1) / world - from) * element);
    };
    const auto [send_at, send_bytes] = slice(mesh.rank() - step);
    pass.sends.push_back({send_at, send_bytes, step == 0 ? -1 : first_receive + step - 1});
    const auto [receive_at, receive_bytes] = slice(mesh.rank() - step - 1);
    pass.receives.push_back({receive_at, receive_bytes, step < world - 1});
  }
}

}  // namespace

bool AllReduce(Mesh& mesh, const OperationHeader& header, const void* in, void* out, size_t count, DataType type,
               ReduceOp op) {
  const size_t element = SizeOf(type);
  const int world = mesh.world_size();
  if (world == 1) {
    if (in != out && count > 0) std::memcpy(out, in, count * element);
    return true;
  }
  if (Direct(mesh, count * element)) return DirectAllReduce(mesh, header, in, out, count, type, op);
  RingPass pass{.prev = (mesh.rank() + world - 1) % world, .next = (mesh.rank() + 1) % world};
  pass.first = pass.in = static_cast<const std::byte*>(in);
  pass.out = static_cast<std::byte*>(out);
  pass.type = type;
  pass.op = op;
  const size_t block = std::max<size_t>(1, kSliceBytes / element) * world;
  for (size_t begin = 0; begin < count; begin += block) {
    AddBlock(pass, mesh, begin, std::min(block, count - begin), element);
  }
  return RunRingPass(mesh, header, pass);
}

bool Broadcast(Mesh& mesh, const OperationHeader& header, void* buffer, size_t bytes, int root) {
  const int world = mesh.world_size();
  if (world == 1) return true;
  auto* data = static_cast<std::byte*>(buffer);
  if (bytes <= kStarBytes) {
    if (mesh.rank() != root) return Recv(mesh, header, buffer, bytes, root);
    std::vector<Transfer> transfers;
    for (int peer = 0; peer < world; ++peer) {
      if (peer != root) transfers.push_back({.peer = peer, .send = true, .data = data, .bytes = bytes});
    }
    return RunTransfers(mesh, header, transfers);
  }
  // A broadcast of large data is a chain that starts at the root and ends at the rank before the root.
  const int prev = (mesh.rank() + world - 1) % world;
  const int next = (mesh.rank() + 1) % world;
  RingPass pass{.prev = mesh.rank() == root ? -1 : prev, .next = next == root ? -1 : next};
  pass.first = pass.out = data;
  if (pass.prev >= 0) pass.receives = {{.bytes = bytes}};
  if (pass.next >= 0) pass.sends = {{.bytes = bytes, .brought_by = pass.prev >= 0 ? 0 : -1}};
  return RunRingPass(mesh, header, pass);
}

bool AllGather(Mesh& mesh, const OperationHeader& header, const void* in, void* out, size_t bytes) {
  const int world = mesh.world_size();
  auto* data = static_cast<std::byte*>(out);
  std::byte* own = data + mesh.rank() * bytes;
  if (bytes > 0 && own != in) std::memmove(own, in, bytes);
  if (world == 1) return true;
  if (Direct(mesh, bytes)) return Exchange(mesh, header, data, bytes);
  RingPass pass{.prev = (mesh.rank() + world - 1) % world, .next = (mesh.rank() + 1) % world};
  pass.first = pass.out = data;
  for (int step = 0; step < world - 1; ++step) {
    const auto sent = static_cast<size_t>((mesh.rank() - step + world) % world);
    const auto received = static_cast<size_t>((mesh.rank() - step - 1 + world) % world);
    pass.sends.push_back({sent * bytes, bytes, step - 1});
    pass.receives.push_back({received * bytes, bytes});
  }
  return RunRingPass(mesh, header, pass);
}

bool Send(Mesh& mesh, const OperationHeader& header, const void* buffer, size_t bytes, int peer) {
  Transfer transfer{.peer = peer, .send = true, .bytes = bytes};
  // `data` is not const because a transfer that receives writes to it. A transfer that sends only reads it.
  transfer.data = const_cast<std::byte*>(static_cast<const std::byte*>(buffer));
  return RunTransfers(mesh, header, {&transfer, 1});
}

bool Recv(Mesh& mesh, const OperationHeader& header, void* buffer, size_t bytes, int peer) {
  Transfer transfer{.peer = peer, .data = static_cast<std::byte*>(buffer), .bytes = bytes};
  return RunTransfers(mesh, header, {&transfer, 1});
}

}  // namespace rekindle::comm
