// Branches and loops are printed as they are read, with their bodies beside @main.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

module attributes {graph.symbols = ["n", "u"]} {
  func.func @main(%c: tensor<i1>, %m: tensor<i64>, %x: tensor<?xf32, affine_map<()[s0] -> (s0)>>, %s: tensor<!flow.sequence>) -> tensor<4xf32> {
    // CHECK: flow.if %{{.*}} then @body_0 sizes #{{.*}}(%{{.*}}) else @body_1 sizes #{{.*}}()
    %r = flow.if %c then @body_0 sizes affine_map<()[s0] -> (s0)> (%x) else @body_1 sizes affine_map<() -> ()> ()
        : (tensor<i1>, tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
    // CHECK: flow.loop @body_2 sizes #{{.*}} trips %{{.*}} carried(%{{.*}}) scanned() captures(%{{.*}}) reverse_scanned [] reverse_collected [] counted
    %start = arith.constant dense<0.0> : tensor<4xf32>
    %y = flow.loop @body_2 sizes affine_map<() -> ()> trips %m carried (%start) scanned () captures (%s) reverse_scanned [] reverse_collected [] counted
        : (tensor<i64>, tensor<4xf32>, tensor<!flow.sequence>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  module @body_0 {}
  module @body_1 {}
  // CHECK: module @body_2
  module @body_2 attributes {graph.symbols = []} {
    func.func @main(%i: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>, %s: tensor<!flow.sequence>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
  }
}
