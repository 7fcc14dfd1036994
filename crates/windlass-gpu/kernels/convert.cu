// Base conversion and inner products: sums of products with one reduction for several of them.
#include "modular.h"

// Columns that a block of a conversion takes, and the most sources that it holds of them.
#define TILE 32
#define SOURCES 161

// out[j] = constants[j] + sum of matrix[j][i] * sources[i], modulo the prime of row j of the targets. Sources are
// residues modulo other primes, or small numbers: below 2^50. Grid: tiles of columns. The sources of a
// tile are read once for all targets.
KERNEL(convert_rows)(Words out, ConstWords rows_of_out, ConstWords sources, ConstWords rows_of_sources, Doubles matrix,
                     ConstWords constants, ConstWords primes, ConstWords moduli, u64 n, u32 targets, u32 count) {
    SHARED(double, shared, SOURCES * TILE);
    const u64 start = (u64)BLOCK_X * TILE;
    EACH_THREAD(t) {
        for (u32 i = t; i < count * TILE; i += THREADS) {
            const u64 column = start + i % TILE;
            if (column < n) shared[i] = number(sources[rows_of_sources[i / TILE] * n + column]);
        }
    }
    BARRIER;
    EACH_THREAD(t) {
        const u64 column = start + t % TILE;
        for (u32 target = t / TILE; target < targets && column < n; target += THREADS / TILE) {
            const Modulus q = modulus_of(moduli, primes[target]);
            Sum sum = sum_from(number(constants[target]));
            u32 taken = 1;
            for (u32 i = 0; i < count; ++i) {
                sum = sum_take(sum, taken, shared[i * TILE + t % TILE], matrix[(u64)target * count + i], q);
            }
            out[rows_of_out[target] * n + column] = canonical(sum_reduce(sum, q), q);
        }
    }
}

// out = round(sum of sources[i] * inverses[i]): how often a Chinese-remainder sum wraps around its modulus. Product,
// then sum, in order, so that every machine rounds alike. Grid: columns, rows of out.
KERNEL(excess_row)(Words out, u64 row_of_out, ConstWords sources, ConstWords rows_of_sources, Doubles inverses, u64 n,
                   u32 count) {
    EACH_THREAD(t) {
        const u64 column = (u64)BLOCK_X * THREADS + t;
        if (column < n) {
            double sum = 0;
            for (u32 i = 0; i < count; ++i) {
                sum = plus(sum, times(number(sources[rows_of_sources[i] * n + column]), inverses[i]));
            }
            out[row_of_out * n + column] = to_bits(plus(sum, TWO_52)) ^ 0x4330000000000000ull;
        }
    }
}

// (out_b, out_a) = sum over k < count of digits[k] * (keys[first + k][0], keys[first + k][1]) over the rows of a basis:
// the inner product of a key switch. digits: [count][rows][n]. keys: [..][2][key_rows][n], of which rows_of_keys
// names the row of each prime. Grid: columns, rows.
KERNEL(key_product)(Words out_b, Words out_a, ConstWords digits, ConstWords keys, ConstWords rows_of_keys,
                    ConstWords primes, ConstWords moduli, u64 n, u32 rows, u32 key_rows, u32 count, u32 first) {
    const Modulus q = modulus_of(moduli, primes[BLOCK_Y]);
    const u64 key_row = rows_of_keys[BLOCK_Y];
    EACH_THREAD(t) {
        const u64 column = (u64)BLOCK_X * THREADS + t;
        if (column < n) {
            Sum b = sum_from(0), a = sum_from(0);
            u32 taken_b = 0, taken_a = 0;
            for (u32 k = 0; k < count; ++k) {
                const double digit = number(digits[((u64)k * rows + BLOCK_Y) * n + column]);
                const u64 pair = 2ull * (first + k) * key_rows + key_row;
                b = sum_take(b, taken_b, digit, number(keys[pair * n + column]), q);
                a = sum_take(a, taken_a, digit, number(keys[(pair + key_rows) * n + column]), q);
            }
            out_b[BLOCK_Y * n + column] = canonical(sum_reduce(b, q), q);
            out_a[BLOCK_Y * n + column] = canonical(sum_reduce(a, q), q);
        }
    }
}
