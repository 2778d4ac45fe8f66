// RUN: %diagnose

func.func @broadcast_mismatch(%a: tensor<4x3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expected shapes that broadcast, but dimension 1 of 'lhs' is 3 and dimension 0 of 'rhs' is 4}}
  %y = graph.add %a, %b : tensor<4x3xf32>, tensor<4xf32> -> tensor<4x3xf32>
  func.return
}

// -----

func.func @broadcast_three(%c: tensor<2xi1>, %a: tensor<1xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected shapes that broadcast, but dimension 0 of 'cond' is 2 and dimension 0 of 'on_false' is 3}}
  %y = graph.select %c, %a, %b : tensor<2xi1>, tensor<1xf32>, tensor<3xf32> -> tensor<3xf32>
  func.return
}

// -----

func.func @mixed_elements(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f16'}}
  %y = graph.mul %a, %b : tensor<4xf32>, tensor<4xf16> -> tensor<4xf32>
  func.return
}

// -----

func.func @wrong_size(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected dimension 0 of the result to be 4, but got 'tensor<5xf32>'}}
  %y = graph.add %a, %a : tensor<4xf32>, tensor<4xf32> -> tensor<5xf32>
  func.return
}

// -----

func.func @wrong_rank(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected the result to have rank 1, but got 'tensor<4x1xf32>'}}
  %y = graph.neg %a : tensor<4xf32> -> tensor<4x1xf32>
  func.return
}

// -----

func.func @wrong_element(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected the result to have element type 'f32', but got 'tensor<4xf16>'}}
  %y = graph.neg %a : tensor<4xf32> -> tensor<4xf16>
  func.return
}

// -----

func.func @relu_of_bool(%a: tensor<4xi1>) {
  // expected-error @+1 {{expected the operand to have signed number elements, but got 'i1'}}
  %y = graph.relu %a : tensor<4xi1>
  func.return
}

// -----

func.func @neg_of_unsigned(%a: tensor<4xui8>) {
  // expected-error @+1 {{expected the operand to have signed number elements, but got 'ui8'}}
  %y = graph.neg %a : tensor<4xui8>
  func.return
}

// -----

func.func @exp_of_integer(%a: tensor<4xi32>) {
  // expected-error @+1 {{expected the operand to have floating-point elements, but got 'i32'}}
  %y = graph.exp %a : tensor<4xi32>
  func.return
}

// -----

func.func @add_of_bool(%a: tensor<4xi1>) {
  // expected-error @+1 {{expected 'lhs' to have number elements, but got 'i1'}}
  %y = graph.add %a, %a : tensor<4xi1>
  func.return
}

// -----

func.func @and_of_float(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected 'lhs' to have i1 or integer elements, but got 'f32'}}
  %y = graph.and %a, %a : tensor<4xf32>
  func.return
}

// -----

func.func @unknown_element(%a: tensor<4xi4>) {
  // expected-error @+1 {{expected the operand to have number or i1 elements, but got 'i4'}}
  %y = graph.cast %a : tensor<4xi4> -> tensor<4xi8>
  func.return
}

// -----

func.func @cast_to_unknown(%a: tensor<4xi8>) {
  // expected-error @+1 {{expected the result to have number or i1 elements, but got 'f80'}}
  %y = graph.cast %a : tensor<4xi8> -> tensor<4xf80>
  func.return
}

// -----

func.func @order_of_bool(%a: tensor<4xi1>) {
  // expected-error @+1 {{expected 'eq' or 'ne' for 'i1' elements, but got 'lt'}}
  %y = graph.compare lt %a, %a : tensor<4xi1>
  func.return
}

// -----

func.func @select_on_number(%c: tensor<4xi8>, %a: tensor<4xf32>) {
  // expected-error @+1 {{expected 'cond' to have i1 elements, but got 'i8'}}
  %y = graph.select %c, %a, %a : tensor<4xi8>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @select_of_two_types(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{expected 'on_true' and 'on_false' of one element type, but got 'f32' and 'f16'}}
  %y = graph.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>, tensor<4xf16> -> tensor<4xf32>
  func.return
}

// -----

func.func @clamp_bound(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected 'min' of type 'f32', but got '0 : i32'}}
  %y = graph.clamp %a min 0 : i32 : tensor<4xf32>
  func.return
}

// -----

func.func @layouts_differ(%a: tensor<4xf32, #graph.desc<layout = #graph.layout<block = [4]>>>) {
  // expected-error @+1 {{expected operands and result of one shape to have one layout, but got '#graph.layout<block = [4]>' and 'none'}}
  %y = graph.neg %a : tensor<4xf32, #graph.desc<layout = #graph.layout<block = [4]>>> -> tensor<4xf32>
  func.return
}

// -----

func.func @other_symbol(%a: tensor<?xf32, #graph.desc<dims = ["N" : 1 to 8]>>) {
  // expected-error @+1 {{expected dimension 0 of the result to be N, but got 'tensor<?xf32, #graph.desc<dims = ["M"]>>'}}
  %y = graph.neg %a : tensor<?xf32, #graph.desc<dims = ["N" : 1 to 8]>> -> tensor<?xf32, #graph.desc<dims = ["M"]>>
  func.return
}

// -----

func.func @outside_bounds(%a: tensor<?xf32, #graph.desc<dims = ["N" : 1 to 8]>>) {
  // expected-error @+1 {{expected dimension 0 of the result to be N, but got 'tensor<9xf32>'}}
  %y = graph.neg %a : tensor<?xf32, #graph.desc<dims = ["N" : 1 to 8]>> -> tensor<9xf32>
  func.return
}

// -----

func.func @symbol_count(%a: tensor<?x?xf32, #graph.desc<dims = ["N"]>>) {
  // expected-error @+1 {{expected one entry of 'dims' per '?', but got 1 for 'tensor<?x?xf32, #graph.desc<dims = ["N"]>>'}}
  %y = graph.neg %a : tensor<?x?xf32, #graph.desc<dims = ["N"]>> -> tensor<?x?xf32>
  func.return
}

// -----

func.func @matmul_vectors(%a: tensor<4xf32>, %b: tensor<4x2xf32>) {
  // expected-error @+1 {{expected 'lhs' to have 2 dimensions or more, but got 1}}
  %y = graph.matmul %a, %b : tensor<4xf32>, tensor<4x2xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @matmul_inner(%a: tensor<2x4xf32>, %b: tensor<5x2xf32>) {
  // expected-error @+1 {{expected the last dimension of 'lhs' and the last but one of 'rhs' to be equal, but got 4 and 5}}
  %y = graph.matmul %a, %b : tensor<2x4xf32>, tensor<5x2xf32> -> tensor<2x2xf32>
  func.return
}

// -----

func.func @matmul_batch(%a: tensor<3x2x4xf32>, %b: tensor<2x4x2xf32>) {
  // expected-error @+1 {{expected leading dimensions that broadcast, but dimension 0 of 'lhs' is 3 and dimension 0 of 'rhs' is 2}}
  %y = graph.matmul %a, %b : tensor<3x2x4xf32>, tensor<2x4x2xf32> -> tensor<3x2x2xf32>
  func.return
}

// -----

func.func @matmul_accumulator(%a: tensor<2x4xbf16>) {
  // expected-error @+1 {{expected the result to have 'bf16' or 'f32' elements, but got 'f64'}}
  %y = graph.matmul %a, %a : tensor<2x4xbf16>, tensor<2x4xbf16> -> tensor<2x4xf64>
  func.return
}

// -----

func.func @matmul_mixed(%a: tensor<2x2xf32>, %b: tensor<2x2xf16>) {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f16'}}
  %y = graph.matmul %a, %b : tensor<2x2xf32>, tensor<2x2xf16> -> tensor<2x2xf32>
  func.return
}

// -----

func.func @conv_rank(%x: tensor<3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected 'input' to have 4 dimensions, but got 3}}
  %y = graph.conv2d %x, %w : tensor<3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<4x6x6xf32>
  func.return
}

// -----

func.func @conv_channels(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected 'input' to have 3 channels, which is 3 of 'weight' x 1 groups, but got 6}}
  %y = graph.conv2d %x, %w : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_fill(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xi8>) {
  // expected-error @+1 {{expected 'fill' within -128 to 127, the numbers of 'i8', but got 128}}
  %y = graph.conv2d %x, %w fill 128 : tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x6x6xi32>
  func.return
}

// -----

func.func @conv_groups(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected the 4 output channels of 'weight' to be a multiple of groups 3}}
  %y = graph.conv2d %x, %w groups 3 : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_no_groups(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected groups >= 1, but got 0}}
  %y = graph.conv2d %x, %w groups 0 : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_strides(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected 2 strides, but got 1: [1]}}
  %y = graph.conv2d %x, %w strides [1] groups 2 : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_zero_stride(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected strides >= 1, but got [0, 1]}}
  %y = graph.conv2d %x, %w strides [0, 1] groups 2 : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_padding(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected paddings >= 0, but got [0, 0, -1, 0]}}
  %y = graph.conv2d %x, %w padding [0, 0, -1, 0] groups 2 : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_dilations(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected dilations >= 1, but got [1, 0]}}
  %y = graph.conv2d %x, %w dilations [1, 0] groups 2 : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_kernel(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected the kernel, which spans 11 rows, to fit the padded input of 8}}
  %y = graph.conv2d %x, %w dilations [5, 1] groups 2 : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @conv_empty_kernel(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x0x3xf32>) {
  // expected-error @+1 {{expected a kernel of size 1 or more}}
  %y = graph.conv2d %x, %w : tensor<1x3x8x8xf32>, tensor<4x3x0x3xf32> -> tensor<1x4x8x6xf32>
  func.return
}

// -----

func.func @conv_result(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expected dimension 2 of the result to be 3, but got 'tensor<1x4x6x6xf32>'}}
  %y = graph.conv2d %x, %w strides [2, 1] groups 2 : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @pool_rank(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{expected the operand to have 4 dimensions, but got 2}}
  %y = graph.max_pool2d %x kernel [2, 2] : tensor<8x8xf32> -> tensor<7x7xf32>
  func.return
}

// -----

func.func @pool_kernel(%x: tensor<1x2x8x8xf32>) {
  // expected-error @+1 {{expected 2 kernel sizes, but got 1: [2]}}
  %y = graph.max_pool2d %x kernel [2] : tensor<1x2x8x8xf32> -> tensor<1x2x7x7xf32>
  func.return
}

// -----

func.func @pool_kernel_size(%x: tensor<1x2x8x8xf32>) {
  // expected-error @+1 {{expected kernel sizes >= 1, but got [2, 0]}}
  %y = graph.avg_pool2d %x kernel [2, 0] : tensor<1x2x8x8xf32> -> tensor<1x2x7x7xf32>
  func.return
}

// -----

func.func @pool_padding(%x: tensor<1x2x8x8xf32>) {
  // expected-error @+1 {{expected paddings below the 2 columns of the kernel, but got [0, 2, 0, 0]}}
  %y = graph.max_pool2d %x kernel [2, 2] padding [0, 2, 0, 0] : tensor<1x2x8x8xf32> -> tensor<1x2x7x7xf32>
  func.return
}

// -----

func.func @pool_indices(%x: tensor<1x2x8x8xf32>) {
  // expected-error @+1 {{expected result 1 to have element type 'i64', but got 'tensor<1x2x7x7xi32>'}}
  %y, %i = graph.max_pool2d %x kernel [2, 2] : tensor<1x2x8x8xf32> -> tensor<1x2x7x7xf32>, tensor<1x2x7x7xi32>
  func.return
}

// -----

func.func @avg_pool_of_integers(%x: tensor<1x2x8x8xi32>) {
  // expected-error @+1 {{expected the operand to have floating-point elements, but got 'i32'}}
  %y = graph.avg_pool2d %x kernel [2, 2] : tensor<1x2x8x8xi32> -> tensor<1x2x7x7xi32>
  func.return
}

// -----

func.func @batch_norm_rank(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected 'input' to have 2 dimensions or more, but got 1}}
  %y = graph.batch_norm %x, %x, %x, %x, %x epsilon 0.0 : tensor<8xf32>
  func.return
}

// -----

func.func @batch_norm_channels(%x: tensor<2x8xf32>, %p: tensor<8xf32>, %q: tensor<7xf32>) {
  // expected-error @+1 {{expected 'mean' to have one dimension of the 8 channels of 'input', but got 'tensor<7xf32>'}}
  %y = graph.batch_norm %x, %p, %p, %q, %p epsilon 0.0 : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<7xf32>, tensor<8xf32> -> tensor<2x8xf32>
  func.return
}

// -----

func.func @batch_norm_epsilon(%x: tensor<2x8xf32>, %p: tensor<8xf32>) {
  // expected-error @+1 {{expected epsilon >= 0, but got -1.0}}
  %y = graph.batch_norm %x, %p, %p, %p, %p epsilon -1.0 : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<2x8xf32>
  func.return
}

// -----

func.func @softmax_axis(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected 0 <= axis < 2, but got 2}}
  %y = graph.softmax %x axis 2 : tensor<2x8xf32>
  func.return
}

// -----

func.func @softmax_of_integers(%x: tensor<2x8xi32>) {
  // expected-error @+1 {{expected the operand to have floating-point elements, but got 'i32'}}
  %y = graph.log_softmax %x axis 1 : tensor<2x8xi32>
  func.return
}

// -----

func.func @reduce_axis(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected 0 <= axis < 2, but got -1}}
  %y = graph.reduce sum %x axes [-1] : tensor<2x8xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @reduce_axis_twice(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected each axis once, but got [1, 1]}}
  %y = graph.reduce sum %x axes [1, 1] : tensor<2x8xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @mean_of_integers(%x: tensor<2x8xi32>) {
  // expected-error @+1 {{expected the operand to have floating-point elements, but got 'i32'}}
  %y = graph.reduce mean %x axes [1] : tensor<2x8xi32> -> tensor<2xi32>
  func.return
}

// -----

func.func @reduce_keepdims(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected the result to have rank 2, but got 'tensor<2xf32>'}}
  %y = graph.reduce sum %x axes [1] keepdims : tensor<2x8xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @arg_reduce_nothing(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{expected elements along axis 1, but its size is 0}}
  %y = graph.arg_reduce argmax %x axis 1 : tensor<2x0xf32> -> tensor<2xi64>
  func.return
}

// -----

func.func @reshape_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a shape for the elements of [2, 3], but got [4, 2]}}
  %y = graph.reshape %x to [4, 2] : tensor<2x3xf32> -> tensor<4x2xf32>
  func.return
}

// -----

func.func @reshape_rest(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a shape for the elements of [2, 3], but got [-1, 4]}}
  %y = graph.reshape %x to [-1, 4] : tensor<2x3xf32> -> tensor<?x4xf32>
  func.return
}

// -----

func.func @reshape_rest_of_nothing(%x: tensor<0x3xf32>) {
  // expected-error @+1 {{expected a shape for the elements of [0, 3], but got [-1, 0]}}
  %y = graph.reshape %x to [-1, 0] : tensor<0x3xf32> -> tensor<?x0xf32>
  func.return
}

// -----

func.func @reshape_symbolic(%x: tensor<?x3xf32, #graph.desc<dims = ["N"]>>) {
  // expected-error @+1 {{expected a shape for the elements of [N, 3], but got [dim(0), 4]}}
  %y = graph.reshape %x to [dim(0), 4] : tensor<?x3xf32, #graph.desc<dims = ["N"]>> -> tensor<?x4xf32>
  func.return
}

// -----

func.func @reshape_dim(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 'dim(k)' with k < 2, but got 'dim(2)'}}
  %y = graph.reshape %x to [dim(2), 3] : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

func.func @reshape_two_rests(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected sizes and -1 at most once, but got [-1, -1]}}
  %y = graph.reshape %x to [-1, -1] : tensor<2x3xf32>
  func.return
}

// -----

func.func @transpose_order(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a permutation of [0, 1], but got [1, 1]}}
  %y = graph.transpose %x permutation [1, 1] : tensor<2x3xf32> -> tensor<3x3xf32>
  func.return
}

// -----

func.func @broadcast_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected the result to have 2 dimensions or more, but got 1}}
  %y = graph.broadcast %x : tensor<2x3xf32> -> tensor<3xf32>
  func.return
}

// -----

func.func @broadcast_size(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected dimension 0 of the result to be 2, but got 4}}
  %y = graph.broadcast %x : tensor<2x3xf32> -> tensor<4x3xf32>
  func.return
}

// -----

func.func @broadcast_to_unknown(%x: tensor<3xf32>) {
  // expected-error @+1 {{expected a size for dimension 0 of the result, where the operand has none to repeat}}
  %y = graph.broadcast %x : tensor<3xf32> -> tensor<?x3xf32>
  func.return
}

// -----

func.func @concat_sizes(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error @+1 {{expected dimension 0 of operand 1 to be 2, but got 3}}
  %z = graph.concat %x, %y axis 1 : tensor<2x3xf32>, tensor<3x3xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @concat_types(%x: tensor<2x3xf32>, %y: tensor<2x3xf16>) {
  // expected-error @+1 {{expected operand 1 to have 2 dimensions and element type 'f32', but got 'tensor<2x3xf16>'}}
  %z = graph.concat %x, %y axis 1 : tensor<2x3xf32>, tensor<2x3xf16> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @concat_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 0 <= axis < 2, but got 2}}
  %z = graph.concat %x axis 2 : tensor<2x3xf32>
  func.return
}

// -----

func.func @concat_nothing() {
  // expected-error @+1 {{expected an operand or more}}
  "graph.concat"() <{axis = 0 : i64}> : () -> tensor<2xf32>
  func.return
}

// -----

func.func @pad_negative(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 'low' >= 0, but got [0, -1]}}
  %y = graph.pad %x low [0, -1] high [0, 0] value 0.0 : f32 : tensor<2x3xf32> -> tensor<2x2xf32>
  func.return
}

// -----

func.func @pad_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 2 entries of 'high', but got 1: [0]}}
  %y = graph.pad %x low [0, 0] high [0] value 0.0 : f32 : tensor<2x3xf32>
  func.return
}

// -----

func.func @pad_value(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 'value' of type 'f32', but got '0 : i32'}}
  %y = graph.pad %x low [0, 0] high [0, 0] value 0 : i32 : tensor<2x3xf32>
  func.return
}

// -----

func.func @cumulate_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 0 <= axis < 2, but got 2}}
  %y = graph.cumulate sum %x axis 2 : tensor<2x3xf32>
  func.return
}

// -----

func.func @cumulate_of_bool(%x: tensor<2x3xi1>) {
  // expected-error @+1 {{expected the operand to have number elements, but got 'i1'}}
  %y = graph.cumulate sum %x axis 1 : tensor<2x3xi1>
  func.return
}

// -----

func.func @argsort_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 0 <= axis < 2, but got -1}}
  %y = graph.argsort %x axis -1 : tensor<2x3xf32> -> tensor<2x3xi64>
  func.return
}

// -----

func.func @argsort_first(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 'first' to be from 0 to the static size of axis 1, which is 3, but got 4}}
  %y = graph.argsort %x axis 1 first 4 : tensor<2x3xf32> -> tensor<2x4xi64>
  func.return
}

// -----

func.func @argsort_first_of_open(%x: tensor<2x?xf32>) {
  // expected-error @+1 {{expected 'first' to be from 0 to the static size of axis 1, which is ?, but got 4}}
  %y = graph.argsort %x axis 1 first 4 : tensor<2x?xf32> -> tensor<2x4xi64>
  func.return
}

// -----

func.func @argsort_of_bool(%x: tensor<2x3xi1>) {
  // expected-error @+1 {{expected the operand to have number elements, but got 'i1'}}
  %y = graph.argsort %x axis 1 : tensor<2x3xi1> -> tensor<2x3xi64>
  func.return
}

// -----

func.func @argsort_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected the result to have element type 'i64', but got 'tensor<2x3xi32>'}}
  %y = graph.argsort %x axis 1 : tensor<2x3xf32> -> tensor<2x3xi32>
  func.return
}

// -----

func.func @bitcast_width(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a result of 32 bits, but got 'i64'}}
  %y = graph.bitcast %x : tensor<2x3xf32> -> tensor<2x3xi64>
  func.return
}

// -----

func.func @bitcast_of_bool(%x: tensor<2x3xi1>) {
  // expected-error @+1 {{expected the operand to have number elements, but got 'i1'}}
  %y = graph.bitcast %x : tensor<2x3xi1> -> tensor<2x3xi8>
  func.return
}

// -----

func.func @slice_count(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected 2 starts, but got 1: [0]}}
  %y = graph.slice %x starts [0] sizes [2, 8] steps [1, 1] : tensor<2x8xf32>
  func.return
}

// -----

func.func @slice_outside(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected start 4, size 3 and step 2 to be inside dimension 1 of size 8}}
  %y = graph.slice %x starts [0, 4] sizes [2, 3] steps [1, 2] : tensor<2x8xf32> -> tensor<2x3xf32>
  func.return
}

// -----

func.func @slice_before(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected start 1, size 3 and step -1 to be inside dimension 1 of size 8}}
  %y = graph.slice %x starts [0, 1] sizes [2, 3] steps [1, -1] : tensor<2x8xf32> -> tensor<2x3xf32>
  func.return
}

// -----

func.func @slice_no_step(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected a step for dimension 1, but got 0}}
  %y = graph.slice %x starts [0, 0] sizes [2, 8] steps [1, 0] : tensor<2x8xf32>
  func.return
}

// -----

func.func @slice_backwards(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected a size >= -1 with step -1 for dimension 1, but got -2}}
  %y = graph.slice %x starts [0, 7] sizes [2, -2] steps [1, -1] : tensor<2x8xf32>
  func.return
}

// -----

func.func @gather_indices(%x: tensor<2x8xf32>, %i: tensor<3xf32>) {
  // expected-error @+1 {{expected 'indices' to have i32, i64 or index elements, but got 'f32'}}
  %y = graph.gather %x, %i axis 0 : tensor<2x8xf32>, tensor<3xf32> -> tensor<3x8xf32>
  func.return
}

// -----

func.func @gather_axis(%x: tensor<2x8xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{expected 0 <= axis < 2, but got 2}}
  %y = graph.gather %x, %i axis 2 : tensor<2x8xf32>, tensor<3xi64> -> tensor<2x8x3xf32>
  func.return
}

// -----

func.func @gather_from_nothing(%x: tensor<0x8xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{expected 'data' to have elements along axis 0, but its size is 0}}
  %y = graph.gather %x, %i axis 0 : tensor<0x8xf32>, tensor<3xi64> -> tensor<3x8xf32>
  func.return
}

// -----

func.func @scatter_rank(%x: tensor<2x8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) {
  // expected-error @+1 {{expected 'indices' to have the 2 dimensions of 'data', but got 1}}
  %y = graph.scatter none %x, %i, %u axis 0 : tensor<2x8xf32>, tensor<3xi64>, tensor<3xf32> -> tensor<2x8xf32>
  func.return
}

// -----

func.func @scatter_updates(%x: tensor<2x8xf32>, %i: tensor<1x3xi64>, %u: tensor<1x4xf32>) {
  // expected-error @+1 {{expected 'updates' to have the shape of 'indices' and element type 'f32', but got 'tensor<1x4xf32>'}}
  %y = graph.scatter none %x, %i, %u axis 0 : tensor<2x8xf32>, tensor<1x3xi64>, tensor<1x4xf32> -> tensor<2x8xf32>
  func.return
}

// -----

func.func @scatter_size(%x: tensor<2x8xf32>, %i: tensor<1x9xi64>, %u: tensor<1x9xf32>) {
  // expected-error @+1 {{expected dimension 1 of 'indices' to be at most 8, but got 9}}
  %y = graph.scatter none %x, %i, %u axis 0 : tensor<2x8xf32>, tensor<1x9xi64>, tensor<1x9xf32> -> tensor<2x8xf32>
  func.return
}

// -----

func.func @scatter_into_nothing(%x: tensor<0xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) {
  // expected-error @+1 {{expected 'data' to have elements along axis 0, but its size is 0}}
  %y = graph.scatter none %x, %i, %u axis 0 : tensor<0xf32>, tensor<1xi64>, tensor<1xf32> -> tensor<0xf32>
  func.return
}

// -----

func.func @scatter_add_bool(%x: tensor<8xi1>, %i: tensor<3xi64>, %u: tensor<3xi1>) {
  // expected-error @+1 {{expected 'data' to have number elements, but got 'i1'}}
  %y = graph.scatter add %x, %i, %u axis 0 : tensor<8xi1>, tensor<3xi64>, tensor<3xi1> -> tensor<8xi1>
  func.return
}

// -----

func.func @symbol_count_of_equal_types(%a: tensor<?x?xf32, #graph.desc<dims = ["N"]>>) {
  // expected-error @+1 {{expected one entry of 'dims' per '?', but got 1 for 'tensor<?x?xf32, #graph.desc<dims = ["N"]>>'}}
  %y = graph.neg %a : tensor<?x?xf32, #graph.desc<dims = ["N"]>>
  func.return
}

// -----

func.func @symbol_count_of_sum(%a: tensor<4xf32, #graph.desc<dims = ["N"]>>) {
  // expected-error @+1 {{expected one entry of 'dims' per '?', but got 1 for 'tensor<4xf32, #graph.desc<dims = ["N"]>>'}}
  %y = graph.add %a, %a : tensor<4xf32, #graph.desc<dims = ["N"]>>
  func.return
}

// -----

// As many dimensions as the data has.
func.func @gather_elements_rank(%x: tensor<2x8xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{expected 'indices' to have the 2 dimensions of 'data', but got 1}}
  %y = graph.gather_elements %x, %i axis 0 : tensor<2x8xf32>, tensor<3xi64> -> tensor<3xf32>
  func.return
}

// -----

// Within the data along the other dimensions.
func.func @gather_elements_extent(%x: tensor<2x8xf32>, %i: tensor<3x9xi64>) {
  // expected-error @+1 {{expected 'indices' of at most 8 along dimension 1, but got 9}}
  %y = graph.gather_elements %x, %i axis 0 : tensor<2x8xf32>, tensor<3x9xi64> -> tensor<3x9xf32>
  func.return
}

// -----

// There is something to pick.
func.func @gather_elements_nothing(%x: tensor<0x8xf32>, %i: tensor<3x8xi64>) {
  // expected-error @+1 {{expected 'data' to have elements along axis 0, but its size is 0}}
  %y = graph.gather_elements %x, %i axis 0 : tensor<0x8xf32>, tensor<3x8xi64> -> tensor<3x8xf32>
  func.return
}

// -----

// The axis is one of the tensor.
func.func @iota_axis(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected 0 <= axis < 2, but got 2}}
  %y = graph.iota %x axis 2 : tensor<2x8xf32> -> tensor<2x8xi64>
  func.return
}

// -----

// A scalar has no places.
func.func @nonzero_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{expected the operand to have 1 dimension or more, but got 'tensor<f32>'}}
  %y = graph.nonzero %x : tensor<f32> -> tensor<0x?xi64>
  func.return
}

// -----

// A row per dimension.
func.func @nonzero_rows(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{expected dimension 0 of the result to be 2, but got 'tensor<1x?xi64>'}}
  %y = graph.nonzero %x : tensor<2x8xf32> -> tensor<1x?xi64>
  func.return
}

// -----

// Only integers are shifted.
func.func @shift_of_floats(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected 'lhs' to have integer elements, but got 'f32'}}
  %y = graph.shift_left %x, %x : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  func.return
}

// -----

// A group sees its arguments alone.
func.func @value_from_outside(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected ops in 'graph.region' to use values of its own, but got one from outside; pass it as an argument}}
  %y = graph.region #target.place<@npu, ?, ?> () -> (tensor<4xf32>) {
    %r = graph.relu %x : tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  }
  func.return
}
