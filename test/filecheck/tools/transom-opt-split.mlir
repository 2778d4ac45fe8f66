// RUN: not transom-opt %s --split-input-file 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix=ERROR < %t

// A bad section does not stop later ones, and its lines are those of the file.

// CHECK-LABEL:  @first
// CHECK-NOT:    @second
// CHECK:        // -----
// CHECK-LABEL:  @third
// ERROR:        transom-opt-split.mlir:18:20: error: expected an argument, such as '%x: i32', or a type, but got '{'
// ERROR-NEXT:     func.func @second( {
// ERROR-NEXT:                        ^

func.func private @first()

// -----

func.func @second( {
}

// -----

func.func private @third()
