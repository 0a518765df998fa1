#include "checkpoint/service/service_main.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <climits>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/service/memory_tier.h"
#include "checkpoint/service/peer_service.h"
#include "checkpoint/service/peers.h"
#include "checkpoint/service/service.h"
#include "checkpoint/service/staging.h"
#include "checkpoint/service/tiers.h"
#include "checkpoint/wire/service_limits.h"
#include "common/digest/hash.h"
#include "common/files/file.h"
#include "common/files/state_folder.h"
#include "common/files/users.h"
#include "common/log/log.h"
#include "common/metrics/metrics.h"
#include "common/net/descriptors.h"
#include "common/objects/store_endpoints.h"
#include "common/process/process.h"
#include "common/rpc/local_token.h"
#include "common/rpc/rpc.h"

namespace rekindle::checkpoint {
namespace {

// The memory that a dead trainer owned is taken back within `kSweepMilliseconds`.
constexpr int kSweepMilliseconds = 500;
// When the service stops, calls in progress have `kShutdownSeconds` to end.
constexpr double kShutdownSeconds = 5;

struct Flags {
  std::string dir;
  uint64_t memory_limit = uint64_t{4} << 30;
  std::string shm_dir = "/dev/shm";
  uint64_t peer_memory = uint64_t{4} << 30;
  std::string peer_listen = "127.0.0.1:0";
  std::string metrics;
  uint64_t bandwidth = 0;
  std::string store_group;
  std::vector<std::string> store_endpoints;
};

// Holds all parts of a node's checkpoint service. They are destroyed in the reverse order, so each part outlives those
// that use it.
struct Node {
  Node(const std::string& shm_dir, const std::string& prefix, int64_t memory_limit, int64_t peer_memory)
      : peer_staging(shm_dir, prefix + "peer-", peer_memory), staging(shm_dir, prefix, memory_limit) {}

  Staging peer_staging;
  // `staging` may hold segments of `peer_staging` for readers, so it has to be destroyed first.
  Staging staging;
  MemoryTier own;
  MemoryTier copies;
  Peers peers;
  common::Metrics metrics;
  Tiers tiers{staging, own, copies, peers, metrics};
  PeerService peer_service{peer_staging, copies, own};
};

// Holds the canonical path of the node's folder and the lock that this process keeps on it until it ends.
struct NodeFolder {
  std::string path;
  common::UniqueFd lock;
};

absl::StatusOr<NodeFolder> Enter(const std::string& dir) {
  if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST)
    return common::ErrnoStatus(errno, "cannot create folder", dir);
  char resolved[PATH_MAX];
  if (::realpath(dir.c_str(), resolved) == nullptr) return common::ErrnoStatus(errno, "cannot resolve", dir);
  if (::chmod(resolved, 0700) != 0) return common::ErrnoStatus(errno, "cannot close to others", resolved);
  NodeFolder folder{.path = resolved};
  const std::string lock = folder.path + "/checkpoint.lock";
  folder.lock = common::UniqueFd(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!folder.lock.valid()) return common::ErrnoStatus(errno, "cannot open", lock);
  if (const absl::Status marked = common::MarkStateFolder(folder.path); !marked.ok()) {
    log::Warning("jobs may read this node's state", {{"why", std::string(marked.message())}});
  }
  if (::flock(folder.lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("another rekindle-checkpoint serves ", folder.path, ": stop it first, or use another --dir"));
  }
  return folder;
}

void ServeUntilSignal(int signals, Staging& staging) {
  while (true) {
    pollfd wait{.fd = signals, .events = POLLIN};
    ::poll(&wait, 1, kSweepMilliseconds);
    if (const int signal = common::ReadSignal(signals); signal != 0) {
      log::Info("stopping", {{"signal", signal}});
      return;
    }
    if (const int removed = staging.RemoveOfDead(); removed > 0) {
      log::Info("removed segments of trainers that have ended", {{"segments", removed}});
    }
  }
}

// `PeerServer` is the server that other nodes' services call.
struct PeerServer {
  // `server` is null if this node does not serve peers.
  std::unique_ptr<common::Server> server;
  std::optional<common::PublishedToken> token;
  std::string address() const { return server == nullptr ? "" : server->address(); }
};

absl::StatusOr<PeerServer> ServePeers(const Flags& flags, const std::string& folder, PeerService& service) {
  PeerServer peers;
  if (flags.peer_listen.empty()) return peers;
  common::ServerOptions options;
  options.listen = flags.peer_listen;
  options.security = common::Security::FromEnvironment();
  options.max_message_bytes = kMaxServiceMessage;
  options.what = "checkpoint service";
  // Other users must not get the shards of this user's jobs. On loopback every user of the machine can call the peers'
  // server, so calls need a token that only services of the same user can read.
  const bool all_may_call = !options.security.HasTls() && common::IsLoopback(options.listen);
  if (all_may_call && options.security.token_file.empty()) {
    options.security.token_file = folder + "/peer-token";
    if (absl::Status made = common::MakeTokenFile(options.security.token_file); !made.ok()) return made;
  }
  auto server = common::Server::Start(options, {&service});
  if (!server.ok()) return server.status();
  peers.server = *std::move(server);
  if (!all_may_call) return peers;
  const auto token = common::ReadToken(options.security.token_file);
  if (!token.ok()) return token.status();
  auto published = common::PublishedToken::Publish(peers.server->port(), *token);
  if (published.ok()) {
    peers.token.emplace(*std::move(published));
  } else {
    log::Warning("no copies in peers' memory: nobody finds the token by this service's address",
                 {{"why", std::string(published.status().message())}});
  }
  return peers;
}

// Returns the file system on which the stores of file:// URIs are.
absl::StatusOr<common::FileSystem*> StoreFiles(const Flags& flags) {
  if (flags.store_group.empty()) return common::PosixFileSystem();
  const auto group = common::FindGroup(flags.store_group);
  if (!group.ok()) return absl::InvalidArgumentError(absl::StrCat("--store-group: ", group.status().message()));
  return common::NewGroupFileSystem(*group);
}

absl::Status Run(const Flags& flags, const WrapFiles& wrap) {
  // SIGTERM and SIGINT are blocked before any thread starts, so that no thread takes them.
  const auto signals = common::OpenSignalFd({SIGTERM, SIGINT});
  if (!signals.ok()) return signals.status();
  ::umask(0077);
  const auto folder = Enter(flags.dir);
  if (!folder.ok()) return folder.status();

  const std::string prefix = absl::StrCat("rekindle-", common::Xxh3_128Hex(folder->path).substr(0, 16), "-");
  Node node(flags.shm_dir, prefix, static_cast<int64_t>(flags.memory_limit), static_cast<int64_t>(flags.peer_memory));
  const auto leftovers = node.staging.RemoveLeftovers();
  if (!leftovers.ok()) return leftovers.status();
  if (*leftovers > 0) log::Info("removed segments of an earlier run", {{"segments", *leftovers}});

  node.metrics.AddSource([&node](common::MetricSamples& samples) {
    samples.Gauge("rekindle_checkpoint_staged_bytes", "Shared memory lent to trainers.",
                  static_cast<double>(node.staging.bytes()));
    samples.Gauge("rekindle_checkpoint_copies_bytes", "Shared memory that holds copies of other nodes' shards.",
                  static_cast<double>(node.peer_staging.bytes()));
  });
  if (!flags.metrics.empty()) {
    const auto address = node.metrics.Serve(flags.metrics, common::Security::FromEnvironment());
    if (!address.ok()) return address.status();
    log::Info("metrics", {{"address", *address}});
  }
  const auto files = StoreFiles(flags);
  if (!files.ok()) return files.status();
  const auto endpoints = common::StoreEndpoints::Create(
      flags.store_endpoints, flags.peer_listen.empty() || common::IsLoopback(flags.peer_listen));
  if (!endpoints.ok()) return endpoints.status();
  const auto peers = ServePeers(flags, folder->path, node.peer_service);
  if (!peers.ok()) return peers.status();
  common::ObjectStoreOptions objects;
  if (flags.bandwidth > 0) {
    const auto rate = static_cast<double>(flags.bandwidth);
    objects.bandwidth = std::make_shared<common::TokenBucket>(rate, rate);
  }
  CheckpointService service({.fs = wrap(**files),
                             .objects = objects,
                             .endpoints = *endpoints,
                             .staging = node.staging,
                             .own = node.own,
                             .copies = node.copies,
                             .peers = node.peers,
                             .tiers = node.tiers,
                             .metrics = node.metrics,
                             .address = peers->address(),
                             .node_folder = folder->path});
  common::ServerOptions options;
  options.listen = absl::StrCat("unix:", folder->path, "/checkpoint.sock");
  options.max_message_bytes = kMaxServiceMessage;
  const auto server = common::Server::Start(options, {&service});
  if (!server.ok()) return server.status();
  ::chmod(options.listen.substr(5).c_str(), 0600);
  log::Info("serving", {{"address", (*server)->address()}});
  ServeUntilSignal(signals->get(), node.staging);
  (*server)->Shutdown(kShutdownSeconds);
  if (peers->server != nullptr) peers->server->Shutdown(0);
  return absl::OkStatus();
}

}  // namespace

int ServiceMain(int argc, char** argv, const std::string& version, const WrapFiles& wrap) {
  Flags flags;
  CLI::App app("The checkpoint service of a node: lends trainers shared memory, writes their shards and manifests.");
  app.set_version_flag("--version", version);
  app.add_option("--dir", flags.dir, "The node's folder; serves DIR/checkpoint.sock")->required();
  app.add_option("--memory-limit", flags.memory_limit, "Shared memory lent at any time, as 4GiB")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 50))
      ->capture_default_str();
  app.add_option("--peer-memory", flags.peer_memory, "Shared memory for copies of other nodes' shards")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 50))
      ->capture_default_str();
  app.add_option(
         "--peer-listen", flags.peer_listen,
         "host:port for other nodes' checkpoint services; empty: no copies in peers' memory. Beyond loopback it "
         "needs REKINDLE_TLS_CERT, REKINDLE_TLS_KEY, REKINDLE_TLS_CA and REKINDLE_TOKEN_FILE")
      ->capture_default_str();
  app.add_option("--shm-dir", flags.shm_dir, "Folder of the shared memory, a tmpfs")->capture_default_str();
  app.add_option("--bandwidth", flags.bandwidth, "Bytes a second to and from buckets, as 100MiB; 0: no cap")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--store-group", flags.store_group,
                 "A group whose members may read what it writes into file:// stores and archives (0640, folders 0750); "
                 "else its own user alone may (0600, 0700)");
  app.add_option("--store-endpoint", flags.store_endpoints,
                 "HOST[:PORT] of an object store of your own, which jobs may name by endpoint_override; may be given "
                 "several times. Those on loopback are listed anyway where --peer-listen is not beyond it");
  app.add_option("--metrics", flags.metrics,
                 "host:port to serve Prometheus metrics on. Beyond loopback it needs the same; default: none");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  log::Init("rekindle-checkpoint");
  common::RaiseDescriptorLimit();
  const absl::Status status = Run(flags, wrap);
  if (status.ok()) return 0;
  std::cerr << "rekindle-checkpoint: " << std::string(status.message()) << "\n";
  return 1;
}

}  // namespace rekindle::checkpoint
