// RUN: transom-opt %s -p 'func.func(cse,dce)' | filecheck %s
// RUN: transom-opt %s --pass-pipeline 'builtin.module(func.func(cse),dce)' | filecheck %s
// RUN: transom-opt %s -p 'func.func(cse)' --print-ir-after-all 2>&1 >/dev/null | filecheck %s --check-prefix=DUMP
// RUN: transom-opt %s --print-debuginfo | filecheck %s --check-prefix=LOC
// RUN: transom-opt %s | transom-opt --print-op-generic | transom-opt -p cse | filecheck %s
// RUN: not transom-opt %s -p 'func.func(cs)' 2>&1 | filecheck %s --check-prefix=ERROR

// CHECK-LABEL:  @twice
// CHECK:          %[[SUM:.*]] = arith.addi
// CHECK-NEXT:     arith.muli %[[SUM]], %[[SUM]]

// DUMP:       // -----// IR Dump After CommonSubexpressionElimination (cse) ('func.func' operation: @twice) //----- //
// DUMP-NEXT:  func.func @twice

// LOC:  func.func @twice(%x: i32 loc({{.*}}:23:18)) -> i32 {
// LOC:    arith.addi {{.*}} loc({{.*}}:24:3)
// LOC:    arith.addi {{.*}} loc("Add_3"("model.onnx":3:1))

// ERROR:       transom-opt: error: unknown pass 'cs'; did you mean 'cse'?
// ERROR-NEXT:    func.func(cs)
// ERROR-NEXT:              ^

func.func @twice(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32 loc("Add_3"("model.onnx":3:1))
  %c = arith.muli %a, %b : i32
  func.return %c : i32
}
