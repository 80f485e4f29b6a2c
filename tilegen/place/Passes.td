// SPDX-License-Identifier: Apache-2.0
//===- Passes.td - the stage "place" and its steps, for tilewright-opt --------------------------------------------===//
#ifndef TILEWRIGHT_PLACE_PASSES
#define TILEWRIGHT_PLACE_PASSES

include "mlir/Pass/PassBase.td"

def PlaceTilesPass : Pass<"tilewright-place-tiles", "::mlir::ModuleOp"> {
  let summary = "Place every tile.kernel of the module: all steps, in their order";
  let description = [{
    The steps are tilewright-place-flatten-loops, -assign-layouts, -share-rows, -share-sums, -assign-roles,
    -await-late, -stage-stores, -store-late, -ask-ahead, -stage-operands, -pipeline-loops, -read-early and
    -allocate-shared. Kernels that are placed already stay as they are, if the target can run them.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_80\"", "The target, as --target spells it">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

/// One step on one kernel. None of them changes a kernel that is placed already.
class PlaceStep<string step> : Pass<"tilewright-place-" # step, "::tilewright::tile::KernelOp"> {
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def FlattenLoopsPass : PlaceStep<"flatten-loops"> {
  let summary = "Make one loop of perfectly nested loops around a tile.dot";
  let description = [{
    One software pipeline can then run through all of them. The loops carry the same tiles, and between them there is
    index arithmetic alone.
  }];
}

def AssignLayoutsPass : PlaceStep<"assign-layouts"> {
  let summary = "Give every tile a layout, and every tile.dot its instruction";
  let description = [{
    Tile sizes and the number of warps are powers of two, or a diagnostic says so. A tile.dot for which the target has
    no instruction keeps none, and becomes multiplications and additions.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_80\"", "The target, as --target spells it">];
}

def ShareRowsPass : PlaceStep<"share-rows"> {
  let summary = "Give each row to the blocks of a cluster, which hold a share of it each";
  let description = [{
    Takes kernels whose tiles have layouts, which reduce rows and whose schedule says `clustered`. Others stay as they
    are, and so do kernels that do more than load, reduce, compute element by element and store, and all of them where
    the target has no clusters of as many blocks; a remark says why.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "The target, as --target spells it">];
}

def ShareSumsPass : PlaceStep<"share-sums"> {
  let summary = "Give each tile to several programs, which sum a part of the steps each";
  let description = [{
    Takes kernels whose tiles have layouts and whose schedule has `parts`. Others stay as they are, and so do kernels
    that do more than sum in their loop, or whose number of programs is not known; a remark says why. Where the schedule
    also says `clustered` and the target has clusters, the programs of a tile are one.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "The target, as --target spells it">];
}

def AssignRolesPass : PlaceStep<"assign-roles"> {
  let summary = "Give the copies of a loop around products warps of their own";
  let description = [{
    Takes kernels whose tiles have layouts and whose schedule asks for groups, for targets with a copy engine. In an
    attention the loop is rotated where that can be: a step's scores are computed beside the mix of the step before.
    Other kernels stay as they are; a remark says why where the schedule asked in vain. The steps behind it leave
    kernels with roles as they are.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "The target, as --target spells it">];
}

def AwaitLatePass : PlaceStep<"await-late"> {
  let summary = "Await the sums of a tile's strips one by one, where they are used first";
  let description = [{
    Takes kernels with roles whose blocks take one program. What is made of the first strips' sums is computed and
    stored while products of the others still run. The slot that the last products read is released behind the last
    wait.
  }];
}

def StageStoresPass : PlaceStep<"stage-stores"> {
  let summary = "Have the results of roles stored through shared memory";
  let description = [{
    Takes kernels with roles. The copy engine stores where blocks take several programs and a tensor describes the
    memory. Rows that begin at no multiple of 16 bytes are stored by the threads of a warp together. Other stores stay,
    and so do those for which no shared memory is left.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "The target, as --target spells it">,
                 Option<"from", "from", "int64_t", "0", "Programs of a block, at least; 0: as the target says">];
}

def StoreLatePass : PlaceStep<"store-late"> {
  let summary = "Store a program's results beside the products of the next one";
  let description = [{
    Takes kernels with roles of which one stores, by the copy engine, in blocks that take several programs. It holds a
    program's results in registers, where these suffice, and stores a piece of them in each of the next program's first
    steps. Where results are functions, it holds what these are computed from, and computes them there.
  }];
}

def AskAheadPass : PlaceStep<"ask-ahead"> {
  let summary = "Have blocks ask for what their first steps copy";
  let description = [{
    Takes kernels with roles whose operands are inputs and constants of the model. What the first steps of the blocks'
    first programs copy is asked for by all blocks together, before the copy engine has the tensors' descriptions.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "The target, as --target spells it">];
}

def StageOperandsPass : PlaceStep<"stage-operands"> {
  let summary = "Bring the operands of every tile.dot through shared memory";
  let description = [{ Takes kernels whose tiles have layouts. Addresses stay 0. }];
}

def PipelineLoopsPass : PlaceStep<"pipeline-loops"> {
  let summary = "Load the next steps' operands while a loop multiplies this one's";
  let description = [{
    Takes kernels whose operands go through shared memory. The slots are as many as the schedule's `stages` where the
    target copies asynchronously, else two; what goes through registers has two. Where kernels may start early, the
    first copies and loads of constants stand before `tile.await_kernels`.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_80\"", "The target, as --target spells it">];
}

def ReadEarlyPass : PlaceStep<"read-early"> {
  let summary = "Move loads to the front whose addresses need no loaded data";
  let description = [{
    Takes kernels without products and loops. Where kernels may start early, constants are loaded before
    `tile.await_kernels`.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "The target, as --target spells it">];
}

def AllocateSharedPass : PlaceStep<"allocate-shared"> {
  let summary = "Give shared memory addresses, and the kernel its threads and shared_bytes";
  let description = [{
    More shared memory than a block of the target has is a diagnostic. With this step the kernel is placed.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_80\"", "The target, as --target spells it">];
}

#endif
