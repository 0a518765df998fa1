// Declares the coordinator as a trainer sees it. The trainer sends facts to the coordinator, and the coordinator
// answers with a directive. Plain structs mirror proto/rekindle/v1/{trainer,membership}.proto, so that the engine
// depends on neither protobuf nor gRPC.
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_CONTROL_PLANE_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_CONTROL_PLANE_H_

#include <string>

#include "checkpoint/format/framed_job_file.h"
#include "worker/train/control/directive.h"
#include "worker/train/control/directive_box.h"
#include "worker/train/control/lease.h"
#include "worker/train/control/membership.h"
#include "worker/train/control/report.h"

namespace rekindle::train {

// Connects a trainer to the coordinator. The class is thread-safe, and Publish() never blocks. The newest report is
// sent again without end until the coordinator answers.
class ControlPlane {
 public:
  virtual ~ControlPlane() = default;
  // Publishes a report. If `urgent` is true, it is sent now rather than with the next progress tick.
  virtual void Publish(const Report& report, bool urgent) = 0;
  // Adds the loss of a completed step to those that are sent with the reports. Their memory is bounded, and the oldest
  // losses are dropped.
  virtual void AddLoss(const StepLoss& loss) = 0;
  // Returns the DirectiveBox that holds the newest directive.
  virtual const DirectiveBox& directives() const = 0;
  // Returns the lease of the generation that the newest directive names.
  virtual const Lease& lease() const = 0;
  // Returns the job file that has to be in the job's store beside a checkpoint that this rank commits now. The call
  // asks the coordinator, which takes at most a second. If the coordinator does not answer, the call returns the file
  // that came last.
  virtual checkpoint::JobFile JobFileNow() = 0;
  // Asks the coordinator once more for the job file, for a rank that leaves. Returns an empty string if the job is not
  // over or nobody answers within `seconds`.
  virtual std::string JobFileOfEnd(double seconds) = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_CONTROL_PLANE_H_
