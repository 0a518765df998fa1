#include "worker/device/exchange/nccl_piece.h"

#include <cstddef>
#include <cstring>

#include "worker/device/exchange/exchange.h"
#include "worker/device/exchange/pieces.h"

namespace rekindle::device {
namespace {

constexpr int kScribble = 0xff;

}  // namespace

uint64_t NcclPiece::waits_for() const {
  const bool point_to_point = kind == RekindleNcclOperation::kSend || kind == RekindleNcclOperation::kRecv;
  return point_to_point ? uint64_t{1} << peer : 0;
}

std::deque<NcclPiece> PiecesOf(const NcclPiece& whole) {
  std::deque<NcclPiece> pieces;
  ForEachPiece(whole.bytes(), kMostReducedBytes, [&](int64_t at, int64_t count) {
    NcclPiece piece = whole;
    if (whole.in.block != nullptr) piece.in = whole.in.Part(at, count);
    if (whole.out.block != nullptr) piece.out = whole.out.Part(at, count);
    pieces.push_back(piece);
  });
  return pieces;
}

Operation OperationOf(const NcclPiece& piece, const std::shared_ptr<comm::NcclSession>& session) {
  const bool sends = piece.kind == RekindleNcclOperation::kSend;
  Operation operation{.name = sends ? "send by NCCL" : "exchange by NCCL", .awaits_others = true};
  const bool writes = piece.out.block != nullptr;
  const bool reads = piece.in.block != nullptr;
  if (reads) operation.reads.push_back(piece.in);
  if (writes) operation.writes.push_back(piece.out);
  const auto start = [=](const Addresses& at, void* stream) {
    void* const out = writes ? at.Write<void>(0) : nullptr;
    const void* const in = reads ? at.Read<void>(0) : out;
    return session->Start({.kind = piece.kind,
                           .type = static_cast<uint32_t>(piece.type),
                           .op = static_cast<uint32_t>(comm::ReduceOp::kSum),
                           .peer = piece.peer,
                           .in = in,
                           // The root of a broadcast names its buffer twice, and NCCL only reads it.
                           .out = writes ? out : const_cast<void*>(in),
                           .count = static_cast<size_t>(piece.bytes()) / comm::SizeOf(piece.type),
                           .stream = stream});
  };
  // An exchange that was ended may have written anything. Here it has.
  operation.run = [=](const Addresses& at) {
    if (!start(at, nullptr) && writes) std::memset(at.Write<void>(0), kScribble, static_cast<size_t>(piece.bytes()));
    return absl::OkStatus();
  };
  operation.launch = [start](const Addresses& at, const Launch& on) {
    (void)start(at, on.queue);
    return 0;
  };
  return operation;
}

}  // namespace rekindle::device
