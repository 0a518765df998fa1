#include "worker/comm/connect/shared_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "worker/comm/watch/handshake.h"

namespace rekindle::comm {
namespace {

constexpr size_t kPage = 4096;
// Nearly all data in a segment comes from the ranks just before and after its owner, so their rings are large. The
// rings of all other ranks share `kOtherRings`, so that many ranks on a host need little memory.
constexpr size_t kNeighbourRing = 1 << 20;
constexpr size_t kOtherRings = 8 << 20;
constexpr size_t kSmallestRing = 64 << 10;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// A segment's first page holds its head. After it come the positions of the rings, then the data of the rings.
struct SegmentHead {
  std::array<uint8_t, 16> token;
  alignas(64) Doorbell bell;
};
static_assert(sizeof(SegmentHead) <= kPage);

absl::Status Errno(const char* what) { return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno))); }

size_t PagesFor(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

SharedSegment::SharedSegment(int owner, int world_size, int ranks_on_host)
    : owner_(owner), world_size_(world_size), ranks_on_host_(ranks_on_host) {}

SharedSegment::~SharedSegment() {
  if (base_ != nullptr) munmap(base_, TotalBytes());
}

size_t SharedSegment::RingBytes(int from) const {
  if (from == owner_) return 0;
  const bool neighbour = from == (owner_ + 1) % world_size_ || from == (owner_ + world_size_ - 1) % world_size_;
  if (neighbour) return kNeighbourRing;
  return std::clamp(std::bit_floor(kOtherRings / ranks_on_host_), kSmallestRing, kNeighbourRing);
}

size_t SharedSegment::TotalBytes() const {
  size_t bytes = kPage + PagesFor(world_size_ * sizeof(RingPositions));
  for (int from = 0; from < world_size_; ++from) bytes += RingBytes(from);
  return bytes;
}

Doorbell* SharedSegment::bell() { return &reinterpret_cast<SegmentHead*>(base_)->bell; }

RingView SharedSegment::Ring(int from) {
  size_t offset = kPage + PagesFor(world_size_ * sizeof(RingPositions));
  for (int before = 0; before < from; ++before) offset += RingBytes(before);
  return {reinterpret_cast<RingPositions*>(base_ + kPage) + from, base_ + offset, RingBytes(from)};
}

absl::Status SharedSegment::Map() {
  void* memory = mmap(nullptr, TotalBytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return Errno("mmap of shared memory");
  base_ = static_cast<std::byte*>(memory);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<SharedSegment>> SharedSegment::Create(int rank, int world_size, int ranks_on_host) {
  std::shared_ptr<SharedSegment> segment(new SharedSegment(rank, world_size, ranks_on_host));
  segment->fd_ = UniqueFd(memfd_create("rekindle-comm", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const int fd = segment->fd_.get();
  if (fd < 0) return Errno("memfd_create");
  if (const int error = posix_fallocate(fd, 0, static_cast<off_t>(segment->TotalBytes())); error != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no ", segment->TotalBytes(), " bytes of shared memory: ", std::strerror(error)));
  }
  if (fcntl(fd, F_ADD_SEALS, kSeals) != 0) return Errno("sealing shared memory");
  if (absl::Status mapped = segment->Map(); !mapped.ok()) return mapped;
  const Nonce nonce = RandomNonce();
  SegmentOffer& offer = segment->offer_;
  offer.process = getpid();
  offer.descriptor = fd;
  offer.bytes = segment->TotalBytes();
  std::copy_n(nonce.begin(), offer.token.size(), offer.token.begin());
  reinterpret_cast<SegmentHead*>(segment->base_)->token = offer.token;
  return segment;
}

absl::StatusOr<std::shared_ptr<SharedSegment>> SharedSegment::Open(const SegmentOffer& offer, int owner, int world_size,
                                                                   int ranks_on_host) {
  std::shared_ptr<SharedSegment> segment(new SharedSegment(owner, world_size, ranks_on_host));
  if (offer.descriptor < 0) return absl::UnavailableError("none offered");
  if (offer.bytes != segment->TotalBytes()) return absl::InvalidArgumentError("shared memory of another size");
  const std::string path = absl::StrCat("/proc/", offer.process, "/fd/", offer.descriptor);
  segment->fd_ = UniqueFd(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const int fd = segment->fd_.get();
  if (fd < 0) return Errno("opening a peer's shared memory");
  struct stat info {};
  if (fstat(fd, &info) != 0) return Errno("fstat of shared memory");
  const bool right = S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) == offer.bytes &&
                     (fcntl(fd, F_GET_SEALS) & kSeals) == kSeals;
  if (!right) return absl::InvalidArgumentError("what a peer offers is not shared memory of ours");
  if (absl::Status mapped = segment->Map(); !mapped.ok()) return mapped;
  const auto& token = reinterpret_cast<SegmentHead*>(segment->base_)->token;
  if (CRYPTO_memcmp(token.data(), offer.token.data(), token.size()) != 0) {
    return absl::InvalidArgumentError("what a peer offers is other shared memory");
  }
  segment->fd_.Reset();
  return segment;
}

}  // namespace rekindle::comm
