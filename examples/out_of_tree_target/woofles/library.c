/* The library of the target. */
#include <stdint.h>
#include <string.h>

/*
 * c = a * b, of m x k and k x n; 0, or -1 for lanes that there are not. `panel` is room
 * for k * lanes numbers: columns of b are copied there, so that they are read in a row.
 */
int32_t woofles_matmul(const float *a, const float *b, float *c, int32_t m, int32_t k,
                       int32_t n, int32_t lanes, float *panel) {
  if (lanes < 1 || lanes > 64) return -1;
  for (int32_t first = 0; first < n; first += lanes) {
    int32_t width = n - first < lanes ? n - first : lanes;
    for (int32_t p = 0; p < k; p++)
      memcpy(panel + p * width, b + p * n + first, width * sizeof(float));
    for (int32_t i = 0; i < m; i++) {
      float *row = c + i * n + first;
      memset(row, 0, width * sizeof(float));
      for (int32_t p = 0; p < k; p++)
        for (int32_t j = 0; j < width; j++)
          row[j] += a[i * k + p] * panel[p * width + j];
    }
  }
  return 0;
}
