// Describes a record of CIFAR's binary layout: one byte of label, then the red, green and blue planes of an image, each
// row by row.
#ifndef REKINDLE_WORKER_DATA_DECLARED_IMAGE_RECORD_H_
#define REKINDLE_WORKER_DATA_DECLARED_IMAGE_RECORD_H_

namespace rekindle::data {

// An image is `kImageSide` pixels wide and `kImageSide` pixels high.
inline constexpr int kImageSide = 32;
inline constexpr int kImagePlanes = 3;
// `kImagePixels` counts the values of an image over all three colours.
inline constexpr int kImagePixels = kImagePlanes * kImageSide * kImageSide;
inline constexpr int kImageRecordBytes = 1 + kImagePixels;

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_DECLARED_IMAGE_RECORD_H_
