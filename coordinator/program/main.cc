// Runs rekindle-coordinator, which places jobs on nodes and decides who trains. See coordinator/README.md.
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

#include "common/agreed/version.h"
#include "common/log/log.h"
#include "common/net/descriptors.h"
#include "coordinator/program/flags.h"
#include "coordinator/server/assembly/coordinator_server.h"
#include "coordinator/web/server/loop_source.h"
#include "coordinator/web/server/web_file.h"
#include "coordinator/web/server/web_server.h"

namespace {

namespace rk = rekindle;

constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr int kMallocArenas = 2;

using WebServer = rk::coordinator::web::WebServer;

// Starts the web page, or returns null when `listen` is empty.
absl::StatusOr<std::unique_ptr<WebServer>> StartPage(const std::string& listen,
                                                     const rk::coordinator::CoordinatorServer::Options& options,
                                                     rk::coordinator::CoordinatorServer& server) {
  if (listen.empty()) {
    // An earlier coordinator may have written the file with the page's address, where nobody answers now.
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
  // The address with the token is printed only to a terminal: any other output may be a log, and a token must not be in
  // a log.
  if (isatty(STDOUT_FILENO)) std::cout << "page: " << (*page)->address_with_token() << std::endl;
  return page;
}

// Waits for a signal that ends the coordinator, and returns its number. SIGHUP does not end it, but makes it read the
// fleet file again.
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

// Says on stderr why the coordinator does not run, and returns the exit code.
int Refuse(const absl::Status& status) {
  std::cerr << "rekindle-coordinator: " << status.message() << "\n";
  return absl::IsInvalidArgument(status) ? kWrongUse : kFailed;
}

// Blocks the signals that AwaitEnd waits for. BlockSignals must be called before any thread starts, so that only
// sigwait sees these signals.
sigset_t BlockSignals(bool with_hangup) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  if (with_hangup) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Runs the coordinator until a signal ends it. Returns the exit code.
int Run(rk::coordinator::CoordinatorServer::Options options, const std::string& web) {
  const sigset_t signals = BlockSignals(!options.fleet.empty());
  absl::Status fatal;
  options.on_fatal = [&fatal](const absl::Status& status) {
    fatal = status;
    kill(getpid(), SIGTERM);
  };
  const absl::Status page_fits = web.empty() ? absl::OkStatus() : WebServer::Check(web, options.rpc.security);
  if (!page_fits.ok()) return Refuse(page_fits);
  auto server = rk::coordinator::CoordinatorServer::Start(options);
  if (!server.ok()) return Refuse(server.status());
  auto page = StartPage(web, options, **server);
  if (!page.ok()) return Refuse(page.status());
  const int signal_number = AwaitEnd(signals, **server);
  rk::log::Info("stopping", {{"signal", signal_number}});
  page->reset();
  (*server)->Stop();
  if (fatal.ok()) return 0;
  rk::log::Error("another process has changed the state", {{"error", std::string(fatal.message())}});
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  // Memory that the transport's threads allocate and the coordinator's loop frees stays with the malloc arenas of those
  // threads. Without a limit on the number of arenas, the coordinator takes 65 MB rather than 61 for 10,000 nodes, and
  // more with more cores.
  mallopt(M_ARENA_MAX, kMallocArenas);
  rk::coordinator::Flags flags = rk::coordinator::FlagsFromEnvironment();
  CLI::App app("Rekindle's coordinator: places jobs on nodes that may vanish.", "rekindle-coordinator");
  rk::coordinator::AddFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUse;
  }
  flags.options.state_bytes = static_cast<int64_t>(flags.state_gib) << 30;
  if (!flags.log_format.empty()) setenv("REKINDLE_LOG_FORMAT", flags.log_format.c_str(), 1);
  rk::log::Init("coordinator");
  rk::common::RaiseDescriptorLimit();
  // The files in the coordinator's folder hold job secrets, so only its user may read them.
  umask(0077);
  return Run(std::move(flags.options), flags.web);
}
