// Serves the web page of a made-up cluster of any size, for tests, until the process is ended.
//
//   web_prepared FOLDER JOBS NODES
//
// FOLDER/web then has the address to open. Each second one job in a hundred makes progress, as when all of them train.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

#include "coordinator/web/server/web_server.h"
#include "coordinator/web/testing/prepared_source_testing.h"

namespace rk = rekindle::coordinator::web;

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: web_prepared FOLDER JOBS NODES\n";
    return 2;
  }
  const int jobs = std::atoi(argv[2]);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  auto source = std::make_unique<rk::PreparedSource>(jobs, std::atoi(argv[3]));
  rk::PreparedSource* moving = source.get();
  for (int i = 0; i < 500; ++i) moving->AddEvent("job-00000", i % 3 == 0 ? "checkpoint_saved" : "resized");
  const auto server = rk::WebServer::Start(
      {.listen = "127.0.0.1:0", .security = {}, .folder = argv[1], .version = "0.0.0"}, std::move(source));
  if (!server.ok()) {
    std::cerr << "web_prepared: " << server.status().message() << "\n";
    return 1;
  }
  for (int turn = 0;; ++turn) {
    const timespec second = {1, 0};
    if (sigtimedwait(&ends, nullptr, &second) > 0) return 0;
    for (int number = turn % 100; number < jobs; number += 100) {
      rekindle::v1::Job job = rk::PreparedJob(number, jobs);
      job.mutable_status()->set_step(job.mutable_status()->step() + turn);
      moving->SetJob(job);
    }
  }
}
