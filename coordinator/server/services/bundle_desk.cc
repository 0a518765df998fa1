#include "coordinator/server/services/bundle_desk.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/bundle/bundle.h"
#include "common/rpc/rpc.h"
#include "common/text/printable.h"
#include "common/time/clock.h"

namespace rekindle::coordinator {
namespace {

absl::Status Stopping() { return absl::UnavailableError("the coordinator is stopping: try again"); }

absl::Status TakesNone() {
  return absl::FailedPreconditionError(
      "this coordinator takes no code of users: start rekindle-coordinator with --allow-code on");
}

absl::Status CheckPut(const v1::PutBundleRequest& request) {
  if (!common::IsBundleAddress(request.address())) {
    return absl::InvalidArgumentError("address: a bundle has an address of 64 lower-case hex digits");
  }
  if (request.data().size() > common::kMaxBundlePieceBytes) {
    return absl::InvalidArgumentError(absl::StrCat("data: at most ", common::kMaxBundlePieceBytes, " bytes at a time"));
  }
  return request.offset() >= 0 ? absl::OkStatus() : absl::InvalidArgumentError("offset: must be 0 or more");
}

}  // namespace

absl::Status CheckMayGetBundle(const Loop& loop, const v1::GetBundleRequest& request) {
  const auto refuse = [&](const char* why) {
    return absl::PermissionDeniedError(absl::StrCat("node ", common::Printable(request.node()),
                                                    " may not get a bundle of job ",
                                                    common::Printable(request.job_uid()), ": ", why));
  };
  const v1::JobRecord* record = loop.cluster().FindJob(request.job_uid());
  if (record == nullptr || record->job().uid() != request.job_uid()) return refuse("there is no such job");
  if (request.address().empty() || record->job().status().resolved_spec().model().bundle() != request.address()) {
    return refuse("the job has no such bundle");
  }
  const std::vector<std::string> nodes = loop.cluster().NodesOf({request.job_uid()});
  const bool holds = std::find(nodes.begin(), nodes.end(), request.node()) != nodes.end();
  if (!holds) return refuse("it holds no slot of the job");
  const std::optional<v1::Node> node = loop.cluster().FindNode(loop.core_now(), request.node());
  if (!node || node->incarnation() != request.incarnation()) return refuse("another machine has its name");
  return absl::OkStatus();
}

std::set<std::string> NamedBundles(const Loop& loop) {
  std::set<std::string> named;
  for (const v1::JobRecord* record : loop.cluster().Jobs()) {
    const std::string& bundle = record->job().status().resolved_spec().model().bundle();
    if (!bundle.empty()) named.insert(bundle);
  }
  return named;
}

// Is one call. It is over when its reply was handed to the network, and deletes itself then.
class BundleDesk::Call final : public grpc::ServerUnaryReactor {
 public:
  Call(BundleDesk* desk, grpc::CallbackServerContext* context) : desk_(desk), context_(context) {}

  void End(const absl::Status& status) { Finish(common::StatusToGrpc(status)); }
  // Has the call end although its client does not take the reply.
  void Cancel() { context_->TryCancel(); }
  bool is_cancelled() const { return is_cancelled_; }

  void OnCancel() override { is_cancelled_ = true; }
  void OnDone() override {
    desk_->Done(this);
    delete this;
  }

 private:
  BundleDesk* const desk_;
  grpc::CallbackServerContext* const context_;
  std::atomic<bool> is_cancelled_{false};
};

BundleDesk::BundleDesk(Loop* loop, const Voice* voice, BundleShelf* shelf, Options options)
    : loop_(loop), voice_(voice), shelf_(shelf), options_(options), thread_([this] { Run(); }) {}

void BundleDesk::OnLoop(Call* call, std::function<void()> task) {
  const absl::Status posted = loop_->inbox().Post(
      [this, call, task = std::move(task)] { loop_->ended().ok() ? task() : call->End(loop_->ended()); });
  if (!posted.ok()) call->End(posted);
}

grpc::ServerUnaryReactor* BundleDesk::Put(grpc::CallbackServerContext* context, const v1::PutBundleRequest* request,
                                          v1::PutBundleReply* reply) {
  auto* call = new Call(this, context);
  absl::Status valid = options_.takes ? CheckPut(*request) : TakesNone();
  if (voice_->superseded()) valid = absl::FailedPreconditionError(DescribeSuperseded(voice_->record()));
  if (!valid.ok()) {
    call->End(valid);
    return call;
  }
  const auto answer = [reply](const absl::StatusOr<BundleShelf::Progress>& progress) {
    if (!progress.ok()) return progress.status();
    reply->set_have(progress->have);
    reply->set_complete(progress->complete);
    return absl::OkStatus();
  };
  if (request->data().empty()) {
    OnLoop(call, [this, call, request, answer] {
      Post({call, [this, request, answer, named = NamedBundles(*loop_)](size_t*) {
              return answer(shelf_->Begin(request->address(), request->bytes(), named));
            }});
    });
    return call;
  }
  Post({call,
        [this, request, answer](size_t* moved) {
          *moved = request->data().size();
          return answer(shelf_->Append(request->address(), request->bytes(), request->offset(), request->data()));
        },
        request->data().size()});
  return call;
}

grpc::ServerUnaryReactor* BundleDesk::Get(grpc::CallbackServerContext* context, const v1::GetBundleRequest* request,
                                          v1::GetBundleReply* reply) {
  auto* call = new Call(this, context);
  OnLoop(call, [this, call, request, reply] {
    if (absl::Status may = CheckMayGetBundle(*loop_, *request); !may.ok()) return call->End(may);
    Post({call, [this, request, reply](size_t* moved) {
            absl::StatusOr<BundleShelf::Piece> piece = shelf_->Read(request->address(), request->offset());
            if (!piece.ok()) return piece.status();
            *moved = piece->data.size();
            reply->set_bytes(piece->bytes);
            reply->set_data(std::move(piece->data));
            return absl::OkStatus();
          }});
  });
  return call;
}

void BundleDesk::Post(Task task) {
  absl::Status refused;
  {
    const common::MutexLock lock(mutex_);
    const bool is_full = queue_.size() >= options_.max_waiting ||
                         (!queue_.empty() && waiting_bytes_ + task.bytes > options_.max_waiting_bytes);
    if (stopped_) refused = Stopping();
    if (!stopped_ && is_full) refused = absl::UnavailableError("too many pieces of bundles wait: try again");
    if (refused.ok()) {
      waiting_bytes_ += task.bytes;
      queue_.push_back(std::move(task));
      changed_.NotifyAll();
    }
  }
  if (!refused.ok()) task.call->End(refused);
}

bool BundleDesk::Next(Task* task) {
  common::MutexLock lock(mutex_);
  const auto stops = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopped_; };
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopped_ || (!queue_.empty() && under_way_.size() < options_.at_once);
  };
  while (!stopped_) {
    const auto [oldest, seconds] = Oldest();
    if (oldest != nullptr && seconds <= 0) {
      // The end may come a moment later, and the call is not ended again before. It may come on this thread, and takes
      // the lock.
      under_way_[oldest] = common::SteadySeconds();
      ending_ = oldest;
      ending_on_ = std::this_thread::get_id();
      lock.Unlock();
      oldest->Cancel();
      lock.Lock();
      ending_ = nullptr;
      changed_.NotifyAll();
    } else if (const double left = next_at_ - common::SteadySeconds(); has_work() && left > 0) {
      (void)changed_.WaitFor(lock, std::chrono::duration<double>(left), stops);
    } else if (has_work()) {
      break;
    } else if (oldest != nullptr) {
      (void)changed_.WaitFor(lock, std::chrono::duration<double>(seconds), has_work);
    } else {
      changed_.Wait(lock, has_work);
    }
  }
  if (stopped_) return false;
  *task = std::move(queue_.front());
  queue_.pop_front();
  waiting_bytes_ -= task->bytes;
  under_way_[task->call] = common::SteadySeconds();
  return true;
}

std::pair<BundleDesk::Call*, double> BundleDesk::Oldest() const {
  const auto oldest = std::min_element(under_way_.begin(), under_way_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (oldest == under_way_.end()) return {nullptr, 0};
  return {oldest->first, oldest->second + options_.stalled_seconds - common::SteadySeconds()};
}

void BundleDesk::Run() {
  Task task;
  while (Next(&task)) {
    size_t moved = 0;
    const absl::Status status =
        task.call->is_cancelled() ? absl::CancelledError("nobody waits for this piece") : task.run(&moved);
    {
      const common::MutexLock lock(mutex_);
      next_at_ = std::max(next_at_, common::SteadySeconds()) + static_cast<double>(moved) / options_.bytes_per_second;
    }
    task.call->End(status);
    task = {};
  }
}

void BundleDesk::Done(Call* call) {
  common::MutexLock lock(mutex_);
  // The desk's thread may be in Cancel of this call, which must live until then. On that thread itself Cancel has
  // nothing left to do with it.
  changed_.Wait(lock, [this, call]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ending_ != call || ending_on_ == std::this_thread::get_id();
  });
  under_way_.erase(call);
  changed_.NotifyAll();
}

void BundleDesk::Stop() {
  std::deque<Task> left;
  {
    const common::MutexLock lock(mutex_);
    stopped_ = true;
    left.swap(queue_);
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  for (const Task& task : left) task.call->End(Stopping());
}

}  // namespace rekindle::coordinator
