// SPDX-License-Identifier: Apache-2.0
// Attentions with masks to be looked at by brute force: random text of what masks are made of, a kernel around it, and
// what a kernel computes.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "fusion/Attention.h"
#include "tests/reference/GraphInterpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <fmt/format.h>
#include <random>

namespace tilewright::tests {

constexpr int64_t maskRows = 7, maskKeys = 9;

/// %x: the scores and a part, from row 2 on, of a constant of 16 by 16 of these numbers.
inline std::string constantMask(mlir::MLIRContext &context,
                                llvm::function_ref<float(int64_t row, int64_t column)> number) {
  constexpr int64_t size = 16;
  std::vector<float> table;
  for (int64_t i = 0; i < size * size; ++i)
    table.push_back(number(i / size, i % size));
  auto &pool = context.getLoadedDialect<graph::GraphDialect>()->constants();
  return fmt::format(R"(
        %table = graph.constant "{}" : tensor<16x16xf32>
        %part = graph.slice %table offsets affine_map<() -> (2, 0)> strides [1, 1] : tensor<16x16xf32> -> tensor<7x9xf32>
        %x = arith.addf %scores, %part : tensor<7x9xf32>
)",
                     pool.add(std::as_bytes(std::span(table))));
}

/// Random text of what masks are made of.
class MaskText {
public:
  explicit MaskText(unsigned seed) : random(seed) {}

  /// The logits, from the scores; `constants` are the numbers that may exclude a key.
  std::string logits(const std::vector<std::string> &constants) {
    std::string x = "%scores";
    for (int masks = 1 + pick(3); masks > 0; --masks)
      x = masked(x, constants[pick(constants.size())]);
    return x;
  }
  std::string text;

private:
  int pick(size_t n) { return static_cast<int>(random() % n); }
  std::string add(const std::string &operation) {
    std::string name = fmt::format("%t{}", count++);
    text += fmt::format("    {} = {}\n", name, operation);
    return name;
  }
  std::string i64(int value) { return add(fmt::format("arith.constant dense<{}> : tensor<7x9xi64>", value)); }
  std::string f32(const std::string &value) { return add("arith.constant dense<" + value + "> : tensor<7x9xf32>"); }

  std::string integer(int depth = 2) {
    switch (pick(depth > 0 ? 11 : 3)) {
    case 0:
    case 1:
      return add("graph.iota dim 1 : tensor<7x9xi64>");
    case 2:
      return add("graph.iota dim 0 : tensor<7x9xi64>");
    case 3:
      return "%numbers";
    case 9: // one of two that are the same number where the key is the row
      return add("graph.broadcast %segments dims [1] : tensor<9xi64> -> tensor<7x9xi64>");
    case 10: {
      std::string few =
          add("graph.slice %segments offsets affine_map<() -> (0)> strides [1] : tensor<9xi64> -> tensor<7xi64>");
      return add("graph.broadcast " + few + " dims [0] : tensor<7xi64> -> tensor<7x9xi64>");
    }
    case 4:
      return add(fmt::format("arith.maxsi {}, {} : tensor<7x9xi64>", integer(depth - 1), integer(depth - 1)));
    case 5:
      return add(fmt::format("arith.minsi {}, {} : tensor<7x9xi64>", integer(depth - 1), i64(pick(4))));
    case 6: {
      std::string x = integer(depth - 1), y = integer(depth - 1);
      std::string less = add(fmt::format("arith.cmpi slt, {}, {} : tensor<7x9xi64>", x, i64(0)));
      return add(fmt::format("arith.select {}, {}, {} : tensor<7x9xi1>, tensor<7x9xi64>", less, y, x));
    }
    default:
      return add(fmt::format("arith.{} {}, {} : tensor<7x9xi64>", pick(3) ? "addi" : "subi", integer(depth - 1),
                             i64(pick(6) - 2)));
    }
  }

  std::string condition(int depth = 2) {
    static constexpr const char *predicates[] = {"sle", "slt", "sge", "sgt", "eq", "ne"};
    switch (pick(depth > 0 ? 10 : 5)) {
    case 5:
      return "%data";
    case 6:
    case 7:
    case 8:
      return add(fmt::format("arith.{} {}, {} : tensor<7x9xi1>", pick(3) ? "andi" : "ori", condition(depth - 1),
                             condition(depth - 1)));
    case 9: {
      std::string yes = add("arith.constant dense<true> : tensor<7x9xi1>");
      return add(fmt::format("arith.xori {}, {} : tensor<7x9xi1>", condition(depth - 1), yes));
    }
    default:
      return add(fmt::format("arith.cmpi {}, {}, {} : tensor<7x9xi64>", predicates[pick(6)], integer(), integer()));
    }
  }

  std::string masked(const std::string &x, const std::string &constant) {
    switch (pick(7)) {
    case 0:
      return add(fmt::format("arith.addf {}, %bias : tensor<7x9xf32>", x));
    case 1:
      return add(fmt::format("arith.mulf {}, {} : tensor<7x9xf32>", x, f32("5.0e-01")));
    case 2:
      return add(fmt::format("arith.maximumf {}, {} : tensor<7x9xf32>", x, f32("-3.4e+38")));
    case 3:
    case 4: {
      std::string bias = add(fmt::format("arith.select {}, {}, {} : tensor<7x9xi1>, tensor<7x9xf32>", condition(),
                                         f32("0.0"), f32(constant)));
      return add(fmt::format("arith.addf {}, {} : tensor<7x9xf32>", bias, x));
    }
    default: {
      std::string is = condition(), never = f32(constant);
      bool kept = pick(2);
      return add(fmt::format("arith.select {}, {}, {} : tensor<7x9xi1>, tensor<7x9xf32>", is, kept ? x : never,
                             kept ? never : x));
    }
    }
  }

  std::mt19937 random;
  int count = 0;
};

/// Kernels of 7 rows and 9 keys.
struct MaskedAttention : testing::Test {
  MaskedAttention() {
    context.loadDialect<graph::GraphDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::math::MathDialect>();
  }

  /// A kernel whose result are the shares of the keys: the values are the identity.
  static std::string kernel(const std::string &mask, const std::string &logits) {
    return fmt::format(R"(
      graph.kernel @k(%q: tensor<7x4xf32>, %k: tensor<9x4xf32>, %v: tensor<9x9xf32>, %numbers: tensor<7x9xi64>,
                      %data: tensor<7x9xi1>, %bias: tensor<7x9xf32>, %segments: tensor<9xi64>) -> tensor<7x9xf32> {{
        %scores = graph.contract %q, %k maps [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>,
            affine_map<(m, n, d) -> (m, n)>] : tensor<7x4xf32>, tensor<9x4xf32> -> tensor<7x9xf32>
        {}
        %max = graph.reduce <max> {} axes [1] : tensor<7x9xf32> -> tensor<7xf32>
        %maxs = graph.broadcast %max dims [0] : tensor<7xf32> -> tensor<7x9xf32>
        %below = arith.subf {}, %maxs : tensor<7x9xf32>
        %weights = math.exp %below : tensor<7x9xf32>
        %sum = graph.reduce <sum> %weights axes [1] : tensor<7x9xf32> -> tensor<7xf32>
        %sums = graph.broadcast %sum dims [0] : tensor<7xf32> -> tensor<7x9xf32>
        %shares = arith.divf %weights, %sums : tensor<7x9xf32>
        %mix = graph.contract %shares, %v maps [affine_map<(m, e, n) -> (m, n)>, affine_map<(m, e, n) -> (n, e)>,
            affine_map<(m, e, n) -> (m, e)>] : tensor<7x9xf32>, tensor<9x9xf32> -> tensor<7x9xf32>
        graph.return %mix : tensor<7x9xf32>
      }})",
                       mask, logits, logits);
  }

  mlir::FailureOr<fusion::Attention> parse(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      llvm::report_fatal_error(llvm::Twine(text));
    return fusion::takeApart(kernelOp());
  }
  graph::KernelOp kernelOp() { return *module->getOps<graph::KernelOp>().begin(); }

  /// What the kernel makes of some inputs.
  std::vector<Dense> results() {
    std::mt19937 random(3);
    std::vector<Dense> inputs;
    for (mlir::Type type : kernelOp().getArgumentTypes()) {
      auto tensor = mlir::cast<mlir::RankedTensorType>(type);
      Dense dense{std::vector<int64_t>(tensor.getShape().begin(), tensor.getShape().end()), {}};
      for (int64_t i = 0; i < dense.count(); ++i)
        dense.elements.push_back(tensor.getElementType().isF32()        ? static_cast<double>(random() % 9) / 4 - 1
                                 : tensor.getElementType().isInteger(1) ? static_cast<double>(random() % 2)
                                                                        : static_cast<double>(random() % 9) - 3);
      inputs.push_back(dense);
    }
    for (int64_t i = 0; i < maskKeys * maskKeys; ++i)
      inputs[2].elements[i] = i % (maskKeys + 1) == 0;
    auto result = graph::interpretKernel(kernelOp(), inputs, {});
    if (!result)
      llvm::report_fatal_error(llvm::Twine(result.status().message()));
    return *result;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tilewright::tests
