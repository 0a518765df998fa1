#include "worker/device/exchange/host_exchange.h"

#include <utility>
#include <vector>

#include "common/check/check.h"
#include "worker/comm/contract/work.h"
#include "worker/device/exchange/pieces.h"
#include "worker/device/exchange/tickets.h"

namespace rekindle::device {
namespace {

class HostExchange final : public Exchange {
 public:
  HostExchange(Device& device, comm::Communicator& communicator)
      : device_(device), communicator_(communicator), tickets_(device) {
    common::Check(device.IsHost(), "a communicator uses the memory of the host only");
  }
  ~HostExchange() override { (void)WaitAll(); }

  Ticket AllReduce(const Range& in, const Range& out, comm::DataType type) override {
    return Begin({.name = "reduce", .reads = {in}, .writes = {out}}, in.bytes, kMostReducedBytes,
                 [&](const Addresses& at, int64_t offset, size_t count) {
                   return communicator_.AllReduce(at.Read<char>(0) + offset, at.Write<char>(0) + offset,
                                                  count / comm::SizeOf(type), type, comm::ReduceOp::kSum);
                 });
  }
  Ticket Broadcast(const Range& buffer, int root) override {
    return Begin({.name = "broadcast", .reads = {}, .writes = {buffer}}, buffer.bytes, kMostMovedBytes,
                 [&](const Addresses& at, int64_t offset, size_t count) {
                   return communicator_.Broadcast(at.Write<char>(0) + offset, count, root);
                 });
  }
  Ticket Send(const Range& from, int peer) override {
    return Begin({.name = "send", .reads = {from}, .writes = {}}, from.bytes, kMostMovedBytes,
                 [&](const Addresses& at, int64_t offset, size_t count) {
                   return communicator_.Send(at.Read<char>(0) + offset, count, peer);
                 });
  }
  Ticket Recv(const Range& to, int peer) override {
    return Begin({.name = "receive", .reads = {}, .writes = {to}}, to.bytes, kMostMovedBytes,
                 [&](const Addresses& at, int64_t offset, size_t count) {
                   return communicator_.Recv(at.Write<char>(0) + offset, count, peer);
                 });
  }
  Ticket AllGather(const void* in, void* out, size_t bytes) override {
    return tickets_.Begin({communicator_.AllGather(in, out, bytes)});
  }

  absl::Status Wait(Ticket ticket) override {
    absl::Status status = tickets_.Wait(ticket);
    status.Update(device_.Await({}, nullptr));
    return status;
  }
  absl::Status WaitAll() override {
    absl::Status status = tickets_.WaitAll();
    status.Update(device_.Await({}, nullptr));
    return status;
  }

  comm::Communicator& communicator() override { return communicator_; }
  Transport transport() const override { return Transport::kHost; }

 private:
  // Runs an operation that issues those of the communicator, one for each piece. They go on to use the memory after it
  // has run.
  template <typename Issue>
  Ticket Begin(Operation operation, int64_t bytes, int64_t most, const Issue& issue) {
    std::vector<comm::Work> works;
    operation.run = [&](const Addresses& at) {
      ForEachPiece(bytes, most, [&](int64_t offset, int64_t count) {
        works.push_back(issue(at, offset, static_cast<size_t>(count)));
      });
      return absl::OkStatus();
    };
    device_.Run(Queue::kExchange, std::move(operation));
    return tickets_.Begin(std::move(works));
  }

  Device& device_;
  comm::Communicator& communicator_;
  Tickets tickets_;
};

}  // namespace

std::unique_ptr<Exchange> MakeHostExchange(Device& device, comm::Communicator& communicator) {
  return std::make_unique<HostExchange>(device, communicator);
}

}  // namespace rekindle::device
