// A kernel does not grow beyond the limits of KernelLimits.h.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s

// 42 exponentials are as much work as one kernel does.
// CHECK: fusion all: 2 launches
// CHECK: because one kernel would hold more than registers and compile time are good for
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
    %1 = math.exp %x {graph.node = 0 : i64} : tensor<1024xf32>
    %2 = math.exp %1 {graph.node = 0 : i64} : tensor<1024xf32>
    %3 = math.exp %2 {graph.node = 0 : i64} : tensor<1024xf32>
    %4 = math.exp %3 {graph.node = 0 : i64} : tensor<1024xf32>
    %5 = math.exp %4 {graph.node = 0 : i64} : tensor<1024xf32>
    %6 = math.exp %5 {graph.node = 0 : i64} : tensor<1024xf32>
    %7 = math.exp %6 {graph.node = 0 : i64} : tensor<1024xf32>
    %8 = math.exp %7 {graph.node = 0 : i64} : tensor<1024xf32>
    %9 = math.exp %8 {graph.node = 0 : i64} : tensor<1024xf32>
    %10 = math.exp %9 {graph.node = 0 : i64} : tensor<1024xf32>
    %11 = math.exp %10 {graph.node = 0 : i64} : tensor<1024xf32>
    %12 = math.exp %11 {graph.node = 0 : i64} : tensor<1024xf32>
    %13 = math.exp %12 {graph.node = 0 : i64} : tensor<1024xf32>
    %14 = math.exp %13 {graph.node = 0 : i64} : tensor<1024xf32>
    %15 = math.exp %14 {graph.node = 0 : i64} : tensor<1024xf32>
    %16 = math.exp %15 {graph.node = 0 : i64} : tensor<1024xf32>
    %17 = math.exp %16 {graph.node = 0 : i64} : tensor<1024xf32>
    %18 = math.exp %17 {graph.node = 0 : i64} : tensor<1024xf32>
    %19 = math.exp %18 {graph.node = 0 : i64} : tensor<1024xf32>
    %20 = math.exp %19 {graph.node = 0 : i64} : tensor<1024xf32>
    %21 = math.exp %20 {graph.node = 0 : i64} : tensor<1024xf32>
    %22 = math.exp %21 {graph.node = 0 : i64} : tensor<1024xf32>
    %23 = math.exp %22 {graph.node = 0 : i64} : tensor<1024xf32>
    %24 = math.exp %23 {graph.node = 0 : i64} : tensor<1024xf32>
    %25 = math.exp %24 {graph.node = 0 : i64} : tensor<1024xf32>
    %26 = math.exp %25 {graph.node = 0 : i64} : tensor<1024xf32>
    %27 = math.exp %26 {graph.node = 0 : i64} : tensor<1024xf32>
    %28 = math.exp %27 {graph.node = 0 : i64} : tensor<1024xf32>
    %29 = math.exp %28 {graph.node = 0 : i64} : tensor<1024xf32>
    %30 = math.exp %29 {graph.node = 0 : i64} : tensor<1024xf32>
    %31 = math.exp %30 {graph.node = 0 : i64} : tensor<1024xf32>
    %32 = math.exp %31 {graph.node = 0 : i64} : tensor<1024xf32>
    %33 = math.exp %32 {graph.node = 0 : i64} : tensor<1024xf32>
    %34 = math.exp %33 {graph.node = 0 : i64} : tensor<1024xf32>
    %35 = math.exp %34 {graph.node = 0 : i64} : tensor<1024xf32>
    %36 = math.exp %35 {graph.node = 0 : i64} : tensor<1024xf32>
    %37 = math.exp %36 {graph.node = 0 : i64} : tensor<1024xf32>
    %38 = math.exp %37 {graph.node = 0 : i64} : tensor<1024xf32>
    %39 = math.exp %38 {graph.node = 0 : i64} : tensor<1024xf32>
    %40 = math.exp %39 {graph.node = 0 : i64} : tensor<1024xf32>
    %41 = math.exp %40 {graph.node = 1 : i64} : tensor<1024xf32>
    %42 = math.exp %41 {graph.node = 1 : i64} : tensor<1024xf32>
    %43 = math.exp %42 {graph.node = 1 : i64} : tensor<1024xf32>
    %44 = math.exp %43 {graph.node = 1 : i64} : tensor<1024xf32>
    %45 = math.exp %44 {graph.node = 1 : i64} : tensor<1024xf32>
    %46 = math.exp %45 {graph.node = 1 : i64} : tensor<1024xf32>
    %47 = math.exp %46 {graph.node = 1 : i64} : tensor<1024xf32>
    %48 = math.exp %47 {graph.node = 1 : i64} : tensor<1024xf32>
    return %48 : tensor<1024xf32>
  }
}
