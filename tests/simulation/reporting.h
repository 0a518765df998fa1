// Test-only: the real Reporter of a simulated trainer, and what it has published, as messages.
#ifndef REKINDLE_TESTS_SIMULATION_REPORTING_H_
#define REKINDLE_TESTS_SIMULATION_REPORTING_H_

#include <functional>
#include <string>

#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/trainer.pb.h"
#include "worker/train/control_plane.h"
#include "worker/train/reporter.h"

namespace rekindle::core::simulation {

// As a trainer reads it.
train::Membership PlainOf(const v1::Membership& membership);

class Reporting {
 public:
  // `identity`: what a report says beside that which a Reporter keeps.
  explicit Reporting(v1::TrainerReport identity);

  // Calls the reporter. True: it published something that the coordinator may decide on.
  bool Do(const std::function<void(train::Reporter&)>& change);

  // What is true of the trainer now; it may be published only later.
  const v1::TrainerReport& truth() const { return truth_; }
  // What it published last, without number and poll.
  v1::TrainerReport Said() const;

 private:
  // Keeps what was published; the simulation delivers it.
  class Control final : public train::ControlPlane {
   public:
    void Publish(const train::Report& report, bool urgent) override;
    void AddLoss(const train::StepLoss&) override {}
    train::Directive Latest() const override { return {}; }
    int64_t Version() const override { return 0; }
    void WaitForChange(int64_t, double) const override {}
    const train::Lease& lease() const override { return lease_; }
    checkpoint::JobFile JobFileNow() override { return {}; }
    std::string JobFileOfEnd(double) override { return ""; }

    train::Report newest;
    bool urgent = false;

   private:
    train::Lease lease_;
  };

  const v1::TrainerReport identity_;
  Control control_;
  train::Reporter reporter_{control_};
  v1::TrainerReport truth_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_REPORTING_H_
