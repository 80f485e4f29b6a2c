// SPDX-License-Identifier: Apache-2.0
// The test kernels for NVIDIA GPUs, written by hand. (A test of CMake's assembles them where ptxas is installed.)
#include "tests/runtime/TestKernels.h"

namespace tilewright::runtime {

static const std::string_view ptx = R"(.version 7.0
.target sm_80
.address_size 64

.visible .entry addBias(.param .u64 x, .param .u64 bias, .param .u64 y, .param .u64 columns, .param .u64 error) {
  .reg .pred %done;
  .reg .b32 %r<3>;
  .reg .f32 %f<3>;
  .reg .b64 %x, %bias, %y, %columns, %row, %column, %threads, %at, %address;
  ld.param.u64 %x, [x];
  ld.param.u64 %bias, [bias];
  ld.param.u64 %y, [y];
  ld.param.u64 %columns, [columns];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  cvt.u64.u32 %row, %r0;
  cvt.u64.u32 %column, %r1;
  cvt.u64.u32 %threads, %r2;
next:
  setp.ge.s64 %done, %column, %columns;
  @%done bra end;
  shl.b64 %at, %column, 2;
  add.s64 %address, %bias, %at;
  ld.global.f32 %f0, [%address];
  mad.lo.s64 %at, %row, %columns, %column;
  shl.b64 %at, %at, 2;
  add.s64 %address, %x, %at;
  ld.global.f32 %f1, [%address];
  add.rn.f32 %f2, %f0, %f1;
  add.s64 %address, %y, %at;
  st.global.f32 [%address], %f2;
  add.s64 %column, %column, %threads;
  bra next;
end:
  ret;
}

.visible .entry gatherChecked(.param .u64 table, .param .u64 index, .param .u64 y, .param .u64 length, .param .u64 sentence,
                              .param .u64 error) {
  .reg .pred %other, %bad;
  .reg .b32 %r<2>;
  .reg .f32 %f0;
  .reg .b64 %table, %index, %y, %length, %sentence, %error, %i, %at, %address;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %other, %r1, 0;
  @%other bra end;
  ld.param.u64 %table, [table];
  ld.param.u64 %index, [index];
  ld.param.u64 %y, [y];
  ld.param.u64 %length, [length];
  ld.param.u64 %sentence, [sentence];
  ld.param.u64 %error, [error];
  mov.u32 %r0, %ctaid.x;
  cvt.u64.u32 %i, %r0;
  shl.b64 %at, %i, 3;
  add.s64 %address, %index, %at;
  ld.global.u64 %at, [%address];
  setp.ge.u64 %bad, %at, %length;
  @!%bad bra good;
  or.b64 %sentence, %sentence, 4294967296;
  st.global.u64 [%error], %sentence;
  mov.u64 %at, 0;
good:
  shl.b64 %at, %at, 2;
  add.s64 %address, %table, %at;
  ld.global.f32 %f0, [%address];
  shl.b64 %i, %i, 2;
  add.s64 %address, %y, %i;
  st.global.f32 [%address], %f0;
end:
  ret;
}

.visible .entry writeCoordinates(.param .u64 y, .param .u64 error) {
  .reg .pred %other;
  .reg .b32 %r<6>;
  .reg .b64 %y, %nx, %ny, %cx, %cy, %cz, %p;
  mov.u32 %r5, %tid.x;
  setp.ne.u32 %other, %r5, 0;
  @%other bra end;
  ld.param.u64 %y, [y];
  mov.u32 %r0, %nctaid.x;
  mov.u32 %r1, %nctaid.y;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ctaid.y;
  mov.u32 %r4, %ctaid.z;
  cvt.u64.u32 %nx, %r0;
  cvt.u64.u32 %ny, %r1;
  cvt.u64.u32 %cx, %r2;
  cvt.u64.u32 %cy, %r3;
  cvt.u64.u32 %cz, %r4;
  mad.lo.s64 %p, %cz, %ny, %cy;
  mad.lo.s64 %p, %p, %nx, %cx;
  shl.b64 %ny, %p, 5;
  add.s64 %y, %y, %ny;
  st.global.u64 [%y], %p;
  st.global.u64 [%y+8], %cx;
  st.global.u64 [%y+16], %cy;
  st.global.u64 [%y+24], %cz;
end:
  ret;
}
)";

CodeObject testKernelsPtx() {
  CodeObject code;
  code.kind = CodeKind::Ptx;
  code.target = "sm_80";
  code.bytes = std::as_bytes(std::span(ptx));
  return code;
}

} // namespace tilewright::runtime
