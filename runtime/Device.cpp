// SPDX-License-Identifier: Apache-2.0
// The defaults of streams that cannot record.
#include "runtime/Device.h"

namespace tilewright::runtime {

Status Stream::beginRecording() { return {Code::Internal, "this device records nothing"}; }
Expected<std::unique_ptr<Recording>> Stream::endRecording() {
  return Status(Code::Internal, "this device records nothing");
}
Status Stream::replay(Recording &) { return {Code::Internal, "this device records nothing"}; }

} // namespace tilewright::runtime
