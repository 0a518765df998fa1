// Hands the gradients of one micro-batch to the engine, as a model process names them.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_DELIVERY_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_DELIVERY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/contract/model_interface.h"
#include "worker/own_model/model/gradient_slots.h"
#include "worker/own_model/wire/message.h"

namespace rekindle::own_model {

// Several processes may compute the micro-batch one after the other, and each of them names all gradients. The engine
// gets each one once, and cannot give it back. So a gradient that comes again is compared with what the engine has got.
// Delivery is thread-compatible.
class Delivery {
 public:
  // `index` is that of the micro-batch. `layout` and `sink` must outlive the Delivery.
  Delivery(const train::ParameterLayout& layout, const train::GradientSink& sink, int index);

  // Notes that another process begins.
  void Restart();
  // Hands those of the named gradients to the sink that it has not got yet, from a slot. REQUIRES: the numbers are
  // those of parameters of the layout. Returns INVALID_ARGUMENT if there are none, or if the process has named one
  // before: so there is an end to such messages.
  absl::Status Take(const Gradients& gradients, const std::shared_ptr<const GradientSlots>& slots, int slot);
  // Notes that the present process has named all that it will. Returns INVALID_ARGUMENT unless it has named all
  // buffers, which have a value in each micro-batch, as a parameter may not.
  absl::Status End();

  // Names a parameter or buffer for which the present process has given something else than one before it, or returns
  // an empty string. What the engine has got is worthless then.
  const std::string& difference() const { return difference_; }

 private:
  const train::ParameterLayout& layout_;
  const train::GradientSink& sink_;
  const int index_;
  // `named_` says which parameters the present process has named.
  std::vector<bool> named_;
  // `got_` has the slots from which the sink has got a parameter, or null.
  std::vector<std::shared_ptr<const GradientSlots>> got_;
  std::string difference_;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_DELIVERY_H_
