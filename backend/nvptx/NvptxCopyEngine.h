// SPDX-License-Identifier: Apache-2.0
// The tensor memory accelerator, mbarriers and setmaxnreg, for sm_90a.
#pragma once

#include "backend/gpu/CopyEngine.h"

namespace tilewright {

/// The cache policy of accesses whose lines leave the second-level cache first (PTX ISA, "createpolicy").
mlir::Value makeStreamPolicy(CopyEngine::Builder &b);

class NvptxCopyEngine final : public CopyEngine {
public:
  explicit NvptxCopyEngine(bool prefetchesMaps) : prefetchesMaps_(prefetchesMaps) {}
  void markTensorMap(mlir::LLVM::LLVMFuncOp function, unsigned index) override;
  void prefetchMap(Builder &b, Value map) override;
  void prefetchLine(Builder &b, Value address) override;
  void copyBox(Builder &b, Value shared, Value map, llvm::ArrayRef<Value> coordinates, llvm::ArrayRef<Value> offsets,
               Value barrier, bool streamed) override;
  void storeBox(Builder &b, Value shared, Value map, llvm::ArrayRef<Value> coordinates) override;
  void commitStores(Builder &b) override;
  void awaitStores(Builder &b, unsigned pending) override;
  Value elect(Builder &b, Value lane) override;
  void writeMatrices(Builder &b, Value address, llvm::ArrayRef<Value> words) override;
  void meetWarp(Builder &b) override;
  void makeBarrier(Builder &b, Value address, unsigned arrivals) override;
  void publishBarriers(Builder &b) override;
  void expectBytes(Builder &b, Value barrier, unsigned bytes) override;
  void arrive(Builder &b, Value barrier) override;
  void waitPhase(Builder &b, Value barrier, Value parity) override;
  void pause(Builder &b) override;
  void roleBarrier(Builder &b, Value number, unsigned threads) override;
  void setRegisters(Builder &b, unsigned registers, bool more) override;

private:
  bool prefetchesMaps_;
};

} // namespace tilewright
