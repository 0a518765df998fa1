// Declares the kind of data for small colour images with labels (image_record.h).
#include "worker/data/declared/data_kinds.h"
#include "worker/data/declared/image_record.h"

namespace rekindle::data {
namespace {

void Fill(v1::JobSpec::Data& data) {
  if (!data.images().has_augment()) data.mutable_images()->set_augment(true);
}

int Values(const v1::JobSpec::Data&) { return kImagePixels; }

}  // namespace

const DataKind kImagesData{.name = "images",
                           .files = "to train on",
                           .form = train::SampleForm::kImages,
                           .record_bytes = kImageRecordBytes,
                           .fill = Fill,
                           .values = Values};

}  // namespace rekindle::data
