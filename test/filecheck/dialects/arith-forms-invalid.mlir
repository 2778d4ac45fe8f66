// RUN: %diagnose

func.func @shapes(%a: vector<4xi8>) {
  // expected-error @+1 {{expected equal shapes, but got 'vector<4xi8>' and 'vector<8xi32>'}}
  %w = arith.extsi %a : vector<4xi8> to vector<8xi32>
  func.return
}

// -----

func.func @wider(%a: vector<4xi8>) {
  // expected-error @+1 {{expected a wider result, but got 'i8' and 'i8'}}
  %w = arith.extui %a : vector<4xi8> to vector<4xi8>
  func.return
}

// -----

func.func @narrower(%a: i8) {
  // expected-error @+1 {{expected a narrower result, but got 'i8' and 'i16'}}
  %w = arith.trunci %a : i8 to i16
  func.return
}

// -----

func.func @index(%a: vector<4xi8>) {
  // expected-error @+1 {{expected a cast between index and integer, but got 'i8' and 'i16'}}
  %w = arith.index_cast %a : vector<4xi8> to vector<4xi16>
  func.return
}

// -----

func.func @condition(%c: vector<4xi1>, %a: vector<5xi8>) {
  // expected-error @+1 {{expected a condition for each element of 'vector<5xi8>', but got 'vector<4xi1>'}}
  %w = arith.select %c, %a, %a : vector<4xi1>, vector<5xi8>
  func.return
}

// -----

func.func @result(%a: vector<4xi8>) {
  // expected-error @+1 {{expected operands of one type and a result 'vector<4xi1>', but got 'vector<4xi8>', 'vector<4xi8>' and 'i1'}}
  %w = "arith.cmpi"(%a, %a) <{predicate = 0 : i64}> : (vector<4xi8>, vector<4xi8>) -> i1
  func.return
}

// -----

func.func @predicate(%a: i8) {
  // expected-error @+1 {{unknown predicate 'gt'; expected one of eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge}}
  %w = arith.cmpi gt, %a, %a : i8
  func.return
}
