// Which keys count in a row of an attention is said of its kernel where indices tell, though the mask is another kernel's
// result. Two masks make two kernels of one text. A mask by -10000 excludes nothing for sure.
// RUN: tilewright-opt %s --tilewright-group-form-groups='mode=all attention=all' | FileCheck %s
// RUN: tilewright-opt %s --tilewright-group-form-groups='mode=all attention=all explain=text' -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: tilewright-opt %s --tilewright-group-form-groups='mode=all attention=all explain=json' -o /dev/null | FileCheck %s --check-prefix=JSON

// TEXT: attention (attention): a
// TEXT-NEXT: a row visits keys below d0 + 33
// TEXT: a row visits keys from d0 + 29, below d0 + 33
// TEXT: a row visits all keys, since indices alone exclude none

// JSON: "keys": "keys below d0 + 33"

// CHECK-DAG: #[[$CAUSAL:.*]] = affine_map<(d0, d1) -> (d0 + 33)>
// CHECK-DAG: #[[$WINDOW:.*]] = affine_map<(d0, d1) -> (d0 + 29)>
// CHECK: graph.launch @[[FIRST:attention[_0-9]*]](
// CHECK: graph.launch @[[SECOND:attention[_0-9]*]](
// CHECK: graph.launch @[[THIRD:attention[_0-9]*]](
// CHECK-DAG: graph.kernel @[[FIRST]]({{.*}}graph.keys_below = #[[$CAUSAL]], root
// CHECK-DAG: graph.kernel @[[SECOND]]({{.*}}graph.keys_below = #[[$CAUSAL]], graph.keys_from = #[[$WINDOW]], root
// CHECK-DAG: graph.kernel @[[THIRD]]({{.*}} attributes {root = #graph.root<attention>}
module attributes {graph.nodes = ["a|Attention", "b|Attention", "c|Attention", "m|Where", "n|Where", "o|Where"]} {
  func.func @main(%q0: tensor<64x16xf32> {graph.name = "q0"}, %q1: tensor<64x16xf32> {graph.name = "q1"}, %q2: tensor<64x16xf32> {graph.name = "q2"}, %k: tensor<96x16xf32> {graph.name = "k"}, %v: tensor<96x16xf32> {graph.name = "v"}) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>) {
    %row = graph.iota dim 0 {graph.node = 3 : i64} : tensor<64x96xi64>
    %key = graph.iota dim 1 {graph.node = 3 : i64} : tensor<64x96xi64>
    %past = arith.constant dense<32> : tensor<64x96xi64>
    %at = arith.addi %row, %past {graph.node = 3 : i64} : tensor<64x96xi64>
    %behind = arith.cmpi sle, %key, %at {graph.node = 3 : i64} : tensor<64x96xi64>
    %width = arith.constant dense<4> : tensor<64x96xi64>
    %first = arith.subi %at, %width {graph.node = 4 : i64} : tensor<64x96xi64>
    %near = arith.cmpi sgt, %key, %first {graph.node = 4 : i64} : tensor<64x96xi64>
    %both = arith.andi %behind, %near {graph.node = 4 : i64} : tensor<64x96xi1>
    %zero3 = arith.constant dense<0.0> : tensor<64x96xf32>
    %never3 = arith.constant dense<0xFF800000> : tensor<64x96xf32>
    %mask3 = arith.select %behind, %zero3, %never3 {graph.node = 3 : i64} : tensor<64x96xi1>, tensor<64x96xf32>
    %zero4 = arith.constant dense<0.0> : tensor<64x96xf32>
    %never4 = arith.constant dense<-3.4e+38> : tensor<64x96xf32>
    %mask4 = arith.select %both, %zero4, %never4 {graph.node = 4 : i64} : tensor<64x96xi1>, tensor<64x96xf32>
    %zero5 = arith.constant dense<0.0> : tensor<64x96xf32>
    %never5 = arith.constant dense<-1.0e+04> : tensor<64x96xf32>
    %mask5 = arith.select %behind, %zero5, %never5 {graph.node = 5 : i64} : tensor<64x96xi1>, tensor<64x96xf32>
    %s0 = graph.contract %q0, %k maps [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>] {graph.node = 0 : i64} : tensor<64x16xf32>, tensor<96x16xf32> -> tensor<64x96xf32>
    %x0 = arith.addf %s0, %mask3 {graph.node = 0 : i64} : tensor<64x96xf32>
    %m0 = graph.reduce <max> %x0 axes [1] {graph.node = 0 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %mb0 = graph.broadcast %m0 dims [0] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %d0 = arith.subf %x0, %mb0 {graph.node = 0 : i64} : tensor<64x96xf32>
    %e0 = math.exp %d0 {graph.node = 0 : i64} : tensor<64x96xf32>
    %t0 = graph.reduce <sum> %e0 axes [1] {graph.node = 0 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %tb0 = graph.broadcast %t0 dims [0] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %p0 = arith.divf %e0, %tb0 {graph.node = 0 : i64} : tensor<64x96xf32>
    %o0 = graph.contract %p0, %v maps [affine_map<(m, e, n) -> (m, n)>, affine_map<(m, e, n) -> (n, e)>, affine_map<(m, e, n) -> (m, e)>] {graph.node = 0 : i64} : tensor<64x96xf32>, tensor<96x16xf32> -> tensor<64x16xf32>
    %s1 = graph.contract %q1, %k maps [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>] {graph.node = 1 : i64} : tensor<64x16xf32>, tensor<96x16xf32> -> tensor<64x96xf32>
    %x1 = arith.addf %s1, %mask4 {graph.node = 1 : i64} : tensor<64x96xf32>
    %m1 = graph.reduce <max> %x1 axes [1] {graph.node = 1 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %mb1 = graph.broadcast %m1 dims [0] {graph.node = 1 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %d1 = arith.subf %x1, %mb1 {graph.node = 1 : i64} : tensor<64x96xf32>
    %e1 = math.exp %d1 {graph.node = 1 : i64} : tensor<64x96xf32>
    %t1 = graph.reduce <sum> %e1 axes [1] {graph.node = 1 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %tb1 = graph.broadcast %t1 dims [0] {graph.node = 1 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %p1 = arith.divf %e1, %tb1 {graph.node = 1 : i64} : tensor<64x96xf32>
    %o1 = graph.contract %p1, %v maps [affine_map<(m, e, n) -> (m, n)>, affine_map<(m, e, n) -> (n, e)>, affine_map<(m, e, n) -> (m, e)>] {graph.node = 1 : i64} : tensor<64x96xf32>, tensor<96x16xf32> -> tensor<64x16xf32>
    %s2 = graph.contract %q2, %k maps [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>] {graph.node = 2 : i64} : tensor<64x16xf32>, tensor<96x16xf32> -> tensor<64x96xf32>
    %x2 = arith.addf %s2, %mask5 {graph.node = 2 : i64} : tensor<64x96xf32>
    %m2 = graph.reduce <max> %x2 axes [1] {graph.node = 2 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %mb2 = graph.broadcast %m2 dims [0] {graph.node = 2 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %d2 = arith.subf %x2, %mb2 {graph.node = 2 : i64} : tensor<64x96xf32>
    %e2 = math.exp %d2 {graph.node = 2 : i64} : tensor<64x96xf32>
    %t2 = graph.reduce <sum> %e2 axes [1] {graph.node = 2 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %tb2 = graph.broadcast %t2 dims [0] {graph.node = 2 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %p2 = arith.divf %e2, %tb2 {graph.node = 2 : i64} : tensor<64x96xf32>
    %o2 = graph.contract %p2, %v maps [affine_map<(m, e, n) -> (m, n)>, affine_map<(m, e, n) -> (n, e)>, affine_map<(m, e, n) -> (m, e)>] {graph.node = 2 : i64} : tensor<64x96xf32>, tensor<96x16xf32> -> tensor<64x16xf32>
    return %o0, %o1, %o2, %mask3, %mask4, %mask5 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>
  }
}
