// rekindle-coordinator: places jobs on nodes and decides who trains. See coordinator/README.md.
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "common/descriptors.h"
#include "common/flag_values.h"
#include "common/log.h"
#include "common/release.h"
#include "common/version.h"
#include "coordinator/server/coordinator_server.h"
#include "coordinator/web/loop_source.h"
#include "coordinator/web/web_file.h"
#include "coordinator/web/web_server.h"

namespace {

namespace rk = rekindle;

constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr int kMallocArenas = 2;
constexpr uint64_t kSmallestLog = 1 << 20;
constexpr uint64_t kLargestLog = uint64_t{1} << 50;

void AddFlags(CLI::App& app, rk::coordinator::CoordinatorServer::Options& options, std::string& web,
              std::string& log_format, int& state_gib) {
  rk::common::Security& security = options.rpc.security;
  options.rpc.listen = "127.0.0.1:7070";
  app.set_version_flag("--version", rk::common::VersionLine("rekindle-coordinator"));
  app.add_option("--data", options.data, "Folder for the state; created when missing")->required();
  app.add_option("--listen", options.rpc.listen, "host:port; port 0 takes any free one")->capture_default_str();
  app.add_option("--advertise", options.advertise, "host:port that others connect to, when it is not that of --listen");
  app.add_option("--metrics", options.metrics,
                 "host:port for Prometheus, beyond loopback by TLS and token; empty: none")
      ->capture_default_str();
  app.add_option("--web", web,
                 "host:port for the web page (docs/web.md); beyond loopback with TLS; port 0 takes any free one; "
                 "empty: none")
      ->capture_default_str();
  app.add_option("--tls-cert", security.tls_cert, "PEM certificate (REKINDLE_TLS_CERT)");
  app.add_option("--tls-key", security.tls_key, "PEM key of --tls-cert (REKINDLE_TLS_KEY)");
  app.add_option("--tls-ca", security.tls_ca, "PEM authority of the clients (REKINDLE_TLS_CA)");
  app.add_option("--token-file", security.token_file,
                 "File with the token that calls must carry (REKINDLE_TOKEN_FILE); on loopback it is DATA/token, which "
                 "is made, unless another is named");
  app.add_option("--default-store", options.defaults.store,
                 "Where jobs keep checkpoints: file:///folder, s3://bucket/prefix, gs://... or abfs://...");
  app.add_option("--data-root", options.data_roots,
                 "A folder that jobs may read; may be given several times. Default: on loopback /, else what each node "
                 "says (rekindle-worker --data-root)");
  app.add_option("--store-endpoint", options.store_endpoints,
                 "HOST[:PORT] of an object store of your own, which jobs may name by endpoint_override; may be given "
                 "several times. That of --default-store is one, and on loopback all on loopback are");
  app.add_option(
      "--fleet", options.fleet,
      "Fleet file: what nodes cost (docs/costs.md) and how to get them (docs/fleet.md); read again on SIGHUP");
  app.add_flag("--end-local-machines", options.end_local_machines,
               "Machines of local pools drain and end with this coordinator; else they stay for the next one");
  app.add_option(
         "--listen-first", options.listen_seconds,
         "Seconds to listen who lives, before anything is decided on records that were brought back from a copy")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();
  app.add_option(
         "--alone-seconds", options.tunables.alone_seconds,
         "Machines that the fleet file's providers were asked for end themselves after so many seconds without a "
         "coordinator; 0: never (docs/fleet.md)")
      ->check(rk::common::NumberFrom(0))
      ->capture_default_str();
  app.add_option("--keep-jobs", options.tunables.keep_jobs,
                 "So many jobs that are over are kept; those that ended first are forgotten (docs/operations.md)")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  app.add_option("--keep-days", options.tunables.keep_days, "Jobs that are over are forgotten after so many days")
      ->check(CLI::Range(1.0 / 24, 36'500.0))
      ->capture_default_str();
  app.add_option("--state-limit", state_gib, "GiB that the database in --data may grow to")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--logs-per-job", options.job_log_bytes,
                 "Bytes that are kept in --data of what a job's trainers wrote, as 64MiB; the oldest go first")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(kSmallestLog, kLargestLog))
      ->type_name("SIZE")
      ->default_str("64MiB");
  app.add_option("--logs-total", options.log_bytes, "Bytes that are kept of all jobs' together")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(kSmallestLog, kLargestLog))
      ->type_name("SIZE")
      ->default_str("4GiB");
  app.add_option("--alert-webhook", options.alert_webhook,
                 "http or https URL that gets a POST for each alert about a budget (REKINDLE_ALERT_WEBHOOK)");
  app.add_option("--lease-seconds", options.tunables.lease_seconds)
      ->group("");  // Hidden, as are the next four: for tests.
  app.add_option("--lease-save-seconds", options.tunables.lease_save_seconds)->group("");
  app.add_option("--lease-step-seconds", options.tunables.lease_step_seconds)->group("");
  app.add_option("--register-seconds", options.tunables.register_seconds)->group("");
  app.add_option("--return-seconds", options.tunables.return_seconds)->group("");
  app.add_option("--log-format", log_format, "text or json (REKINDLE_LOG_FORMAT)")
      ->check(CLI::IsMember({"text", "json"}));
}

using WebServer = rk::coordinator::web::WebServer;

// Null where `listen` is empty.
absl::StatusOr<std::unique_ptr<WebServer>> StartPage(const std::string& listen,
                                                     const rk::coordinator::CoordinatorServer::Options& options,
                                                     rk::coordinator::CoordinatorServer& server) {
  if (listen.empty()) {
    // An earlier coordinator may have written it, and nobody answers there.
    unlink(rk::coordinator::web::WebFile(options.data).c_str());
    return nullptr;
  }
  auto source = std::make_unique<rk::coordinator::web::LoopSource>(server.loop(),
                                                                   [&server] { return server.CarbonIntensities(); });
  auto page = WebServer::Start(
      {.listen = listen, .security = options.rpc.security, .folder = options.data, .version = rk::common::kVersion},
      std::move(source));
  if (!page.ok()) return page.status();
  rk::log::Info("serving the page", {{"address", (*page)->address()}});
  // Anything else than a terminal may be a log, in which a token has no place.
  if (isatty(STDOUT_FILENO)) std::cout << "page: " << (*page)->address_with_token() << std::endl;
  return page;
}

// The signal that ends it. SIGHUP does not.
int AwaitEnd(const sigset_t& signals, rk::coordinator::CoordinatorServer& server) {
  for (;;) {
    int number = 0;
    sigwait(&signals, &number);
    if (number != SIGHUP) return number;
    const absl::Status read = server.ReloadFleet();
    if (read.ok()) {
      rk::log::Info("the fleet file was read again");
    } else {
      rk::log::Error("the fleet file is refused, prices and machines stay as they are",
                     {{"error", std::string(read.message())}});
    }
  }
}

int ExitCode(const absl::Status& status) { return absl::IsInvalidArgument(status) ? kWrongUse : kFailed; }

}  // namespace

int main(int argc, char** argv) {
  // What the transport's threads allocate and the loop frees stays with their arenas: 65 MB rather than 61 for 10,000
  // nodes, and more with more cores.
  mallopt(M_ARENA_MAX, kMallocArenas);
  rk::coordinator::CoordinatorServer::Options options;
  options.rpc.security = rk::common::Security::FromEnvironment();
  options.own_token = true;
  if (const char* precision = std::getenv("REKINDLE_DEFAULT_PRECISION")) options.defaults.precision = precision;
  if (const char* policy = std::getenv("REKINDLE_PRECISION_POLICY")) options.defaults.precision_policy = policy;
  if (const char* webhook = std::getenv("REKINDLE_ALERT_WEBHOOK")) options.alert_webhook = webhook;
  std::string web, log_format;
  int state_gib = 4;
  CLI::App app("Rekindle's coordinator: places jobs on nodes that may vanish.", "rekindle-coordinator");
  AddFlags(app, options, web, log_format, state_gib);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUse;
  }
  options.state_bytes = static_cast<int64_t>(state_gib) << 30;
  if (!log_format.empty()) setenv("REKINDLE_LOG_FORMAT", log_format.c_str(), 1);
  rk::log::Init("coordinator");
  rk::common::RaiseDescriptorLimit();

  umask(0077);  // The folder holds job secrets.
  // Blocked before any thread starts, so that only sigwait sees them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  if (!options.fleet.empty()) sigaddset(&ends, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  signal(SIGPIPE, SIG_IGN);

  absl::Status fatal;
  options.on_fatal = [&fatal](const absl::Status& status) {
    fatal = status;
    kill(getpid(), SIGTERM);
  };
  const absl::Status page_fits = web.empty() ? absl::OkStatus() : WebServer::Check(web, options.rpc.security);
  if (!page_fits.ok()) {
    std::cerr << "rekindle-coordinator: " << page_fits.message() << "\n";
    return ExitCode(page_fits);
  }
  auto server = rk::coordinator::CoordinatorServer::Start(options);
  if (!server.ok()) {
    std::cerr << "rekindle-coordinator: " << server.status().message() << "\n";
    return ExitCode(server.status());
  }
  auto page = StartPage(web, options, **server);
  if (!page.ok()) {
    std::cerr << "rekindle-coordinator: " << page.status().message() << "\n";
    return ExitCode(page.status());
  }
  const int signal_number = AwaitEnd(ends, **server);
  rk::log::Info("stopping", {{"signal", signal_number}});
  page->reset();
  (*server)->Stop();
  if (fatal.ok()) return 0;
  rk::log::Error("another process has changed the state", {{"error", std::string(fatal.message())}});
  return kFailed;
}
