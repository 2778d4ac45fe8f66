// RUN: %roundtrip | filecheck %s

// CHECK: target.device @cpu {targets = [#woofles.target<lanes = 8>]}
target.device @cpu {targets = [#woofles.target<lanes = 8>]}
