// RUN: transom-opt %s | transom-filecheck %s --enable-var-scope --implicit-check-not=@h
// RUN: transom-opt %s | not transom-filecheck %s --check-prefix=WRONG 2>&1 | filecheck %s --check-prefix=ERROR

// CHECK:     @f(tensor<[[#N:]]xf32>)
// CHECK-NEXT: @g(tensor<[[#N+1]]xf32>)
func.func private @f(tensor<4xf32>)
func.func private @g(tensor<5xf32>)

// WRONG: func.func private @g(tensor<4xf32>)
// ERROR:      transom-filecheck.mlir:[[#@LINE-1]]:11: error: WRONG: expected string not found in input
// ERROR:      <stdin>:2:2: note: possible intended match here
// ERROR-NEXT: func.func private @f(tensor<4xf32>)
