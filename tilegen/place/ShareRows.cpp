// SPDX-License-Identifier: Apache-2.0
// Rows that are too long for the registers of a block are cut into shares for the blocks of a cluster, where the
// schedule says `clustered`. Each block holds its share in registers, so that memory is read once, and what it has
// reduced it gives to the others:
//
//   %r = tile.program_id 0                           %p = tile.program_id 0
//                                                    %r = %p / 8, %part = %p % 8
//   %x = tile.load %in[%r, %c0] -> tensor<1x65536>   %x = tile.load %in[%r, %c0 + %part * 8192] -> tensor<1x8192>
//   %m = tile.reduce <max> %x dim 1             ->   %own = tile.reduce <max> %x dim 1
//                                                    %m = tile.part_reduce <max> %own[%part] of 8
//   ...                                              ...
//   tile.store %y, %out[%r, %c0]                     tile.store %y, %out[%r, %c0 + %part * 8192]
//   tile.store %m, %largest[%r, %c0]                 scf.if %part == 0 { tile.store %m, %largest[%r, %c0] }
#include "tilegen/place/ClusterShares.h"

using namespace mlir;
using namespace tilewright::tile;

/// The dimension along which the kernel reduces rows, one in each program; nullopt, and `why`, where it does other
/// things too, or the rows can't be cut.
static std::optional<unsigned> findRowDim(KernelOp kernel, int64_t parts, std::string &why) {
  auto refuse = [&](const char *reason) { return why = reason, std::nullopt; };
  std::optional<unsigned> dim;
  for (ReduceOp reduce : kernel.getBody().getOps<ReduceOp>()) {
    if (dim && dim != reduce.getDim())
      return refuse("it reduces several dimensions");
    if (cast<RankedTensorType>(reduce.getType()).getNumElements() != 1)
      return refuse("its programs have several rows each");
    if (reduce.getInput().getType().getDimSize(reduce.getDim()) == 1)
      return refuse("its rows have one element");
    dim = reduce.getDim();
  }
  if (!dim)
    return refuse("it has no rows in registers");
  auto extents = kernel.getGrid().getResults();
  if (extents[1] != 1 || extents[2] != 1)
    return refuse("its grid has more than one dimension");
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!isa<ReduceOp>(op) && !worksOnShares(&op))
      return refuse("it does more than load, reduce, compute element by element, and store");
    if (!canCutResults(&op, *dim, parts))
      return refuse(sharesAreElsewhere);
  }
  return dim;
}

static bool isOfWholeRow(StoreOp store) {
  return cast<RankedTensorType>(store.getValue().getType()).getNumElements() == 1;
}

static void shareAlong(KernelOp kernel, unsigned dim, int64_t parts) {
  Value part = numberParts(kernel, parts).part;
  auto ops = llvm::map_to_vector(kernel.getBody().front().without_terminator(), [](Operation &op) { return &op; });
  OpBuilder b(kernel.getContext());
  for (auto store : llvm::make_early_inc_range(kernel.getBody().getOps<StoreOp>())) {
    if (!isOfWholeRow(store))
      continue;
    b.setInsertionPoint(store);
    Value zero = arith::ConstantIndexOp::create(b, store.getLoc(), 0),
          isFirst = arith::CmpIOp::create(b, store.getLoc(), arith::CmpIPredicate::eq, part, zero);
    store->moveBefore(scf::IfOp::create(b, store.getLoc(), isFirst, /*withElse=*/false).thenYield());
  }
  Narrower(dim, part, parts).narrow(ops);
  for (ReduceOp reduce : kernel.getBody().getOps<ReduceOp>()) {
    b.setInsertionPointAfter(reduce);
    auto row = PartReduceOp::create(b, reduce.getLoc(), reduce.getKind(), reduce.getResult(), part, parts,
                                    /*scratch=*/nullptr);
    reduce.getResult().replaceAllUsesExcept(row.getResult(), row);
  }
}

void tilewright::tile::shareRows(KernelOp kernel, const PlaceFacts &facts) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  bool isWanted = schedule && schedule.getRoot() == graph::RootKind::RowReduction && schedule.getClustered();
  if (!isWanted || kernel.getClusterBlocks() > 1)
    return;
  std::string why = "the target has no clusters of that many blocks";
  std::optional<unsigned> dim;
  if (schedule.getParts() <= facts.clusterBlocks)
    dim = findRowDim(kernel, schedule.getParts(), why);
  if (dim)
    shareAlong(kernel, *dim, schedule.getParts());
  else
    kernel.emitRemark() << "its rows are not shared because " << why;
}
