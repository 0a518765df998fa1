// Declares the kind of the user's own models. Its fields are texts (spec.model.python), and its layout is known only
// when the module was made, in the process that runs it (worker/own_model).
#include "worker/models/declared/model_kinds.h"

namespace rekindle::models {

const ModelKind kPythonModel{.name = "python", .reads = train::SampleForm::kOwn, .parameters = {}, .layout = nullptr};

}  // namespace rekindle::models
