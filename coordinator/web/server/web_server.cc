#include "coordinator/web/server/web_server.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/net/listen.h"
#include "common/sync/mutex.h"
#include "coordinator/web/parts/token.h"
#include "coordinator/web/server/web_file.h"

namespace rekindle::coordinator::web {
namespace {

constexpr auto kSampleEvery = std::chrono::seconds(2);

// Percent-encodes a token for a URL's fragment, because an operator's token may contain any visible ASCII.
std::string PercentEncoded(const std::string& text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || std::string_view("-._~").find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      absl::StrAppend(&encoded, "%", absl::Hex(byte, absl::kZeroPad2));
    }
  }
  return encoded;
}

}  // namespace

absl::Status WebServer::Check(const std::string& listen, const common::Security& security) {
  const absl::StatusOr<common::HostPort> at = common::ParseListen("--web", listen);
  if (!at.ok()) return at.status();
  const bool has_all = !security.tls_cert.empty() && !security.tls_key.empty() && !security.token_file.empty();
  if (has_all || common::IsLoopback(listen)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--web ", listen,
                                                 " would be open to others: give --tls-cert, --tls-key and "
                                                 "--token-file, or listen on 127.0.0.1"));
}

absl::StatusOr<std::unique_ptr<WebServer>> WebServer::Start(Options options, std::unique_ptr<Source> source) {
  const common::Security& security = options.security;
  if (absl::Status fit = Check(options.listen, security); !fit.ok()) return fit;
  const absl::StatusOr<common::HostPort> at = common::ParseListen("--web", options.listen);
  if (!at.ok()) return at.status();
  const bool local = common::IsLoopback(options.listen);
  const absl::StatusOr<std::string> token = PageToken(security.token_file, options.folder);
  if (!token.ok()) return token.status();

  std::unique_ptr<WebServer> self(new WebServer);
  self->source_ = std::move(source);
  Access::Options access{.token = *token, .scheme = local ? "http" : "https", .is_ours = {}, .names = {}};
  if (local) {
    access.is_ours = [host = at->host](const std::string& name) {
      return name == host || common::IsLoopback(absl::StrCat(common::InUrl(name), ":0"));
    };
  } else {
    absl::StatusOr<std::unique_ptr<common::PageTls>> tls = common::PageTls::Open(security.tls_cert, security.tls_key);
    if (!tls.ok()) return tls.status();
    self->tls_ = *std::move(tls);
    access.is_ours = [tls = self->tls_.get()](const std::string& name) { return tls->Names(name); };
  }
  access.names = local ? "127.0.0.1 or localhost" : "one that its certificate has";
  self->page_ =
      std::make_unique<Page>(self->source_.get(), Page::Options{std::move(access), std::move(options.version)});
  absl::StatusOr<std::unique_ptr<common::PageServer>> server = common::PageServer::Start(
      {.listen = options.listen, .tls = self->tls_.get()},
      [page = self->page_.get()](const common::PageRequest& request) { return page->Handle(request); });
  if (!server.ok()) return server.status();
  self->server_ = *std::move(server);
  self->address_ = absl::StrCat(local ? "http://" : "https://", self->server_->address(), "/");
  self->address_with_token_ = local ? absl::StrCat(self->address_, "#token=", PercentEncoded(*token)) : self->address_;
  if (absl::Status written = common::WriteFileAtomic(*common::PosixFileSystem(), WebFile(options.folder),
                                                     self->address_with_token_ + "\n");
      !written.ok()) {
    return written;
  }
  self->sampler_ = std::thread([raw = self.get()] { raw->SampleNowAndThen(); });
  return self;
}

WebServer::~WebServer() {
  server_.reset();
  {
    const common::MutexLock lock(mutex_);
    stop_ = true;
  }
  stopped_.NotifyAll();
  if (sampler_.joinable()) sampler_.join();
}

void WebServer::SampleNowAndThen() {
  common::MutexLock lock(mutex_);
  while (!stopped_.WaitFor(lock, kSampleEvery, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; })) {
    lock.Unlock();
    page_->Sample();
    lock.Lock();
  }
}

}  // namespace rekindle::coordinator::web
