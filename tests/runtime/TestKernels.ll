; The runtime's test kernels (TestKernels.cpp) for AMD's GPUs. The build makes code objects of them with llc and lld, one for each architecture, in
; the oldest version that HIP 5 to 7 load.
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()

; y[row, column] = x[row, column] + bias[column]; a block does a row, each thread every 32nd column.
define protected amdgpu_kernel void @addBias(ptr addrspace(1) %x, ptr addrspace(1) %bias, ptr addrspace(1) %y, i64 %columns, ptr addrspace(1) %error) #0 {
  %row32 = call i32 @llvm.amdgcn.workgroup.id.x()
  %thread32 = call i32 @llvm.amdgcn.workitem.id.x()
  %row = zext i32 %row32 to i64
  %thread = zext i32 %thread32 to i64
  %start = mul i64 %row, %columns
  br label %head
head:
  %column = phi i64 [ %thread, %0 ], [ %next, %body ]
  %more = icmp slt i64 %column, %columns
  br i1 %more, label %body, label %end
body:
  %at = add i64 %start, %column
  %bias.at = getelementptr float, ptr addrspace(1) %bias, i64 %column
  %x.at = getelementptr float, ptr addrspace(1) %x, i64 %at
  %y.at = getelementptr float, ptr addrspace(1) %y, i64 %at
  %b = load float, ptr addrspace(1) %bias.at
  %a = load float, ptr addrspace(1) %x.at
  %sum = fadd float %a, %b
  store float %sum, ptr addrspace(1) %y.at
  %next = add i64 %column, 32
  br label %head
end:
  ret void
}

; y[i] = table[index[i]], or table[0] and a word about it for an index outside of the table.
define protected amdgpu_kernel void @gatherChecked(ptr addrspace(1) %table, ptr addrspace(1) %index, ptr addrspace(1) %y, i64 %length, i64 %sentence,
                                                   ptr addrspace(1) %error) #0 {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %first = icmp eq i32 %thread, 0
  br i1 %first, label %check, label %end
check:
  %i32 = call i32 @llvm.amdgcn.workgroup.id.x()
  %i = zext i32 %i32 to i64
  %index.at = getelementptr i64, ptr addrspace(1) %index, i64 %i
  %at = load i64, ptr addrspace(1) %index.at
  %good = icmp ult i64 %at, %length
  br i1 %good, label %read, label %bad
bad:
  %word = or i64 %sentence, 4294967296
  store i64 %word, ptr addrspace(1) %error
  br label %read
read:
  %legal = phi i64 [ %at, %check ], [ 0, %bad ]
  %table.at = getelementptr float, ptr addrspace(1) %table, i64 %legal
  %y.at = getelementptr float, ptr addrspace(1) %y, i64 %i
  %value = load float, ptr addrspace(1) %table.at
  store float %value, ptr addrspace(1) %y.at
  br label %end
end:
  ret void
}

; y[p] = {p, x, y, z} for program p of the grid. The grid's extents are not among the arguments: a packet has them, in work-items.
define protected amdgpu_kernel void @writeCoordinates(ptr addrspace(1) %y, ptr addrspace(1) %error) #0 {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %first = icmp eq i32 %thread, 0
  br i1 %first, label %write, label %end
write:
  %packet = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %block.at = getelementptr i8, ptr addrspace(4) %packet, i64 4
  %block16 = load i16, ptr addrspace(4) %block.at
  %block = zext i16 %block16 to i32
  %threads.at = getelementptr i8, ptr addrspace(4) %packet, i64 12
  %threads = load i32, ptr addrspace(4) %threads.at
  %columns32 = udiv i32 %threads, %block
  %rows.at = getelementptr i8, ptr addrspace(4) %packet, i64 16
  %rows32 = load i32, ptr addrspace(4) %rows.at
  %columns = zext i32 %columns32 to i64
  %rows = zext i32 %rows32 to i64
  %x32 = call i32 @llvm.amdgcn.workgroup.id.x()
  %y32 = call i32 @llvm.amdgcn.workgroup.id.y()
  %z32 = call i32 @llvm.amdgcn.workgroup.id.z()
  %px = zext i32 %x32 to i64
  %py = zext i32 %y32 to i64
  %pz = zext i32 %z32 to i64
  %planes = mul i64 %pz, %rows
  %row = add i64 %planes, %py
  %before = mul i64 %row, %columns
  %p = add i64 %before, %px
  %at0 = getelementptr [4 x i64], ptr addrspace(1) %y, i64 %p
  %at1 = getelementptr i64, ptr addrspace(1) %at0, i64 1
  %at2 = getelementptr i64, ptr addrspace(1) %at0, i64 2
  %at3 = getelementptr i64, ptr addrspace(1) %at0, i64 3
  store i64 %p, ptr addrspace(1) %at0
  store i64 %px, ptr addrspace(1) %at1
  store i64 %py, ptr addrspace(1) %at2
  store i64 %pz, ptr addrspace(1) %at3
  br label %end
end:
  ret void
}

declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()

attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" "amdgpu-no-implicitarg-ptr" "uniform-work-group-size"="true" }
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 400}
