// RUN: transom-opt -t llvm-ir %s | filecheck %s

// CHECK:      target triple = "x86_64-unknown-linux-gnu"
builtin.module attributes {llvm.target_triple = "x86_64-unknown-linux-gnu"} {

// CHECK:      %dims = type { i32, i32 }

// CHECK:      @text = private unnamed_addr constant [3 x i8] c"hi\0A", align 16
llvm.mlir.global private unnamed_addr constant @text("hi\n") {alignment = 16 : i64} : !llvm.array<3 x i8>

// CHECK-NEXT: @numbers = internal constant [2 x <2 x float>] [<2 x float> <float 0x3FF0000000000000, float 0x3FB99999A0000000>, <2 x float> <float 0xBFF0000000000000, float 0x0000000000000000>]
llvm.mlir.global internal constant @numbers(dense<[[1.0, 0.1], [-1.0, 0.0]]> : tensor<2x2xf32>) : !llvm.array<2 x vector<2xf32>>

// CHECK-NEXT: @w = external constant [6 x float]
graph.weight @w = dense<1.0> : tensor<2x3xf32>

// CHECK:      declare extern_weak i32 @GOMP_parallel(ptr, ptr nonnull, ...)
llvm.func extern_weak @GOMP_parallel(!llvm.ptr, !llvm.ptr {llvm.nonnull}, ...) -> i32

// CHECK:      declare void @takes(%dims)
llvm.func @takes(!llvm.struct<"dims", (i32, i32)>)

// Block arguments are phis, constants stand where they are used.
// CHECK:      define internal float @sum(ptr noalias align 64 %0, i64 %1) "target-cpu"="znver4" noinline {
// CHECK-NEXT: bb0:
// CHECK-NEXT:   br label %bb1
// CHECK-NEXT: bb1:
// CHECK-NEXT:   %2 = phi i64 [ 0, %bb0 ], [ %7, %bb1 ]
// CHECK-NEXT:   %3 = phi <4 x float> [ splat (float 0x3FF0000000000000), %bb0 ], [ %6, %bb1 ]
// CHECK-NEXT:   %4 = getelementptr inbounds [4 x float], ptr %0, i64 %2, i32 0
// CHECK-NEXT:   %5 = load <4 x float>, ptr %4, align 4, !invariant.load !0
// CHECK-NEXT:   %6 = fadd nnan contract <4 x float> %3, %5
// CHECK-NEXT:   %7 = add nuw nsw i64 %2, 1
// CHECK-NEXT:   %8 = icmp slt i64 %7, %1
// CHECK-NEXT:   br i1 %8, label %bb1, label %bb2
// CHECK-NEXT: bb2:
// CHECK-NEXT:   %9 = phi <4 x float> [ %6, %bb1 ]
// CHECK-NEXT:   %10 = call reassoc float @llvm.vector.reduce.fadd.v4f32(float 0x8000000000000000, <4 x float> %9)
// CHECK-NEXT:   ret float %10
// CHECK-NEXT: }
llvm.func internal @sum(%p: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64, graph.name = "x"}, %n: i64) -> f32 attributes {no_inline, target_cpu = "znver4", test.dropped} {
  %zero = llvm.mlir.constant(0) : i64
  %one = llvm.mlir.constant(1) : i64
  %ones = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
  %start = llvm.mlir.constant(-0.0 : f32) : f32
  llvm.br ^loop(%zero, %ones : i64, vector<4xf32>)
^loop(%i: i64, %s: vector<4xf32>):
  %a = llvm.getelementptr inbounds %p[%i, 0] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
  %v = llvm.load %a invariant {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
  %t = llvm.fadd %s, %v {fastmathFlags = #llvm.fastmath<nnan,contract>} : vector<4xf32>
  %j = llvm.add %i, %one overflow<nsw, nuw> : i64
  %c = llvm.icmp "slt" %j, %n : i64
  llvm.cond_br %c, ^loop(%j, %t : i64, vector<4xf32>), ^exit(%t : vector<4xf32>)
^exit(%r: vector<4xf32>):
  %f = llvm.intr.vector.reduce.fadd(%start, %r) {fastmathFlags = #llvm.fastmath<reassoc>} : (f32, vector<4xf32>) -> f32
  llvm.return %f : f32
}

// A second edge between two blocks goes through a block of its own.
// CHECK:      define i32 @edges(i32 %0, i32 %1, i32 %2) {
// CHECK-NEXT: bb0:
// CHECK-NEXT:   switch i32 %0, label %bb1 [
// CHECK-NEXT:     i32 7, label %bb0.1
// CHECK-NEXT:   ]
// CHECK-NEXT: bb1:
// CHECK-NEXT:   %3 = phi i32 [ %1, %bb0 ], [ %2, %bb0.1 ]
// CHECK-NEXT:   ret i32 %3
// CHECK-NEXT: bb0.1:
// CHECK-NEXT:   br label %bb1
// CHECK-NEXT: }
llvm.func @edges(%x: i32, %a: i32, %b: i32) -> i32 {
  llvm.switch %x : i32, ^join(%a : i32) [
    7: ^join(%b : i32)
  ]
^join(%r: i32):
  llvm.return %r : i32
}

// CHECK:      declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)
// CHECK:      !0 = !{}
}
