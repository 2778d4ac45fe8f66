// RUN: transom-run %s -q --input '1x3x8x8xf32=1' --input '3xi64=2,0,7' --expected '3x8xf32=1' --expected '4x4xf32=3.875,3.875,3.875,3.875,2.875,2.875,2.875,2.875,3.625,3.625,3.625,3.625,3.375,3.375,3.375,3.375'
// RUN: transom-run %s -q --interpret --input '1x3x8x8xf32=1' --input '3xi64=2,0,7' --expected '3x8xf32=1' --expected '4x4xf32=3.875,3.875,3.875,3.875,2.875,2.875,2.875,2.875,3.625,3.625,3.625,3.625,3.375,3.375,3.375,3.375'
// RUN: transom-opt %s --print-op-generic --to=tensor | transom-run - -q --input '1x3x8x8xf32=1' --input '3xi64=2,0,7' --expected '3x8xf32=1' --expected '4x4xf32=3.875,3.875,3.875,3.875,2.875,2.875,2.875,2.875,3.625,3.625,3.625,3.625,3.375,3.375,3.375,3.375'

// A file as 'mlir-opt' prints it: a padded convolution with bias and relu, a pool, views,
// and a gather of rows.

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<3xi64>) -> (tensor<3x8xf32>, tensor<4x4xf32>) {
    %cst = arith.constant dense<1.250000e-01> : tensor<4x3x3x3xf32>
    %cst_0 = arith.constant dense<[5.000000e-01, -5.000000e-01, 2.500000e-01, 0.000000e+00]> : tensor<4xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %cst_2 = arith.constant 0xFF800000 : f32
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
      tensor.yield %cst_1 : f32
    } : tensor<1x3x8x8xf32> to tensor<1x3x10x10xf32>
    %0 = tensor.empty() : tensor<1x4x8x8xf32>
    %1 = linalg.fill ins(%cst_1 : f32) outs(%0 : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %cst : tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) outs(%1 : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %cst_0 : tensor<1x4x8x8xf32>, tensor<4xf32>) outs(%0 : tensor<1x4x8x8xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %10 = arith.addf %in, %in_4 : f32
      %11 = arith.maximumf %10, %cst_1 : f32
      linalg.yield %11 : f32
    } -> tensor<1x4x8x8xf32>
    %4 = tensor.empty() : tensor<2x2xf32>
    %5 = tensor.empty() : tensor<1x4x4x4xf32>
    %6 = linalg.fill ins(%cst_2 : f32) outs(%5 : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
    %7 = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%3, %4 : tensor<1x4x8x8xf32>, tensor<2x2xf32>) outs(%6 : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
    %collapsed = tensor.collapse_shape %7 [[0], [1, 2, 3]] : tensor<1x4x4x4xf32> into tensor<1x64xf32>
    %extracted_slice = tensor.extract_slice %arg0[0, 1, 0, 0] [1, 1, 8, 8] [1, 1, 1, 1] : tensor<1x3x8x8xf32> to tensor<8x8xf32>
    %8 = tensor.empty() : tensor<3x8xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<3xi64>) outs(%8 : tensor<3x8xf32>) {
    ^bb0(%in: i64, %out: f32):
      %10 = arith.index_cast %in : i64 to index
      %11 = linalg.index 1 : index
      %extracted = tensor.extract %extracted_slice[%10, %11] : tensor<8x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<3x8xf32>
    %expanded = tensor.expand_shape %collapsed [[0], [1, 2, 3]] output_shape [1, 4, 4, 4] : tensor<1x64xf32> into tensor<1x4x4x4xf32>
    %extracted_slice_3 = tensor.extract_slice %expanded[0, 0, 0, 0] [1, 4, 4, 1] [1, 1, 1, 1] : tensor<1x4x4x4xf32> to tensor<4x4xf32>
    return %9, %extracted_slice_3 : tensor<3x8xf32>, tensor<4x4xf32>
  }
}
