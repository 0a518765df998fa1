// Streams the replies of one call. It pulls its messages on the loop's thread, a few at a time. If there are none yet,
// it waits for news on the loop's Bulletin, without holding a thread. It deletes itself when the call is over.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_STREAM_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "common/rpc/rpc.h"
#include "coordinator/server/loop/loop.h"

namespace rekindle::coordinator {

inline uint64_t NextStreamId() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

// Tells the caller that its stream is served, even if the first message comes much later. SayServed must be called
// before anything else is sent on the stream.
template <typename Reactor>
void SayServed(grpc::CallbackServerContext* context, Reactor* reactor) {
  context->AddInitialMetadata(common::kServesStream, "1");
  reactor->StartSendInitialMetadata();
}

template <typename Message>
class Stream final : public grpc::ServerWriteReactor<Message> {
 public:
  struct Pulled {
    // When `messages` is empty, the stream has ended or has to wait.
    std::vector<Message> messages;
    // `more` is false when the stream ends with OK after `messages`. If `more` is an error, the stream ends with that
    // error.
    absl::StatusOr<bool> more = true;
    Bulletin::Wait wait;
  };
  // A `Pull` returns the next messages of the stream. It is called on the loop's thread.
  using Pull = std::function<Pulled()>;

  static Stream* Start(grpc::CallbackServerContext* context, Loop* loop, Pull pull) {
    auto* stream = new Stream(loop, std::move(pull));
    SayServed(context, stream);
    stream->Fetch();
    return stream;
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return this->Finish(grpc::Status::CANCELLED);
    if (++next_ < pulled_.messages.size()) return this->StartWrite(&pulled_.messages[next_]);
    Fetch();
  }

  void OnCancel() override {
    cancelled_ = true;
    // Post fails if the loop has ended. Nothing has to be done then, because the loop has woken all waiting streams
    // when it ended.
    loop_->inbox().Post([loop = loop_, id = id_] { loop->bulletin().Wake(id); }).IgnoreError();
  }

  void OnDone() override { delete this; }

 private:
  Stream(Loop* loop, Pull pull) : loop_(loop), pull_(std::move(pull)) {}
  ~Stream() override = default;

  // At any time only one of these owns the stream: a write in flight, a task in the queue, or a wait. So Finish is
  // called once.
  void Fetch() {
    const absl::Status posted = loop_->inbox().Post([this] { OnLoop(); });
    if (!posted.ok()) this->Finish(common::StatusToGrpc(posted));
  }

  void OnLoop() {
    if (cancelled_) return this->Finish(grpc::Status::CANCELLED);
    if (!loop_->ended().ok()) return this->Finish(common::StatusToGrpc(loop_->ended()));
    if (pulled_.more.ok() && !*pulled_.more) return this->Finish(grpc::Status::OK);
    pulled_ = pull_();
    next_ = 0;
    if (!pulled_.more.ok()) return this->Finish(common::StatusToGrpc(pulled_.more.status()));
    if (!pulled_.messages.empty()) return this->StartWrite(&pulled_.messages[0]);
    if (!*pulled_.more) return this->Finish(grpc::Status::OK);
    loop_->bulletin().Await(id_, pulled_.wait, [this] { OnLoop(); });
  }

  Loop* const loop_;
  const Pull pull_;
  const uint64_t id_ = NextStreamId();
  std::atomic<bool> cancelled_{false};
  Pulled pulled_;
  size_t next_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_STREAM_H_
