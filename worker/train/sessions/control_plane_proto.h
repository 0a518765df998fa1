// Converts between the plain structs of control_plane.h and their protobuf messages.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_CONTROL_PLANE_PROTO_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_CONTROL_PLANE_PROTO_H_

#include "rekindle/v1/trainer.pb.h"
#include "worker/train/control/control_plane.h"

namespace rekindle::train {

// Converts a trainer's report to its protobuf message. The identity, the sequence, the losses and the fields of the
// long poll are left out.
void ToProto(const Report& report, v1::TrainerReport* message);
// Converts a directive that arrived at the time `now` of the trainer's clock.
Directive FromProto(const v1::TrainerDirective& message, double now);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_CONTROL_PLANE_PROTO_H_
