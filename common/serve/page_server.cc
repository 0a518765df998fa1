#include "common/serve/page_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <deque>
#include <list>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/net/listen.h"
#include "common/serve/page_connection.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::common {
namespace {

constexpr int kRequestsOfAConnection = 1000;
constexpr int kBackOffMs = 20;
// While other clients wait for a thread, a client that has begun a request must complete it within `kHurriedSeconds`.
constexpr double kHurriedSeconds = 0.5;

// Uses cpp-httplib's parser and writer of HTTP, but not its loop that accepts and serves connections.
class Codec : public httplib::Server {
 public:
  Codec(PageServer::Handler handler, double idle_seconds) {
    // This keep-alive timeout is only told to clients. PageServer::Impl closes idle connections.
    set_keep_alive_timeout(static_cast<time_t>(idle_seconds));
    set_keep_alive_max_count(kRequestsOfAConnection);
    // The default headers are for the parser's own answers to requests that it does not understand.
    set_default_headers({{"Cache-Control", "no-store"},
                         {"Content-Security-Policy", "default-src 'none'"},
                         {"X-Content-Type-Options", "nosniff"}});
    set_pre_routing_handler([handler = std::move(handler)](const httplib::Request& from, httplib::Response& to) {
      PageAnswer answer = handler(Translate(from));
      to.status = answer.status;
      to.headers.clear();
      for (const auto& [name, value] : answer.headers) to.set_header(name, value);
      if (answer.body) to.set_content(*answer.body, answer.content_type);
      return HandlerResponse::Handled;
    });
    set_exception_handler([](const httplib::Request&, httplib::Response& to, std::exception_ptr) { to.status = 500; });
  }

  // Reads one request and answers it. Returns true if another one may follow on the connection.
  bool Serve(PageConnection& connection, bool last) {
    bool understood = false;
    bool closed = false;
    bool ends = last;
    const bool answered = process_request(connection, last, closed, [&](httplib::Request& request) {
      understood = true;
      // A request body is not read, so its bytes would be taken for the next request. The connection is closed instead.
      const std::string length = request.get_header_value("Content-Length");
      ends = ends || request.has_header("Transfer-Encoding") || (!length.empty() && length != "0");
      if (!ends) return;
      request.headers.erase("Connection");
      request.set_header("Connection", "close");
    });
    return understood && answered && !closed && !ends;
  }

 private:
  static PageRequest Translate(const httplib::Request& from) {
    PageRequest request;
    request.method = from.method;
    request.path = from.target.substr(0, from.target.find('?'));
    for (const auto& [name, value] : from.params) request.query.emplace(name, value);
    for (const auto& [name, value] : from.headers) {
      std::string& known = request.headers[absl::AsciiStrToLower(name)];
      absl::StrAppend(&known, known.empty() ? "" : ", ", value);
    }
    return request;
  }
};

const std::string& ValueOf(const std::map<std::string, std::string>& values, const std::string& name) {
  static const std::string none;
  const auto found = values.find(name);
  return found == values.end() ? none : found->second;
}

}  // namespace

const std::string& PageRequest::Header(const std::string& name) const { return ValueOf(headers, name); }
const std::string& PageRequest::Query(const std::string& name) const { return ValueOf(query, name); }

// One thread waits for requests on all idle connections, so an idle connection needs no thread of its own. Each of the
// other threads serves one request at a time.
class PageServer::Impl {
 public:
  Impl(const Options& options, Handler handler, Listener listener)
      : options_(options),
        limits_{options.request_bytes, options.read_seconds, options.write_seconds},
        listener_(std::move(listener)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        codec_(std::move(handler), options.idle_seconds) {}

  void Start() {
    // The server's threads block all signals, so that signals reach the threads that wait for them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    threads_.emplace_back([this] { Watch(); });
    for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { Work(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Impl() {
    {
      const MutexLock lock(mutex_);
      stop_ = true;
      for (const int fd : busy_) shutdown(fd, SHUT_RDWR);
    }
    ready_.NotifyAll();
    Wake();
    for (std::thread& thread : threads_) thread.join();
  }

  const std::string& address() const { return listener_.address; }

 private:
  struct Client {
    Client(UniqueFd socket, const PageTls::Context& tls) : connection(std::move(socket), tls) {}
    PageConnection connection;
    bool greeted = false;
    int served = 0;
    // `until` is the time until which the client may be idle.
    double until = 0;
  };
  using ClientPointer = std::unique_ptr<Client>;

  void Wake() { (void)!eventfd_write(wake_.get(), 1); }

  void Watch() {
    // `idle` begins with the client that has been idle for longest.
    std::list<ClientPointer> idle;
    for (;;) {
      {
        const MutexLock lock(mutex_);
        if (stop_) return;
        idle.splice(idle.end(), returned_);
      }
      std::vector<pollfd> polled = {{listener_.socket.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
      for (const ClientPointer& client : idle) polled.push_back({client->connection.fd(), POLLIN, 0});
      double next = SteadySeconds() + 60;
      for (const ClientPointer& client : idle) next = std::min(next, client->until);
      const double wait = std::max(0.0, next - SteadySeconds());
      poll(polled.data(), polled.size(), static_cast<int>(std::ceil(wait * 1000)));
      eventfd_t seen = 0;
      (void)!eventfd_read(wake_.get(), &seen);
      Sort(polled, &idle);
      if (polled[0].revents != 0) Accept(&idle);
    }
  }

  // Hands the clients that have sent something to the serving threads, and closes those whose time is over.
  void Sort(const std::vector<pollfd>& polled, std::list<ClientPointer>* idle) {
    const double now = SteadySeconds();
    size_t at = 2;
    for (auto client = idle->begin(); client != idle->end(); ++at) {
      if (polled[at].revents != 0) {
        const MutexLock lock(mutex_);
        waiting_.push_back(std::move(*client));
        ready_.NotifyOne();
      } else if ((*client)->until > now) {
        ++client;
        continue;
      } else {
        --connections_;
      }
      client = idle->erase(client);
    }
  }

  void Accept(std::list<ClientPointer>* idle) {
    for (;;) {
      UniqueFd socket(accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket.valid()) {
        const bool no_descriptors = errno == EMFILE || errno == ENFILE;
        if (no_descriptors && !DropOne(idle)) BackOff();
        return;
      }
      // If all clients are busy, none can be dropped for the new connection, which is closed.
      if (connections_ >= options_.connections && !DropOne(idle)) continue;
      ++connections_;
      idle->push_back(std::make_unique<Client>(std::move(socket), options_.tls ? options_.tls->context() : nullptr));
      idle->back()->until = SteadySeconds() + options_.read_seconds;
    }
  }

  bool DropOne(std::list<ClientPointer>* idle) {
    if (idle->empty()) return false;
    idle->pop_front();
    --connections_;
    return true;
  }

  // Waits a little after a failed accept, because the listening socket stays readable if no connection can be accepted.
  void BackOff() {
    pollfd wake = {wake_.get(), POLLIN, 0};
    poll(&wake, 1, kBackOffMs);
  }

  void Work() {
    for (;;) {
      ClientPointer client;
      {
        MutexLock lock(mutex_);
        ready_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !waiting_.empty(); });
        if (stop_) return;
        client = std::move(waiting_.front());
        waiting_.pop_front();
        busy_.insert(client->connection.fd());
      }
      const bool stays = Serve(*client);
      client->until = SteadySeconds() + options_.idle_seconds;
      {
        const MutexLock lock(mutex_);
        busy_.erase(client->connection.fd());
        if (stays) returned_.push_back(std::move(client));
      }
      if (stays) {
        Wake();
      } else {
        client.reset();
        --connections_;
      }
    }
  }

  RequestLimits Limits() {
    RequestLimits limits = limits_;
    const MutexLock lock(mutex_);
    const bool has_free_threads = waiting_.empty() && busy_.size() < static_cast<size_t>(options_.threads);
    if (!has_free_threads) limits.read_seconds = std::min(limits.read_seconds, kHurriedSeconds);
    return limits;
  }

  bool Serve(Client& client) {
    PageConnection& connection = client.connection;
    if (!client.greeted) {
      connection.Begin(Limits());
      if (!connection.Handshake()) return false;
      client.greeted = true;
      if (options_.tls != nullptr && !connection.HasBuffered()) return true;
    }
    do {
      connection.Begin(Limits());
      if (!codec_.Serve(connection, ++client.served >= kRequestsOfAConnection)) {
        connection.Finish();
        return false;
      }
    } while (connection.HasBuffered());
    return true;
  }

  const Options options_;
  const RequestLimits limits_;
  const Listener listener_;
  const UniqueFd wake_;
  Codec codec_;
  std::atomic<size_t> connections_{0};
  std::vector<std::thread> threads_;

  Mutex mutex_;
  CondVar ready_;
  // `waiting_` has the clients that have sent something and wait for a serving thread.
  std::deque<ClientPointer> waiting_ ABSL_GUARDED_BY(mutex_);
  // `returned_` has the clients that are idle again after an answer.
  std::list<ClientPointer> returned_ ABSL_GUARDED_BY(mutex_);
  // `busy_` has the descriptors of the clients that are being served.
  std::set<int> busy_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
};

absl::StatusOr<std::unique_ptr<PageServer>> PageServer::Start(const Options& options, Handler handler) {
  const absl::StatusOr<HostPort> at = ParseListen(options.flag, options.listen);
  if (!at.ok()) return at.status();
  absl::StatusOr<Listener> listener = Listen(*at, options.flag);
  if (!listener.ok()) return listener.status();
  auto impl = std::make_unique<Impl>(options, std::move(handler), *std::move(listener));
  impl->Start();
  return std::unique_ptr<PageServer>(new PageServer(std::move(impl)));
}

PageServer::PageServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PageServer::~PageServer() = default;

const std::string& PageServer::address() const { return impl_->address(); }

}  // namespace rekindle::common
