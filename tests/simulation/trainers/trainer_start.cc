#include "tests/simulation/trainers/trainer_start.h"

namespace rekindle::core::simulation {

void TrainerStart::Begin(const std::string& id) {
  world_.AtProcess(id, world_.chance.Uniform(0.2, 0.8), [this](Process& process) {
    search_.AwaitStore(process, [this, &process] {
      process.has_started = true;
      ReportLoop(process);
    });
  });
  world_.AtProcess(id, 0, [this](Process& process) { lease_asker_.Loop(process.id); });
}

void TrainerStart::ReportLoop(Process& process) {
  search_.Follow(process);
  voice_.Report(process);
  const bool running = In(process, process.report.generation());
  world_.AtProcess(process.id, world_.chance.Uniform(0.05, running ? 0.4 : 0.15),
                   [this](Process& p) { ReportLoop(p); });
}

}  // namespace rekindle::core::simulation
