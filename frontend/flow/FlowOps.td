// SPDX-License-Identifier: Apache-2.0
//===- FlowOps.td - the flow dialect: control flow, and values that are no numbers --------------------------------===//
//
// docs/dialects/flow.md is made of this file by scripts/generate-docs.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_FLOW_OPS
#define TILEWRIGHT_FLOW_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Flow_Dialect : Dialect {
  let name = "flow";
  let cppNamespace = "::tilewright::flow";
  let summary = "branches, loops, and values that are no numbers";
  let description = [{
    What the graph dialect's maps and loops cannot say, and only @main holds: branches and loops, whose bodies are
    modules, and the types of strings, sequences, optional values and maps. Nothing here becomes a kernel.

    A *body* is a module inside of the module, with symbols and a @main of its own: what it computes from its arguments.
    Its first symbols are what `sizes` says in the symbols around it, its last arguments are the captures, the values
    around it that it reads.

    Values that are no numbers are tensors of the types below: strings of any shape, the others of rank 0. Only host
    calls and control flow take them.
  }];
  let useDefaultTypePrinterParser = 1;
}

class Flow_Op<string mnemonic, list<Trait> traits = []> : Op<Flow_Dialect, mnemonic, traits>;

//===- Objects ----------------------------------------------------------------------------------------------------===//

class Flow_Object<string type, string mnemonicName, string text> : TypeDef<Flow_Dialect, type> {
  let mnemonic = mnemonicName;
  let summary = text;
}
def Flow_String : Flow_Object<"String", "string", "a string, the element of a tensor of strings">;
def Flow_Sequence : Flow_Object<"Sequence", "sequence", "a sequence of values, whatever they are">;
def Flow_Optional : Flow_Object<"Optional", "optional", "a value that may be absent">;
def Flow_Map : Flow_Object<"Map", "map", "keys and their values">;

//===- Control flow -----------------------------------------------------------------------------------------------===//

def IfOp : Flow_Op<"if", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one of two bodies, by a condition that is known only when running";
  let description = [{
    Sizes in which the bodies differ are fresh symbols, bound by this operation.

    * `condition`: one boolean.
    * `on_true`, `on_false`: the bodies, modules beside the one around this operation's function.
    * `true_sizes`, `false_sizes`: the values of each body's first symbols, as expressions in the symbols here.
    * `true_captures`, `false_captures`: the last arguments of each body: the values around it that it reads.
    * `results`: what the body that ran returns.

    ```mlir
    %y = flow.if %c then @then_0 sizes affine_map<()[s0] -> (s0)> (%x) else @else_0 sizes affine_map<() -> ()> ()
        : (tensor<i1>, tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$condition, FlatSymbolRefAttr:$on_true, AffineMapAttr:$true_sizes,
                       FlatSymbolRefAttr:$on_false, AffineMapAttr:$false_sizes,
                       Variadic<AnyRankedTensor>:$true_captures, Variadic<AnyRankedTensor>:$false_captures);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $condition `then` $on_true `sizes` $true_sizes `(` $true_captures `)`
    `else` $on_false `sizes` $false_sizes `(` $false_captures `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def LoopOp : Flow_Op<"loop", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a body run repeatedly: ONNX's Loop and Scan";
  let description = [{
    runtime/plan/Plan.h (Loop) says which arguments and results the body has and when the loop ends. Sizes that are
    known only when running are fresh symbols, bound by this operation.

    * `body`: the module that is run, beside the one around this operation's function.
    * `sizes`: the values of the body's first symbols, as expressions in the symbols here.
    * `trip_count`: at most so many steps; without it, as many as the first scanned tensor has slices.
    * `condition`: one boolean: does the first step run?
    * `carried`: the first values of what each step takes from the step before.
    * `scanned`: tensors of which each step takes one slice of the first dimension.
    * `captures`: the values around the body that it reads.
    * `reverse_scanned`: for each scanned tensor, whether its last slice comes first.
    * `reverse_collected`: for each collected result, whether the first step's slice comes last.
    * `counted`: the body takes the number of the step and the condition, as ONNX's Loop does.
    * `conditional`: the body returns whether another step follows.
    * `results`: what is carried at the end, then what is collected.

    ```mlir
    %y = flow.loop @body_0 sizes affine_map<() -> ()> trips %n carried (%x) scanned () captures (%w)
        reverse_scanned [] reverse_collected [] counted
        : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, AffineMapAttr:$sizes, Optional<AnyRankedTensor>:$trip_count,
                       Optional<AnyRankedTensor>:$condition, Variadic<AnyRankedTensor>:$carried,
                       Variadic<AnyRankedTensor>:$scanned, Variadic<AnyRankedTensor>:$captures,
                       DenseBoolArrayAttr:$reverse_scanned, DenseBoolArrayAttr:$reverse_collected,
                       UnitAttr:$counted, UnitAttr:$conditional);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $body `sizes` $sizes (`trips` $trip_count^)? (`while` $condition^)?
    `carried` `(` $carried `)` `scanned` `(` $scanned `)` `captures` `(` $captures `)`
    `reverse_scanned` $reverse_scanned `reverse_collected` $reverse_collected
    (`counted` $counted^)? (`conditional` $conditional^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
