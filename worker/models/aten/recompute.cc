#include "worker/models/aten/recompute.h"

#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

namespace rekindle::models {
namespace {

struct HeldSegment : torch::CustomClassHolder {
  explicit HeldSegment(Segment held) : run(std::move(held)) {}
  Segment run;
};

class Recompute : public torch::autograd::Function<Recompute> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const c10::intrusive_ptr<HeldSegment>& segment) {
    context->save_for_backward({input});
    context->saved_data["segment"] = c10::IValue::make_capsule(segment);
    // Autograd has turned gradients off in the forward of a custom function, so the segment keeps no activations.
    return segment->run(input);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto segment = c10::static_intrusive_pointer_cast<HeldSegment>(context->saved_data["segment"].toCapsule());
    at::Tensor input = context->get_saved_variables()[0].detach();
    input.set_requires_grad(true);
    at::Tensor output;
    {
      const at::AutoGradMode enabled(true);
      output = segment->run(input);
    }
    torch::autograd::backward({output}, {gradients[0]});
    return {input.grad(), at::Tensor()};
  }
};

}  // namespace

at::Tensor Recomputed(const at::Tensor& input, Segment segment) {
  return Recompute::apply(input, c10::make_intrusive<HeldSegment>(std::move(segment)));
}

}  // namespace rekindle::models
