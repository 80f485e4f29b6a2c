// Results that are stored in the steps of the next program, and those that are not.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a},tilewright-place-stage-stores{target=sm_90a from=2},tilewright-place-store-late,tilewright-place-allocate-shared{target=sm_90a}))" | FileCheck %s

// A warp holds two pieces, which are stored in the second and the third step of the next program, and the last program's
// behind the loop, all through the same rooms. What is held moves with where it is stored.
// CHECK-LABEL: tile.kernel @late
// CHECK: tile.roles
// CHECK: %[[LAST:.*]]:4 = scf.for %[[P:.*]] = %[[FIRST:.*]] to %[[END:.*]] step {{.*}} iter_args({{.*}}, %[[HELD:.*]] = {{.*}}, %[[COLUMN:.*]] = {{.*}}, %[[ROW:.*]] = {{.*}}) ->
// CHECK: %[[N:.*]] = tile.size (d0) -> ((d0 mod 2) * 128)(%[[P]])
// CHECK: %[[M:.*]] = tile.size (d0) -> ((d0 floordiv 2) * 64)(%[[P]])
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: tile.dot
// CHECK: tile.ring_release
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[P]], %[[FIRST]]
// CHECK: scf.if %[[LATER]]
// CHECK: %[[TURN:.*]] = tile.size (d0) -> (d0 floordiv 64 - 1)(%[[K]])
// CHECK: tile.bulk_store %[[HELD]], %[[MAP:[0-9]+]][%[[COLUMN]], %[[ROW]]] turn %[[TURN]] fast 1 rooms 2 scratch [[ROOMS:[0-9]+]]
// CHECK: %[[H:.*]] = arith.truncf
// CHECK-NOT: bulk_store
// CHECK: scf.yield {{.*}}, %[[H]], %[[N]], %[[M]] :
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[FIRST]], %[[END]]
// CHECK: scf.if %[[ANY]]
// CHECK: tile.bulk_store %[[LAST]]#1, %[[MAP]][%[[LAST]]#2, %[[LAST]]#3] fast 1 rooms 2 scratch [[ROOMS]]
tile.kernel @late(%a: !tile.buffer<f16, () -> (9600, 192)>, %b: !tile.buffer<f16, () -> (192, 256)>, %y: !tile.buffer<f16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 192 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 192)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (192, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (192, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %last = arith.addf %sum, %zero : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// -----

// Two steps: the second piece would have none.
// CHECK-LABEL: tile.kernel @few_steps
// CHECK-NOT: {{] turn %}}
// CHECK: scf.yield
// CHECK: tile.bulk_store {{.*}}] fast 1
// CHECK-NOT: {{] turn %}}
tile.kernel @few_steps(%a: !tile.buffer<f16, () -> (9600, 128)>, %b: !tile.buffer<f16, () -> (128, 256)>, %y: !tile.buffer<f16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 128 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 128)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (128, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (128, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %last = arith.addf %sum, %zero : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// -----

// Two roles take turns.
// CHECK-LABEL: tile.kernel @groups
// CHECK-NOT: {{] turn %}}
// CHECK-COUNT-2: tile.bulk_store {{.*}}] fast 1
// CHECK-NOT: {{] turn %}}
tile.kernel @groups(%a: !tile.buffer<f16, () -> (9600, 192)>, %b: !tile.buffer<f16, () -> (192, 256)>, %y: !tile.buffer<f16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 6, groups = 2>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 192 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 192)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (192, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (192, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %last = arith.addf %sum, %zero : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// -----

// Sums of 128 registers and results of 128 more are too many.
// CHECK-LABEL: tile.kernel @registers
// CHECK-NOT: {{] turn %}}
// CHECK: tile.bulk_store {{.*}}] fast 1
// CHECK-NOT: {{] turn %}}
tile.kernel @registers(%a: !tile.buffer<f16, () -> (9600, 640)>, %b: !tile.buffer<f16, () -> (640, 512)>, %y: !tile.buffer<f32, () -> (9600, 512)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 256], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 640 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 256)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x256xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x256xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 640) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 640)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (640, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 512)> -> tensor<64x256xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x256xf16>, tensor<64x256xf32>
    scf.yield %d : tensor<64x256xf32>
  }
  %last = arith.addf %sum, %zero : tensor<64x256xf32>
  %h = arith.addf %last, %last : tensor<64x256xf32>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 512) map (d0, d1) -> (d0, d1) : tensor<64x256xf32> -> !tile.buffer<f32, () -> (9600, 512)>
  tile.return
}

// -----

// Functions are computed late as well, in four shares of each of two pieces. What is held is the last value that all
// functions are computed from, rounded to the type of the results, and what is in front of it is computed before.
// CHECK-LABEL: tile.kernel @functions
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[HELD:.*]] = {{.*}}, %{{.*}} = {{.*}}, %{{.*}} = {{.*}}) -> ({{.*}}tensor<64x128xf16
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: scf.if %{{.*}} {
// CHECK: %[[TURN:.*]] = tile.size (d0) -> (d0 floordiv 64 - 1)(%[[K]])
// CHECK: %[[WIDE:.*]] = arith.extf %[[HELD]]
// CHECK: %[[T:.*]] = math.tanh %[[WIDE]]
// CHECK: %[[MOVED:.*]] = arith.addf %[[T]],
// CHECK: %[[LAST:.*]] = arith.mulf %[[MOVED]], %[[WIDE]]
// CHECK: %[[H:.*]] = arith.truncf %[[LAST]]
// CHECK: tile.bulk_store %[[H]], {{.*}}] turn %[[TURN]] shares 4 fast 1
// CHECK: %[[SCALED:.*]] = arith.mulf
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SCALED]]
// CHECK-NOT: math.tanh
// CHECK: scf.yield {{.*}}, %[[ROUNDED]], %{{.*}}, %{{.*}} :
// CHECK: math.tanh
// CHECK: tile.bulk_store {{.*}}] fast 1
tile.kernel @functions(%a: !tile.buffer<f16, () -> (9600, 576)>, %b: !tile.buffer<f16, () -> (576, 256)>, %y: !tile.buffer<f16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 576 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 576) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 576)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (576, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (576, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %half = arith.constant dense<0.5> : tensor<64x128xf32>
  %scaled = arith.mulf %sum, %half : tensor<64x128xf32>
  %t = math.tanh %scaled : tensor<64x128xf32>
  %moved = arith.addf %t, %half : tensor<64x128xf32>
  %last = arith.mulf %moved, %scaled : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// -----

// Eight steps are too few for eight shares behind the first one.
// CHECK-LABEL: tile.kernel @few_steps_of_functions
// CHECK-NOT: {{] turn %}}
// CHECK: math.tanh
// CHECK: tile.bulk_store {{.*}}] fast 1
// CHECK-NOT: {{] turn %}}
tile.kernel @few_steps_of_functions(%a: !tile.buffer<f16, () -> (9600, 512)>, %b: !tile.buffer<f16, () -> (512, 256)>, %y: !tile.buffer<f16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %half = arith.constant dense<0.5> : tensor<64x128xf32>
  %scaled = arith.mulf %sum, %half : tensor<64x128xf32>
  %t = math.tanh %scaled : tensor<64x128xf32>
  %moved = arith.addf %t, %half : tensor<64x128xf32>
  %last = arith.mulf %moved, %scaled : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// -----

// A row that is multiplied behind the function would have to be held too.
// CHECK-LABEL: tile.kernel @factor_behind
// CHECK-NOT: {{] turn %}}
// CHECK: math.tanh
// CHECK: tile.bulk_store {{.*}}] fast 1
// CHECK-NOT: {{] turn %}}
tile.kernel @factor_behind(%a: !tile.buffer<f16, () -> (9600, 576)>, %b: !tile.buffer<f16, () -> (576, 256)>, %y: !tile.buffer<f16, () -> (9600, 256)>, %r: !tile.buffer<f16, () -> (256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 576 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 576) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 576)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (576, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (576, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %t = math.tanh %sum : tensor<64x128xf32>
  %r1 = tile.load %r[%c0, %n] bounds () -> (1, 256) map (d0, d1) -> (d1) : !tile.buffer<f16, () -> (256)> -> tensor<1x128xf16>
  %row = arith.extf %r1 : tensor<1x128xf16> to tensor<1x128xf32>
  %wide = tile.broadcast %row : tensor<1x128xf32> -> tensor<64x128xf32>
  %last = arith.mulf %t, %wide : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// -----

// Halves are multiplied, and results of another type are stored: the model has no products of that type.
// CHECK-LABEL: tile.kernel @another_type
// CHECK-NOT: {{] turn %}}
// CHECK: math.tanh
// CHECK: tile.bulk_store {{.*}}] fast 1
// CHECK-NOT: {{] turn %}}
tile.kernel @another_type(%a: !tile.buffer<f16, () -> (9600, 576)>, %b: !tile.buffer<f16, () -> (576, 256)>, %y: !tile.buffer<bf16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 576 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 576) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 576)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (576, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (576, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %half = arith.constant dense<0.5> : tensor<64x128xf32>
  %scaled = arith.mulf %sum, %half : tensor<64x128xf32>
  %t = math.tanh %scaled : tensor<64x128xf32>
  %moved = arith.addf %t, %half : tensor<64x128xf32>
  %last = arith.mulf %moved, %scaled : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xbf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xbf16> -> !tile.buffer<bf16, () -> (9600, 256)>
  tile.return
}

// -----

// A residual is waited for, so it is not held; a row of biases does not matter.
// CHECK-LABEL: tile.kernel @residual
// CHECK-NOT: {{] turn %}}
// CHECK: tile.bulk_store {{.*}}] fast 1
// CHECK-NOT: {{] turn %}}
tile.kernel @residual(%a: !tile.buffer<f16, () -> (9600, 192)>, %b: !tile.buffer<f16, () -> (192, 256)>, %y: !tile.buffer<f16, () -> (9600, 256)>, %r: !tile.buffer<f16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 192 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 192)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (192, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (192, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %t = tile.load %r[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 256)> -> tensor<64x128xf16>
  %wide = arith.extf %t : tensor<64x128xf16> to tensor<64x128xf32>
  %last = arith.addf %sum, %wide : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @bias
// CHECK: tile.bulk_store {{.*}} turn
tile.kernel @bias(%a: !tile.buffer<f16, () -> (9600, 192)>, %b: !tile.buffer<f16, () -> (192, 256)>, %y: !tile.buffer<f16, () -> (9600, 256)>, %r: !tile.buffer<f16, () -> (256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 192 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 192)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (192, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (192, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %t = tile.load %r[%c0, %n] bounds () -> (1, 256) map (d0, d1) -> (d1) : !tile.buffer<f16, () -> (256)> -> tensor<1x128xf16>
  %row = arith.extf %t : tensor<1x128xf16> to tensor<1x128xf32>
  %wide = tile.broadcast %row : tensor<1x128xf32> -> tensor<64x128xf32>
  %last = arith.addf %sum, %wide : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// -----

// How many programs a block takes is not known: the engine stores, but at once.
// CHECK-LABEL: tile.kernel @any_rows
// CHECK-NOT: {{] turn %}}
// CHECK: tile.bulk_store {{.*}}] fast 1
// CHECK-NOT: {{] turn %}}
tile.kernel @any_rows(%a: !tile.buffer<f16, ()[s0] -> (s0, 192)>, %b: !tile.buffer<f16, ()[s0] -> (192, 256)>, %y: !tile.buffer<f16, ()[s0] -> (s0, 256)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (((s0 + 63) floordiv 64) * 2, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %depth = arith.constant 192 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds ()[s0] -> (s0, 192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, ()[s0] -> (s0, 192)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds ()[s0] -> (192, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, ()[s0] -> (192, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %last = arith.addf %sum, %zero : tensor<64x128xf32>
  %h = arith.truncf %last : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds ()[s0] -> (s0, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, ()[s0] -> (s0, 256)>
  tile.return
}
