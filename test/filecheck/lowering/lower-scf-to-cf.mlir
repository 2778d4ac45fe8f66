// RUN: transom-opt -p lower-scf-to-cf %s | filecheck %s
// RUN: transom-opt -p lower-scf-to-cf --print-debuginfo %s | filecheck %s --check-prefix=LOC

// A loop tests at its end, and once before it.
// CHECK-LABEL: @loop
// CHECK-SAME:    (%[[LB:.*]]: index, %[[UB:.*]]: index, %[[STEP:.*]]: index)
func.func @loop(%lb: index, %ub: index, %step: index) {
  // CHECK-NEXT:    %[[ENTER:.*]] = arith.cmpi slt, %[[LB]], %[[UB]]
  // CHECK-NEXT:    cf.cond_br %[[ENTER]], ^[[BODY:bb.*]](%[[LB]] : index), ^[[EXIT:bb.*]]
  // CHECK-NEXT:  ^[[BODY]](%[[I:.*]]: index):
  // CHECK-NEXT:    "test.op"(%[[I]])
  // CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[I]], %[[STEP]] overflow<nsw>
  // CHECK-NEXT:    %[[AGAIN:.*]] = arith.cmpi slt, %[[NEXT]], %[[UB]]
  // CHECK-NEXT:    cf.cond_br %[[AGAIN]], ^[[BODY]](%[[NEXT]] : index), ^[[EXIT]]
  // CHECK-NEXT:  ^[[EXIT]]:
  // CHECK-NEXT:    func.return
  scf.for %i = %lb to %ub step %step {
    "test.op"(%i) : (index) -> ()
  }
  func.return
}

// What a loop carries goes to the block after it, from both tests.
// CHECK-LABEL: @carried
// CHECK-SAME:    (%{{.*}}: index, %[[INIT:.*]]: f32)
func.func @carried(%ub: index, %init: f32) -> f32 {
  // CHECK:         cf.cond_br %{{.*}}, ^[[BODY:bb.*]](%{{.*}}, %[[INIT]] : index, f32), ^[[EXIT:bb.*]](%[[INIT]] : f32)
  // CHECK-NEXT:  ^[[BODY]](%{{.*}}: index, %[[OLD:.*]]: f32):
  // CHECK-NEXT:    %[[NEW:.*]] = arith.addf %[[OLD]], %[[OLD]]
  // CHECK:         cf.cond_br %{{.*}}, ^[[BODY]](%{{.*}}, %[[NEW]] : index, f32), ^[[EXIT]](%[[NEW]] : f32)
  // CHECK-NEXT:  ^[[EXIT]](%[[SUM:.*]]: f32):
  // CHECK-NEXT:    func.return %[[SUM]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %ub step %c1 iter_args(%a = %init) -> (f32) {
    %b = arith.addf %a, %a : f32
    scf.yield %b : f32
  }
  func.return %sum : f32
}

// A loop that runs at least once has no test before it.
// CHECK-LABEL: @static
func.func @static() {
  // CHECK:         cf.br ^[[BODY:bb.*]](%{{.*}} : index)
  // CHECK-NEXT:  ^[[BODY]](
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    "test.op"(%i) : (index) -> ()
  }
  func.return
}

// Behind it, what it carries is known as its last turn has it.
// CHECK-LABEL: @static_carried
// CHECK-SAME:    (%[[A:.*]]: f32, %[[B:.*]]: f32)
func.func @static_carried(%a: f32, %b: f32) -> (f32, f32) {
  // CHECK:         cf.br ^[[BODY:bb.*]](%{{.*}}, %[[A]], %[[B]] : index, f32, f32)
  // CHECK-NEXT:  ^[[BODY]](%{{.*}}: index, %[[X:.*]]: f32, %[[Y:.*]]: f32):
  // CHECK:         cf.cond_br %{{.*}}, ^[[BODY]](%{{.*}}, %[[Y]], %[[X]] : index, f32, f32), ^[[EXIT:bb.*]]
  // CHECK-NEXT:  ^[[EXIT]]:
  // CHECK-NEXT:    func.return %[[Y]], %[[X]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %p, %q = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a, %y = %b) -> (f32, f32) {
    scf.yield %y, %x : f32, f32
  }
  func.return %p, %q : f32, f32
}

// An `i32` may wrap around.
// CHECK-LABEL: @narrow
func.func @narrow(%lb: i32, %ub: i32, %step: i32) {
  // CHECK:         arith.addi %{{.*}}, %{{.*}} : i32
  scf.for %i = %lb to %ub step %step : i32 {
    "test.op"(%i) : (i32) -> ()
  }
  func.return
}

// CHECK-LABEL: @choice
// CHECK-SAME:    (%[[C:.*]]: i1, %[[A:.*]]: i32)
func.func @choice(%c: i1, %a: i32) -> i32 {
  // CHECK-NEXT:    cf.cond_br %[[C]], ^[[THEN:bb.*]], ^[[ELSE:bb.*]]
  // CHECK-NEXT:  ^[[THEN]]:
  // CHECK-NEXT:    %[[B:.*]] = arith.addi %[[A]], %[[A]]
  // CHECK-NEXT:    cf.br ^[[JOIN:bb.*]](%[[B]] : i32)
  // CHECK-NEXT:  ^[[ELSE]]:
  // CHECK-NEXT:    cf.br ^[[JOIN]](%[[A]] : i32)
  // CHECK-NEXT:  ^[[JOIN]](%[[R:.*]]: i32):
  // CHECK-NEXT:    func.return %[[R]]
  %r = scf.if %c -> (i32) {
    %b = arith.addi %a, %a : i32
    scf.yield %b : i32
  } else {
    scf.yield %a : i32
  }
  func.return %r : i32
}

// Without an else the branch skips what is in the braces.
// CHECK-LABEL: @skip
func.func @skip(%c: i1) {
  // CHECK-NEXT:    cf.cond_br %{{.*}}, ^[[THEN:bb.*]], ^[[JOIN:bb.*]]
  // CHECK-NEXT:  ^[[THEN]]:
  // CHECK-NEXT:    "test.op"()
  // CHECK-NEXT:    cf.br ^[[JOIN]]
  // CHECK-NEXT:  ^[[JOIN]]:
  scf.if %c {
    "test.op"() : () -> ()
  }
  func.return
}

// The condition of a while stands once, and its block is entered from two sides.
// CHECK-LABEL: @while
// CHECK-SAME:    (%[[A:.*]]: i32)
func.func @while(%a: i32) -> i32 {
  // CHECK-NEXT:    cf.br ^[[BEFORE:bb.*]](%[[A]] : i32)
  // CHECK-NEXT:  ^[[BEFORE]](%[[X:.*]]: i32):
  // CHECK-NEXT:    %[[C:.*]], %[[Y:.*]] = "test.op"(%[[X]])
  // CHECK-NEXT:    cf.cond_br %[[C]], ^[[AFTER:bb.*]], ^[[EXIT:bb.*]]
  // CHECK-NEXT:  ^[[AFTER]]:
  // CHECK-NEXT:    %[[Z:.*]] = arith.addi %[[Y]], %[[Y]]
  // CHECK-NEXT:    cf.br ^[[BEFORE]](%[[Z]] : i32)
  // CHECK-NEXT:  ^[[EXIT]]:
  // CHECK-NEXT:    func.return %[[Y]]
  %r = scf.while (%x = %a) : (i32) -> i32 {
    %c, %y = "test.op"(%x) : (i32) -> (i1, i32)
    scf.condition(%c) %y : i32
  } do {
  ^bb0(%y: i32):
    %z = arith.addi %y, %y : i32
    scf.yield %z : i32
  }
  func.return %r : i32
}

// CHECK-LABEL: @switch
// CHECK-SAME:    (%[[I:.*]]: index)
func.func @switch(%i: index) -> i32 {
  // CHECK-NEXT:    cf.switch %[[I]] : index, [
  // CHECK-NEXT:      default: ^[[DEFAULT:bb.*]],
  // CHECK-NEXT:      7: ^[[SEVEN:bb.*]]
  // CHECK-NEXT:    ]
  // CHECK-NEXT:  ^[[DEFAULT]]:
  // CHECK-NEXT:    %[[D:.*]] = "test.op"()
  // CHECK-NEXT:    cf.br ^[[JOIN:bb.*]](%[[D]] : i32)
  // CHECK-NEXT:  ^[[SEVEN]]:
  // CHECK-NEXT:    %[[S:.*]] = "test.op"()
  // CHECK-NEXT:    cf.br ^[[JOIN]](%[[S]] : i32)
  // CHECK-NEXT:  ^[[JOIN]](%[[R:.*]]: i32):
  // CHECK-NEXT:    func.return %[[R]]
  %r = scf.index_switch %i -> i32
  case 7 {
    %a = "test.op"() : () -> i32
    scf.yield %a : i32
  }
  default {
    %b = "test.op"() : () -> i32
    scf.yield %b : i32
  }
  func.return %r : i32
}

// The blocks of a region stand between those before and after it.
// CHECK-LABEL: @region
func.func @region(%c: i1) -> i32 {
  // CHECK-NEXT:    cf.br ^[[ENTRY:bb.*]]
  // CHECK-NEXT:  ^[[ENTRY]]:
  // CHECK-NEXT:    cf.cond_br %{{.*}}, ^a, ^b
  // CHECK-NEXT:  ^a:
  // CHECK-NEXT:    %[[X:.*]] = "test.op"()
  // CHECK-NEXT:    cf.br ^[[JOIN:bb.*]](%[[X]] : i32)
  // CHECK-NEXT:  ^b:
  // CHECK-NEXT:    %[[Y:.*]] = "test.op"()
  // CHECK-NEXT:    cf.br ^[[JOIN]](%[[Y]] : i32)
  // CHECK-NEXT:  ^[[JOIN]](%[[R:.*]]: i32):
  // CHECK-NEXT:    func.return %[[R]]
  %r = scf.execute_region -> (i32) {
    cf.cond_br %c, ^a, ^b
  ^a:
    %x = "test.op"() : () -> i32
    scf.yield %x : i32
  ^b:
    %y = "test.op"() : () -> i32
    scf.yield %y : i32
  }
  func.return %r : i32
}

// What ends elsewhere ends there still.
// CHECK-LABEL: @abandoned
func.func @abandoned(%c: i1) {
  // CHECK:       ^a:
  // CHECK-NEXT:    ub.unreachable
  // CHECK-NEXT:  ^b:
  // CHECK-NEXT:    cf.br ^{{.*}}
  scf.execute_region {
    cf.cond_br %c, ^a, ^b
  ^a:
    ub.unreachable
  ^b:
    scf.yield
  }
  func.return
}

// Parallel loops run one after the other, the last innermost.
// CHECK-LABEL: @parallel
func.func @parallel(%n: index, %m: index, %init: f32) -> f32 {
  // CHECK-NOT:     scf.
  // CHECK:       ^{{bb.*}}(%[[I:.*]]: index, %{{.*}}: f32):
  // CHECK:       ^{{bb.*}}(%[[J:.*]]: index, %[[OLD:.*]]: f32):
  // CHECK-NEXT:    %[[V:.*]] = "test.op"(%[[I]], %[[J]])
  // CHECK-NEXT:    %[[NEW:.*]] = arith.addf %[[OLD]], %[[V]]
  // CHECK:         cf.cond_br %{{.*}}, ^{{bb.*}}(%{{.*}}, %[[NEW]] : index, f32), ^{{bb.*}}(%[[NEW]] : f32)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "scf.parallel"(%c0, %c0, %n, %m, %c1, %c1, %init)
      <{operandSegmentSizes = array<i32: 2, 2, 2, 1>}> ({
  ^bb0(%i: index, %j: index):
    %v = "test.op"(%i, %j) : (index, index) -> f32
    scf.reduce(%v : f32) {
    ^bb1(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      scf.reduce.return %t : f32
    }
  }) : (index, index, index, index, index, index, f32) -> f32
  func.return %s : f32
}

// The branches are where the loop was.
// LOC-LABEL: @where
func.func @where(%c: i1) {
  // LOC:         cf.cond_br {{.*}} loc("m.onnx":3:1)
  // LOC:         "test.op"() : () -> () loc("m.onnx":4:1)
  // LOC:         cf.br {{.*}} loc("m.onnx":3:1)
  scf.if %c {
    "test.op"() : () -> () loc("m.onnx":4:1)
  } loc("m.onnx":3:1)
  func.return
}

// The branch that decides carries the attributes of what it stands for.
// CHECK-LABEL: @attributes
func.func @attributes(%c: i1, %n: index) {
  // CHECK:       cf.cond_br {{.*}} {test.if}
  scf.if %c {
    "test.op"() : () -> ()
  } {test.if}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK:       arith.cmpi slt, %{{.*}}, %n
  // CHECK-NEXT:  cf.cond_br %{{.*}}, ^{{bb.*}}(%{{.*}} : index), ^{{bb[0-9]+$}}
  // CHECK:       cf.cond_br {{.*}} {test.for}
  scf.for %i = %c0 to %n step %c1 {
    "test.op"() : () -> ()
  } {test.for}
  // CHECK:       cf.cond_br {{.*}} {test.while}
  scf.while () : () -> () {
    %again = "test.op"() : () -> i1
    scf.condition(%again)
  } do {
    scf.yield
  } attributes {test.while}
  // CHECK:       cf.switch {{.*}} [
  // CHECK:       ] {test.switch}
  scf.index_switch %n {test.switch}
  case 0 {
    "test.op"() : () -> ()
    scf.yield
  }
  default {
    scf.yield
  }
  // CHECK:       cf.br ^{{bb[0-9]+}} {test.region}
  "scf.execute_region"() ({
    scf.yield
  }) {test.region} : () -> ()
  func.return
}
