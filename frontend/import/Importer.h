// ONNX models become graph IR: the frontend's only entry that the driver needs.
#pragma once

#include "runtime/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

struct ImportOptions {
  /// Sizes of inputs by name, as `--shapes` gives them: a symbol that they fix is fixed everywhere.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Invents the external data that is not there, from this seed.
  std::optional<uint64_t> randomWeights;
  /// Every node through the reference, whatever is compiled: what `verify --against interpreter` runs.
  bool allAsReference = false;
  /// Sizes of which either may be 1 broadcast when running, instead of being taken to be equal: slower, but for all
  /// sizes.
  bool broadcastWhenRunning = false;
  /// A node that only the reference has is an error (`--no-fallback`).
  bool noFallback = false;
  /// Where a rank depends on two sizes being equal: whether they are taken to be (a size that is dropped where it is
  /// 1), and the answers that are settled, by what asked.
  bool sizesAreEqual = false;
  std::map<std::string, bool, std::less<>> settled;
};

/// Two sizes on which a rank depends, taken to be equal or to differ.
struct SizeChoice {
  std::string asker;
  bool equal = false;
  std::string sentence; // of what is taken
  bool operator==(const SizeChoice &other) const { return asker == other.asker && equal == other.equal; }
};

/// What the import found that a person may want to know; `inspect --support` prints it.
struct ImportReport {
  struct Entry {
    std::string node, op, domain;
    int64_t opset = 0;
    std::string reason;
    int64_t after = 0; // so many nodes
  };
  std::vector<Entry> fallbacks;          // run by the reference kernels, each with the reason
  std::vector<Entry> unsupported;        // nothing runs them
  std::vector<std::string> assumedEqual; // sizes that broadcasting met and that could have been 1, a sentence each
  std::vector<SizeChoice> choices;       // in the order of the nodes
  std::vector<std::string> warnings;
  int64_t nodeCount = 0; // after inlining functions and branches
};

/// The registry of all dialects that imported modules use.
void registerFrontendDialects(mlir::DialectRegistry &registry);

/// Reads the model at `path`. Fails with one sentence: Io (no such file), Malformed (not a valid or safe model),
/// Unsupported (names the node, operator and opset; all of them are in `report`), Usage (options that do not fit the
/// model).
Expected<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext &context, const std::string &path,
                                                        const ImportOptions &options, ImportReport *report = nullptr);

/// The same for a model in memory; external data is looked for in `folder`.
Expected<mlir::OwningOpRef<mlir::ModuleOp>> importModelBytes(mlir::MLIRContext &context, std::string_view bytes,
                                                             const std::string &folder, const ImportOptions &options,
                                                             ImportReport *report = nullptr);

} // namespace tilewright
