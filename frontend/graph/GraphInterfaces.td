// SPDX-License-Identifier: Apache-2.0
//===- GraphInterfaces.td - what fusion and tile generation ask of an access, whichever operation it is -----------===//
#ifndef TILEWRIGHT_GRAPH_INTERFACES
#define TILEWRIGHT_GRAPH_INTERFACES

include "mlir/IR/OpBase.td"

def AccessOpInterface : OpInterface<"AccessOpInterface"> {
  let cppNamespace = "::tilewright::graph";
  let description = [{
    An operation each of whose result elements is one element of its data operand, or a fill value where the coordinates
    leave the operand. Its access map has the result's dimensions followed by one dimension for each index operand
    (gather only), and the module's symbols; its results are the operand's coordinates.
  }];
  let methods = [
    InterfaceMethod<"The map from result coordinates to coordinates of the data operand.",
                    "::mlir::AffineMap", "getAccessMap">,
    InterfaceMethod<"The tensor whose elements are renamed.", "::mlir::Value", "getData">,
    InterfaceMethod<"Index operands, each of the result's shape; empty but for gather.",
                    "::mlir::ValueRange", "getIndexOperands", (ins), "", "return ::mlir::ValueRange();">,
    InterfaceMethod<"The value outside the operand, or null if the map never leaves it.",
                    "::mlir::TypedAttr", "getFill", (ins), "", "return ::mlir::TypedAttr();">,
  ];
}

#endif
