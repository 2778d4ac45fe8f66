/*
 * See arm_nnfunctions.h. Plain loops, for whoever wants to see what is computed.
 *
 * Stricter than the library in one respect: scratch memory that is missing or too small
 * for the core is an error, and all of it is overwritten.
 */
#include "arm_nnfunctions.h"

#include <stddef.h>
#include <string.h>

/* The variant: that of the core that this is compiled for, unless it is said. */
#if !defined(CMSIS_NN_MVE) && !defined(CMSIS_NN_DSP) && !defined(CMSIS_NN_C)
#if defined(__ARM_FEATURE_MVE)
#define CMSIS_NN_MVE
#elif defined(__ARM_FEATURE_DSP)
#define CMSIS_NN_DSP
#endif
#endif

#if defined(CMSIS_NN_MVE)
#define VARIANT(name) name##_mve
#elif defined(CMSIS_NN_DSP)
#define VARIANT(name) name##_dsp
#else
#define VARIANT(name) name##_c
#endif

/* Arithmetic. */

static int32_t wrap(int64_t value) {
    const uint32_t bits = (uint32_t)value;
    int32_t result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

static int64_t floor_shift(int64_t value, int32_t by) {
    return value >= 0 ? value >> by : -((-value - 1) >> by) - 1;
}

static int32_t divide_by_power_of_two(int64_t value, int32_t exponent) {
    const int64_t mask = ((int64_t)1 << exponent) - 1;
    const int64_t quotient = floor_shift(value, exponent);
    const int64_t remainder = value - quotient * ((int64_t)1 << exponent);
    return wrap(quotient + (remainder > (mask >> 1) + (value < 0)));
}

static int32_t requantize(int32_t value, int32_t multiplier, int32_t shift) {
    const int32_t left = shift > 0 ? shift : 0;
    const int32_t right = shift > 0 ? 0 : -shift;
    const int64_t shifted = wrap((int64_t)((uint64_t)(int64_t)value << left));
    const int64_t product = shifted * multiplier + ((int64_t)1 << 30);
    return divide_by_power_of_two(wrap(floor_shift(product, 31)), right);
}

static int32_t clamp(int64_t value, int32_t least, int32_t most) {
    return value < least ? least : value > most ? most : (int32_t)value;
}

static int8_t result_of(int32_t sum, int32_t multiplier, int32_t shift, int32_t offset,
                        const cmsis_nn_activation *range) {
    const int64_t scaled = requantize(sum, multiplier, shift);
    return (int8_t)clamp(scaled + offset, range->min, range->max);
}

/* Scratch memory. */

static int32_t up(int32_t size, int32_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
}

static int is_1x1(const cmsis_nn_conv_params *params, const cmsis_nn_dims *in,
                  const cmsis_nn_dims *filter) {
    return filter->h == 1 && filter->w == 1 && filter->c == in->c &&
           params->padding.h == 0 && params->padding.w == 0 && params->dilation.h == 1 &&
           params->dilation.w == 1;
}

static int32_t convolve_size(const cmsis_nn_conv_params *params, const cmsis_nn_dims *in,
                             const cmsis_nn_dims *filter, int32_t multiple) {
    if (is_1x1(params, in, filter)) {
        return 0;
    }
    return 4 * up(filter->h * filter->w * filter->c, multiple);
}

static inline int32_t arm_convolve_wrapper_s8_get_buffer_size_c(
    const cmsis_nn_conv_params *params, const cmsis_nn_dims *in,
    const cmsis_nn_dims *filter, const cmsis_nn_dims *out) {
    (void)out;
    return convolve_size(params, in, filter, 4);
}

int32_t arm_convolve_wrapper_s8_get_buffer_size_dsp(const cmsis_nn_conv_params *params,
                                                    const cmsis_nn_dims *in,
                                                    const cmsis_nn_dims *filter,
                                                    const cmsis_nn_dims *out) {
    (void)out;
    return convolve_size(params, in, filter, 4);
}

int32_t arm_convolve_wrapper_s8_get_buffer_size_mve(const cmsis_nn_conv_params *params,
                                                    const cmsis_nn_dims *in,
                                                    const cmsis_nn_dims *filter,
                                                    const cmsis_nn_dims *out) {
    (void)out;
    return convolve_size(params, in, filter, 16);
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *params,
                                                const cmsis_nn_dims *in,
                                                const cmsis_nn_dims *filter,
                                                const cmsis_nn_dims *out) {
    return VARIANT(arm_convolve_wrapper_s8_get_buffer_size)(params, in, filter, out);
}

static int is_plain_depthwise(const cmsis_nn_dw_conv_params *params,
                              const cmsis_nn_dims *in, const cmsis_nn_dims *out) {
    return in->c == out->c && in->n == 1 && params->dilation.h == 1 &&
           params->dilation.w == 1;
}

static inline int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size_c(
    const cmsis_nn_dw_conv_params *params, const cmsis_nn_dims *in,
    const cmsis_nn_dims *filter, const cmsis_nn_dims *out) {
    (void)params, (void)in, (void)filter, (void)out;
    return 0;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size_dsp(
    const cmsis_nn_dw_conv_params *params, const cmsis_nn_dims *in,
    const cmsis_nn_dims *filter, const cmsis_nn_dims *out) {
    const int is_3x3 = filter->h == 3 && filter->w == 3 && params->padding.h <= 1 &&
                       params->padding.w <= 1;
    if (!is_plain_depthwise(params, in, out) || is_3x3) {
        return 0;
    }
    return 2 * in->c * filter->h * filter->w;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size_mve(
    const cmsis_nn_dw_conv_params *params, const cmsis_nn_dims *in,
    const cmsis_nn_dims *filter, const cmsis_nn_dims *out) {
    return is_plain_depthwise(params, in, out) ? 496 * filter->h * filter->w : 0;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *params,
                                                      const cmsis_nn_dims *in,
                                                      const cmsis_nn_dims *filter,
                                                      const cmsis_nn_dims *out) {
    return VARIANT(arm_depthwise_conv_wrapper_s8_get_buffer_size)(params, in, filter, out);
}

static inline int32_t arm_fully_connected_s8_get_buffer_size_c(const cmsis_nn_dims *filter) {
    (void)filter;
    return 0;
}

int32_t arm_fully_connected_s8_get_buffer_size_dsp(const cmsis_nn_dims *filter) {
    (void)filter;
    return 0;
}

int32_t arm_fully_connected_s8_get_buffer_size_mve(const cmsis_nn_dims *filter) {
    return 4 * filter->c;
}

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter) {
    return VARIANT(arm_fully_connected_s8_get_buffer_size)(filter);
}

static inline int32_t arm_avgpool_s8_get_buffer_size_c(int output_w, int channels) {
    (void)output_w, (void)channels;
    return 0;
}

int32_t arm_avgpool_s8_get_buffer_size_dsp(int output_w, int channels) {
    (void)output_w;
    return 4 * channels;
}

int32_t arm_avgpool_s8_get_buffer_size_mve(int output_w, int channels) {
    (void)output_w, (void)channels;
    return 0;
}

int32_t arm_avgpool_s8_get_buffer_size(int output_w, int channels) {
    return VARIANT(arm_avgpool_s8_get_buffer_size)(output_w, channels);
}

static int has_scratch(const cmsis_nn_context *ctx, int32_t size) {
    return size == 0 || (ctx->buf != NULL && ctx->size >= size);
}

static void overwrite(const cmsis_nn_context *ctx, int32_t size) {
    if (size > 0) {
        memset(ctx->buf, 0xA5, (size_t)size);
    }
}

/* Convolutions. */

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_conv_params *params,
    const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *in,
    const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *out,
    int8_t *output) {
    const int32_t size = arm_convolve_wrapper_s8_get_buffer_size(params, in, filter_dims, out);
    const int32_t inner = filter_dims->c;
    (void)bias_dims;
    if (!has_scratch(ctx, size) || in->c % inner != 0 || out->c % (in->c / inner) != 0) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    overwrite(ctx, size);
    const int32_t per_group = out->c / (in->c / inner);
    int32_t at = 0;
    for (int32_t n = 0; n < out->n; ++n) {
        for (int32_t y = 0; y < out->h; ++y) {
            for (int32_t x = 0; x < out->w; ++x) {
                for (int32_t o = 0; o < out->c; ++o) {
                    uint32_t sum = bias ? (uint32_t)bias[o] : 0;
                    for (int32_t i = 0; i < filter_dims->h; ++i) {
                        const int32_t row =
                            y * params->stride.h - params->padding.h + i * params->dilation.h;
                        for (int32_t j = 0; j < filter_dims->w; ++j) {
                            const int32_t column = x * params->stride.w -
                                                   params->padding.w +
                                                   j * params->dilation.w;
                            if (row < 0 || row >= in->h || column < 0 || column >= in->w) {
                                continue;
                            }
                            const int8_t *values =
                                input + ((n * in->h + row) * in->w + column) * in->c +
                                o / per_group * inner;
                            const int8_t *weights =
                                filter +
                                ((o * filter_dims->h + i) * filter_dims->w + j) * inner;
                            for (int32_t c = 0; c < inner; ++c) {
                                sum += (uint32_t)((values[c] + params->input_offset) *
                                                  weights[c]);
                            }
                        }
                    }
                    output[at++] = result_of(wrap(sum), quant->multiplier[o],
                                             quant->shift[o], params->output_offset,
                                             &params->activation);
                }
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *params,
    const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *in,
    const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *out,
    int8_t *output) {
    const int32_t size =
        arm_depthwise_conv_wrapper_s8_get_buffer_size(params, in, filter_dims, out);
    (void)bias_dims;
    if (!has_scratch(ctx, size) || in->c * params->ch_mult != out->c) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    overwrite(ctx, size);
    int32_t at = 0;
    for (int32_t n = 0; n < out->n; ++n) {
        for (int32_t y = 0; y < out->h; ++y) {
            for (int32_t x = 0; x < out->w; ++x) {
                for (int32_t o = 0; o < out->c; ++o) {
                    uint32_t sum = bias ? (uint32_t)bias[o] : 0;
                    for (int32_t i = 0; i < filter_dims->h; ++i) {
                        const int32_t row =
                            y * params->stride.h - params->padding.h + i * params->dilation.h;
                        for (int32_t j = 0; j < filter_dims->w; ++j) {
                            const int32_t column = x * params->stride.w -
                                                   params->padding.w +
                                                   j * params->dilation.w;
                            if (row < 0 || row >= in->h || column < 0 || column >= in->w) {
                                continue;
                            }
                            const int32_t value =
                                input[((n * in->h + row) * in->w + column) * in->c +
                                      o / params->ch_mult];
                            sum += (uint32_t)((value + params->input_offset) *
                                              filter[(i * filter_dims->w + j) * out->c + o]);
                        }
                    }
                    output[at++] = result_of(wrap(sum), quant->multiplier[o],
                                             quant->shift[o], params->output_offset,
                                             &params->activation);
                }
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

/* Fully connected layers. */

arm_cmsis_nn_status arm_vector_sum_s8(int32_t *sums, int32_t cols, int32_t rows,
                                      const int8_t *data, int32_t lhs_offset,
                                      int32_t rhs_offset, const int32_t *bias) {
    for (int32_t m = 0; m < rows; ++m) {
        uint32_t sum = (uint32_t)(cols * rhs_offset);
        for (int32_t k = 0; k < cols; ++k) {
            sum += (uint32_t)data[m * cols + k];
        }
        sums[m] = wrap((bias ? (uint32_t)bias[m] : 0) + (uint32_t)lhs_offset * sum);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

/* One sum of row `n` and filter `m`. */
static int32_t dense_sum(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *params,
                         const int8_t *row, const int8_t *weights, int32_t depth,
                         const int32_t *bias, int32_t m) {
    uint32_t sum;
#if defined(CMSIS_NN_MVE)
    /* The bias and the part of the input offset are in the scratch memory. */
    (void)bias;
    sum = (uint32_t)((const int32_t *)ctx->buf)[m];
    for (int32_t k = 0; k < depth; ++k) {
        sum += (uint32_t)(row[k] * (weights[k] + params->filter_offset));
    }
#else
    (void)ctx;
    sum = bias ? (uint32_t)bias[m] : 0;
    for (int32_t k = 0; k < depth; ++k) {
        sum += (uint32_t)((row[k] + params->input_offset) *
                          (weights[k] + params->filter_offset));
    }
#endif
    return wrap(sum);
}

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_fc_params *params,
    const cmsis_nn_per_tensor_quant_params *quant, const cmsis_nn_dims *in,
    const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *out,
    int8_t *output) {
    const int32_t depth = filter_dims->n;
    (void)bias_dims, (void)out;
    if (!has_scratch(ctx, arm_fully_connected_s8_get_buffer_size(filter_dims))) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < in->n; ++n) {
        for (int32_t m = 0; m < filter_dims->c; ++m) {
            const int32_t sum = dense_sum(ctx, params, input + n * depth, filter + m * depth,
                                          depth, bias, m);
            output[n * filter_dims->c + m] =
                result_of(sum, quant->multiplier, quant->shift, params->output_offset,
                          &params->activation);
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_fully_connected_per_channel_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_fc_params *params,
    const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *in,
    const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *out,
    int8_t *output) {
    const int32_t depth = filter_dims->n;
    (void)bias_dims, (void)out;
    if (!has_scratch(ctx, arm_fully_connected_s8_get_buffer_size(filter_dims))) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < in->n; ++n) {
        for (int32_t m = 0; m < filter_dims->c; ++m) {
            const int32_t sum = dense_sum(ctx, params, input + n * depth, filter + m * depth,
                                          depth, bias, m);
            output[n * filter_dims->c + m] =
                result_of(sum, quant->multiplier[m], quant->shift[m], params->output_offset,
                          &params->activation);
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

/* Pools. */

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *ctx,
                                    const cmsis_nn_pool_params *params,
                                    const cmsis_nn_dims *in, const int8_t *input,
                                    const cmsis_nn_dims *filter_dims,
                                    const cmsis_nn_dims *out, int8_t *output) {
    (void)ctx;
    int32_t at = 0;
    for (int32_t n = 0; n < out->n; ++n) {
        for (int32_t y = 0; y < out->h; ++y) {
            for (int32_t x = 0; x < out->w; ++x) {
                for (int32_t c = 0; c < out->c; ++c) {
                    int32_t largest = -128;
                    for (int32_t i = 0; i < filter_dims->h; ++i) {
                        for (int32_t j = 0; j < filter_dims->w; ++j) {
                            const int32_t row = y * params->stride.h - params->padding.h + i;
                            const int32_t column =
                                x * params->stride.w - params->padding.w + j;
                            if (row < 0 || row >= in->h || column < 0 || column >= in->w) {
                                continue;
                            }
                            const int32_t value =
                                input[((n * in->h + row) * in->w + column) * in->c + c];
                            largest = value > largest ? value : largest;
                        }
                    }
                    output[at++] = (int8_t)clamp(largest, params->activation.min,
                                                 params->activation.max);
                }
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx,
                                   const cmsis_nn_pool_params *params,
                                   const cmsis_nn_dims *in, const int8_t *input,
                                   const cmsis_nn_dims *filter_dims,
                                   const cmsis_nn_dims *out, int8_t *output) {
    const int32_t size = arm_avgpool_s8_get_buffer_size(out->w, in->c);
    if (!has_scratch(ctx, size)) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    overwrite(ctx, size);
    int32_t at = 0;
    for (int32_t n = 0; n < out->n; ++n) {
        for (int32_t y = 0; y < out->h; ++y) {
            for (int32_t x = 0; x < out->w; ++x) {
                for (int32_t c = 0; c < out->c; ++c) {
                    int32_t total = 0;
                    int32_t count = 0;
                    for (int32_t i = 0; i < filter_dims->h; ++i) {
                        for (int32_t j = 0; j < filter_dims->w; ++j) {
                            const int32_t row = y * params->stride.h - params->padding.h + i;
                            const int32_t column =
                                x * params->stride.w - params->padding.w + j;
                            if (row < 0 || row >= in->h || column < 0 || column >= in->w) {
                                continue;
                            }
                            total += input[((n * in->h + row) * in->w + column) * in->c + c];
                            ++count;
                        }
                    }
                    if (count == 0) {
                        return ARM_CMSIS_NN_ARG_ERROR;
                    }
                    total = total > 0 ? (total + count / 2) / count
                                      : (total - count / 2) / count;
                    output[at++] =
                        (int8_t)clamp(total, params->activation.min, params->activation.max);
                }
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

/* Softmax: fixed point, as in gemmlowp. */

static int32_t doubling_high(int32_t a, int32_t b) {
    if (a == INT32_MIN && b == INT32_MIN) {
        return INT32_MAX;
    }
    const int64_t product = (int64_t)a * b;
    const int64_t nudge = product >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);
    return (int32_t)((product + nudge) / ((int64_t)1 << 31));
}

static int32_t saturate(int64_t value) {
    return clamp(value, INT32_MIN, INT32_MAX);
}

/* exp(value) of a number <= 0 with 26 fractional bits, with 31 of them. */
static int32_t exp_of_negative(int32_t value) {
    /* exp(-1/4), exp(-1/2), exp(-1), … exp(-16) */
    static const int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308,
                                      39332535,   720401,     242};
    const int32_t exp_of_minus_1_8 = 1895147668;
    const int32_t one_third = 715827883;
    const int32_t quarter = 1 << 24;
    if (value == 0) {
        return INT32_MAX;
    }
    const int32_t part = (value & (quarter - 1)) - quarter;
    const int32_t rest = part - value;
    const int32_t x = wrap((int64_t)part * 32 + (1 << 28));
    const int32_t x2 = doubling_high(x, x);
    const int32_t x4 = divide_by_power_of_two(doubling_high(x2, x2), 2);
    const int32_t inner =
        wrap((int64_t)doubling_high(x4 + doubling_high(x2, x), one_third) + x2);
    const int32_t p = wrap((int64_t)x + divide_by_power_of_two(inner, 1));
    int32_t result =
        wrap((int64_t)exp_of_minus_1_8 + doubling_high(exp_of_minus_1_8, p));
    for (int32_t k = 0; k < 7; ++k) {
        if (rest & (1 << (24 + k))) {
            result = doubling_high(result, factors[k]);
        }
    }
    return result;
}

/* 1 / (1 + value) of a number in [0, 1) with 31 fractional bits. */
static int32_t one_over_one_plus(int32_t value) {
    const int32_t half = (int32_t)(((int64_t)value + INT32_MAX + 1) / 2);
    int32_t y = wrap((int64_t)1515870810 + doubling_high(half, -1010580540));
    for (int32_t step = 0; step < 3; ++step) {
        const int32_t error = (1 << 29) - doubling_high(half, y);
        y = wrap((int64_t)y + saturate((int64_t)doubling_high(y, error) * 4));
    }
    return saturate((int64_t)y * 2);
}

void arm_softmax_s8(const int8_t *input, int32_t num_rows, int32_t row_size, int32_t mult,
                    int32_t shift, int32_t diff_min, int8_t *output) {
    for (int32_t row = 0; row < num_rows; ++row) {
        const int8_t *values = input + row * row_size;
        int8_t *results = output + row * row_size;
        int32_t largest = -128;
        for (int32_t k = 0; k < row_size; ++k) {
            largest = values[k] > largest ? values[k] : largest;
        }
        int32_t sum = 0;
        for (int32_t k = 0; k < row_size; ++k) {
            const int32_t difference = values[k] - largest;
            if (difference >= diff_min) {
                const int32_t scaled = wrap((int64_t)difference * ((int64_t)1 << shift));
                sum += divide_by_power_of_two(
                    exp_of_negative(doubling_high(scaled, mult)), 12);
            }
        }
        int32_t zeros = 0;
        while (zeros < 31 && !((uint32_t)sum >> (31 - zeros))) {
            ++zeros;
        }
        const int32_t inverse =
            one_over_one_plus(wrap((int64_t)((uint32_t)sum << zeros) - ((int64_t)1 << 31)));
        for (int32_t k = 0; k < row_size; ++k) {
            const int32_t difference = values[k] - largest;
            if (difference < diff_min) {
                results[k] = -128;
                continue;
            }
            const int32_t scaled = wrap((int64_t)difference * ((int64_t)1 << shift));
            const int32_t power = exp_of_negative(doubling_high(scaled, mult));
            const int32_t result =
                divide_by_power_of_two(doubling_high(inverse, power), 35 - zeros) - 128;
            results[k] = (int8_t)clamp(result, -128, 127);
        }
    }
}

/* Elements. */

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *input_1, const int8_t *input_2, int32_t input_1_offset,
    int32_t input_1_mult, int32_t input_1_shift, int32_t input_2_offset,
    int32_t input_2_mult, int32_t input_2_shift, int32_t left_shift, int8_t *output,
    int32_t out_offset, int32_t out_mult, int32_t out_shift, int32_t out_min,
    int32_t out_max, int32_t block_size) {
    const cmsis_nn_activation range = {out_min, out_max};
    const int32_t factor = (int32_t)1 << left_shift;
    for (int32_t k = 0; k < block_size; ++k) {
        const int32_t a =
            requantize((input_1[k] + input_1_offset) * factor, input_1_mult, input_1_shift);
        const int32_t b =
            requantize((input_2[k] + input_2_offset) * factor, input_2_mult, input_2_shift);
        output[k] = result_of(wrap((int64_t)a + b), out_mult, out_shift, out_offset, &range);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *input_1, const int8_t *input_2,
                                           int32_t input_1_offset, int32_t input_2_offset,
                                           int8_t *output, int32_t out_offset,
                                           int32_t out_mult, int32_t out_shift,
                                           int32_t out_min, int32_t out_max,
                                           int32_t block_size) {
    const cmsis_nn_activation range = {out_min, out_max};
    for (int32_t k = 0; k < block_size; ++k) {
        const int32_t product =
            (input_1[k] + input_1_offset) * (input_2[k] + input_2_offset);
        output[k] = result_of(product, out_mult, out_shift, out_offset, &range);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
