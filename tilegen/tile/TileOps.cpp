// SPDX-License-Identifier: Apache-2.0
// Registration, parsers and printers of the tile dialect.
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

//===- Affine maps without the affine_map<> around them -----------------------------------------------------------===//

static ParseResult parseBareMap(AsmParser &parser, AffineMapAttr &attr) {
  AffineMap map;
  if (parser.parseAffineMap(map))
    return failure();
  attr = AffineMapAttr::get(map);
  return success();
}

static void printBareMap(OpAsmPrinter &printer, Operation *, AffineMapAttr attr) { printer << attr.getValue(); }

static ParseResult parseSizes(AsmParser &parser, AffineMap &sizes) { return parser.parseAffineMap(sizes); }

FailureOr<SmallVector<int64_t>> tile::parseSizeList(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(sizes.emplace_back()); }))
    return failure();
  return sizes;
}

void tile::printSizeList(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  printer << "[";
  llvm::interleaveComma(sizes, printer.getStream());
  printer << "]";
}

static ParseResult parseBases(AsmParser &parser, SmallVector<int64_t> &bases) {
  FailureOr<SmallVector<int64_t>> sizes = tile::parseSizeList(parser);
  if (failed(sizes))
    return failure();
  bases = std::move(*sizes);
  return success();
}

static void printBases(AsmPrinter &printer, ArrayRef<int64_t> bases) { tile::printSizeList(printer, bases); }

static void printSizes(AsmPrinter &printer, AffineMap sizes) { printer.getStream() << sizes; }

#include "tilegen/tile/TileDialect.cpp.inc"
#include "tilegen/tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "tilegen/tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "tilegen/tile/TileTypes.cpp.inc"
#define GET_OP_CLASSES
#include "tilegen/tile/TileOps.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilegen/tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilegen/tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilegen/tile/TileOps.cpp.inc"
      >();
}

//===- #tile.schedule ---------------------------------------------------------------------------------------------===//

static LogicalResult verifyUnrolled(function_ref<InFlightDiagnostic()> emitError, graph::RootKind root,
                                    ArrayRef<int64_t> reduce, ArrayRef<int64_t> registers) {
  if (root != graph::RootKind::Window || !registers.empty())
    return emitError() << "expected no unrolled but of a window that a block computes, got a root of "
                       << graph::stringifyRootKind(root) << " and " << registers.size() << " sizes of registers";
  constexpr int64_t mostUnrolled = 256;
  int64_t elements = 1;
  for (int64_t step : reduce)
    elements = step > mostUnrolled ? mostUnrolled + 1 : std::min(elements * step, mostUnrolled + 1);
  if (elements > mostUnrolled)
    return emitError() << "expected at most " << mostUnrolled << " elements of an unrolled step, got more";
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, graph::RootKind root,
                                   ArrayRef<int64_t> tile, ArrayRef<int64_t> reduce, int64_t warps, int64_t stages,
                                   ArrayRef<int64_t> registers, int64_t pack, int64_t groups, int64_t order,
                                   int64_t parts, bool clustered, bool streamed, int64_t mostTiles, bool inPlace,
                                   bool matrix, bool unrolled, int64_t strip) {
  for (ArrayRef<int64_t> list : {tile, reduce, registers})
    for (int64_t size : list)
      if (size <= 0)
        return emitError() << "expected positive tile sizes, got " << size;
  if (registers.size() > 3)
    return emitError() << "expected registers to be rows, columns and at most a depth, got " << registers.size()
                       << " numbers";
  if (warps <= 0 || stages <= 0 || pack < 0)
    return emitError() << "expected positive warps and stages and a pack that is not negative, got " << warps << ", "
                       << stages << " and " << pack;
  if (pack > 0 && root != graph::RootKind::Matmul && root != graph::RootKind::Gemv)
    return emitError() << "expected no pack because only a contraction reads panels, got " << pack;
  int64_t mostGroups = root == graph::RootKind::Matmul ? 2 : root == graph::RootKind::Attention ? 1 : 0;
  if (groups < 0 || groups > mostGroups || order <= 0)
    return emitError() << "expected at most two groups of warps of a matmul, one of an attention, none of others, and "
                          "a positive order, got "
                       << groups << " and " << order;
  bool mayHaveParts = root == graph::RootKind::Matmul || root == graph::RootKind::Attention ||
                      (root == graph::RootKind::RowReduction && clustered);
  if (parts <= 0 || (parts > 1 && !mayHaveParts))
    return emitError() << "expected a positive number of parts, and more than one of a matmul, an attention or a "
                          "clustered row reduction alone, got "
                       << parts;
  bool mayBeClustered = root == graph::RootKind::Matmul || root == graph::RootKind::RowReduction;
  if (clustered && (parts == 1 || !llvm::isPowerOf2_64(parts) || !mayBeClustered))
    return emitError()
           << "expected no clustered but of a matmul or a row reduction whose parts are a power of two, because each "
              "block of a cluster finishes a share of its tile, got "
           << parts << " parts of a " << graph::stringifyRootKind(root);
  if (streamed && root != graph::RootKind::Matmul)
    return emitError() << "expected no streamed but of a matmul, whose right sides it is about, got a root of "
                       << graph::stringifyRootKind(root);
  if (mostTiles < 0 || (mostTiles > 0 && parts == 1))
    return emitError() << "expected no most_tiles but with parts, for which room is made, got " << mostTiles;
  if (inPlace && root != graph::RootKind::Matmul)
    return emitError() << "expected no in_place because only a matmul has a left side, got a root of "
                       << graph::stringifyRootKind(root);
  if (matrix && (registers.size() < 2 || pack == 0 || registers[1] > pack))
    return emitError() << "expected matrix of a matmul with packed columns alone, whose register tiles are no wider "
                          "than a panel";
  if (unrolled && failed(verifyUnrolled(emitError, root, reduce, registers)))
    return failure();
  bool mayHaveStrips = root == graph::RootKind::Matmul && registers.empty();
  if (strip && (!mayHaveStrips || tile.empty() || !llvm::isPowerOf2_64(strip) || strip >= tile.back()))
    return emitError() << "expected a strip that is a power of two and less than the columns of a matmul that a block "
                          "computes, got "
                       << strip << " of a " << graph::stringifyRootKind(root);
  return success();
}

//===- Kernel -----------------------------------------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

unsigned KernelOp::getNumBuffers() {
  return llvm::count_if(getArgumentTypes(), [](Type type) { return isa<BufferType>(type); });
}
