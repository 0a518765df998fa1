// Names the forms in which samples reach a model. A kind of model reads one form, and a kind of data delivers one. So
// the code of a model names no kind of data, and the code of a kind of data names no model.
#ifndef REKINDLE_WORKER_CONTRACT_SAMPLE_FORM_H_
#define REKINDLE_WORKER_CONTRACT_SAMPLE_FORM_H_

namespace rekindle::train {

enum class SampleForm {
  // A sample is a window of bytes. Each byte is a token.
  kBytes,
  // A sample is a window of token ids of 16 bits.
  kTokenIds,
  // A sample is a row of numbers and a target.
  kRows,
  // The user's own code reads the samples, and a job names no data.
  kOwn,
  // A sample is a colour image (worker/data/declared/image_record.h) and the number of its class.
  kImages
};

// Returns whether a sample is a window of tokens, whose length is the model's context.
constexpr bool IsWindow(SampleForm form) { return form == SampleForm::kBytes || form == SampleForm::kTokenIds; }

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_CONTRACT_SAMPLE_FORM_H_
