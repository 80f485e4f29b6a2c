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

static ParseResult parseBases(AsmParser &parser, SmallVector<int64_t> &bases) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(bases.emplace_back()); });
}

static void printBases(AsmPrinter &printer, ArrayRef<int64_t> bases) {
  printer << "[";
  llvm::interleaveComma(bases, printer.getStream());
  printer << "]";
}

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

static constexpr StringRef scheduleRoots[] = {"pointwise", "row_reduction", "matmul", "window", "gemv"};

/// The numbered parameters in the order in which they print: a list or a single number each.
namespace {
struct ScheduleFields {
  SmallVector<int64_t> tile, reduce, registers;
  int64_t warps = 1, stages = 1, pack = 0;
  bool inPlace = false;
};
} // namespace

static ParseResult parseList(AsmParser &parser, SmallVectorImpl<int64_t> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(list.emplace_back()); });
}

static ParseResult parseField(AsmParser &parser, ScheduleFields &fields) {
  StringRef key;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword(&key) || parser.parseEqual())
    return failure();
  if (key == "tile")
    return parseList(parser, fields.tile);
  if (key == "reduce")
    return parseList(parser, fields.reduce);
  if (key == "registers")
    return parseList(parser, fields.registers);
  if (key == "warps")
    return parser.parseInteger(fields.warps);
  if (key == "stages")
    return parser.parseInteger(fields.stages);
  if (key == "pack")
    return parser.parseInteger(fields.pack);
  if (key == "in_place")
    return parser.parseInteger(fields.inPlace);
  return parser.emitError(where) << "expected tile, reduce, warps, stages, registers, pack or in_place, got '" << key
                                 << "'";
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  StringRef root;
  ScheduleFields fields;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&root))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseField(parser, fields))
      return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(where); }, parser.getContext(), root, fields.tile, fields.reduce,
                    fields.warps, fields.stages, fields.registers, fields.pack, fields.inPlace);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  auto printList = [&](StringRef key, ArrayRef<int64_t> list) {
    printer << ", " << key << " = [";
    llvm::interleaveComma(list, printer.getStream());
    printer << "]";
  };
  printer << "<" << getRoot();
  printList("tile", getTile());
  if (!getReduce().empty())
    printList("reduce", getReduce());
  printer << ", warps = " << getWarps() << ", stages = " << getStages();
  if (!getRegisters().empty())
    printList("registers", getRegisters());
  if (getPack())
    printer << ", pack = " << getPack();
  if (getInPlace())
    printer << ", in_place = true";
  printer << ">";
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef root, ArrayRef<int64_t> tile,
                                   ArrayRef<int64_t> reduce, int64_t warps, int64_t stages, ArrayRef<int64_t> registers,
                                   int64_t pack, bool inPlace) {
  if (!llvm::is_contained(scheduleRoots, root))
    return emitError() << "expected a root of pointwise, row_reduction, matmul, window or gemv, got '" << root << "'";
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
  if (inPlace && root != "matmul")
    return emitError() << "expected no in_place because only a matmul has a left side, got a root of " << root;
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
