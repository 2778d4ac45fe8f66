// RUN: transom-opt --print-debuginfo %s | filecheck %s
// RUN: %roundtrip

// The location of a loop stands at its end.
// CHECK-LABEL: func.func @while
func.func @while(%c: i1, %x: f32) -> f32 {
  // CHECK:      %y = scf.while (%a = %x) : (f32) -> f32 {
  // CHECK-NEXT:   scf.condition
  // CHECK-NEXT: } do {
  // CHECK:      } attributes {test.a} loc("m.onnx":3:1)
  %y = scf.while (%a = %x) : (f32) -> f32 {
    scf.condition(%c) %a : f32
  } do {
  ^bb0(%b: f32):
    scf.yield %b : f32
  } attributes {test.a} loc("m.onnx":3:1)
  func.return %y : f32
}
