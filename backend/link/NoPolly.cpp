// SPDX-License-Identifier: Apache-2.0
// A static LLVM's LTO library asks for Polly's plug-in, which Debian ships in another package. There is none in this
// binary.
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "none", [](llvm::PassBuilder &) {}, nullptr};
}
