// Cuts an operation into the pieces in which every rank exchanges it.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_PIECES_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_PIECES_H_

#include <algorithm>
#include <cstdint>

namespace rekindle::device {

// Calls piece(offset, bytes) for each piece of `bytes` bytes, in order.
template <typename Piece>
void ForEachPiece(int64_t bytes, int64_t most, const Piece& piece) {
  for (int64_t at = 0; at < bytes; at += most) piece(at, std::min(most, bytes - at));
}

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_PIECES_H_
