// RUN: transom-reduce %s --pipeline convert-to-llvm --fails -q | filecheck %s
// RUN: transom-reduce %s --check 'transom-opt %%s' --expect-stdout 'arith.subi' -q | filecheck %s --check-prefix=SUB

// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @main(%[[X:.*]]: i32) {
// CHECK-NEXT:     %{{.*}} = math.ipowi %[[X]], %[[X]] : i32
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }
// CHECK-NEXT: }

// SUB:        func.func @main(%[[X:.*]]: i32) {
// SUB-NEXT:     %{{.*}} = arith.subi %[[X]], %[[X]] : i32
// SUB-NEXT:     func.return

func.func @main(%x: i32, %y: i32) -> (i32, i32) {
  %a = arith.addi %x, %y : i32
  %b = arith.muli %a, %x : i32
  %c = math.ipowi %b, %a {hint = "b"} : i32
  %d = arith.subi %c, %x : i32
  func.return %c, %d : i32, i32
}
