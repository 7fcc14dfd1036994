// Operations on rows of n canonical residues, each modulo its own prime. Grid: columns, rows; a thread
// takes one residue. Outputs may be inputs, unless a kernel moves residues.
#include "modular.h"

// The column of this thread; false where the row has ended.
DEVICE bool column_of(u32 thread, u64 n, u64 &column) {
    column = (u64)BLOCK_X * THREADS + thread;
    return column < n;
}

// out = x + y.
KERNEL(add_rows)(Words out, ConstWords x, ConstWords y, ConstWords primes, ConstWords moduli, u64 n) {
    const u64 q = moduli[4 * primes[BLOCK_Y] + 2], row = BLOCK_Y * n;
    EACH_THREAD(t) {
        u64 j;
        if (column_of(t, n, j)) out[row + j] = add_words(x[row + j], y[row + j], q);
    }
}

// out = x - y.
KERNEL(sub_rows)(Words out, ConstWords x, ConstWords y, ConstWords primes, ConstWords moduli, u64 n) {
    const u64 q = moduli[4 * primes[BLOCK_Y] + 2], row = BLOCK_Y * n;
    EACH_THREAD(t) {
        u64 j;
        if (column_of(t, n, j)) out[row + j] = sub_words(x[row + j], y[row + j], q);
    }
}

// out = x * y.
KERNEL(mul_rows)(Words out, ConstWords x, ConstWords y, ConstWords primes, ConstWords moduli, u64 n) {
    const Modulus q = modulus_of(moduli, primes[BLOCK_Y]);
    const u64 row = BLOCK_Y * n;
    EACH_THREAD(t) {
        u64 j;
        if (column_of(t, n, j)) out[row + j] = canonical(product(number(x[row + j]), number(y[row + j]), q), q);
    }
}

// out += x * y.
KERNEL(mul_add_rows)(Words out, ConstWords x, ConstWords y, ConstWords primes, ConstWords moduli, u64 n) {
    const Modulus q = modulus_of(moduli, primes[BLOCK_Y]);
    const u64 row = BLOCK_Y * n;
    EACH_THREAD(t) {
        u64 j;
        if (column_of(t, n, j)) {
            const double xy = product(number(x[row + j]), number(y[row + j]), q);
            out[row + j] = canonical(reduce(plus(xy, number(out[row + j])), q), q);
        }
    }
}

// out[places[i]] = scalars[i] * x[sources[i]] for some rows; scalars are centred.
KERNEL(scale_rows)(Words out, ConstWords places, ConstWords x, ConstWords sources, Doubles scalars, ConstWords primes,
                   ConstWords moduli, u64 n) {
    const Modulus q = modulus_of(moduli, primes[BLOCK_Y]);
    const double scalar = scalars[BLOCK_Y];
    const u64 row = places[BLOCK_Y] * n, source = sources[BLOCK_Y] * n;
    EACH_THREAD(t) {
        u64 j;
        if (column_of(t, n, j)) out[row + j] = canonical(product(number(x[source + j]), scalar, q), q);
    }
}

// (out0, out1, out2) = scalars[row] * (a0 * b0, a0 * b1 + a1 * b0, a1 * b1); scalars are centred.
KERNEL(tensor_rows)(Words out0, Words out1, Words out2, ConstWords a0, ConstWords a1, ConstWords b0, ConstWords b1,
                    Doubles scalars, ConstWords primes, ConstWords moduli, u64 n) {
    const Modulus q = modulus_of(moduli, primes[BLOCK_Y]);
    const double scalar = scalars[BLOCK_Y];
    const u64 row = BLOCK_Y * n;
    EACH_THREAD(t) {
        u64 j;
        if (column_of(t, n, j)) {
            const double x0 = number(a0[row + j]), x1 = number(a1[row + j]);
            const double y0 = number(b0[row + j]), y1 = number(b1[row + j]);
            const double cross = plus(product(x0, y1, q), product(x1, y0, q));
            out0[row + j] = canonical(product(product(x0, y0, q), scalar, q), q);
            out1[row + j] = canonical(product(cross, scalar, q), q);
            out2[row + j] = canonical(product(product(x1, y1, q), scalar, q), q);
        }
    }
}

// Where theta_t: X to X^t takes position i of a transformed row from: position i holds the value at the
// power 2 * bitreverse(i) + 1 of a root of order 2n.
DEVICE u32 source_of(u32 i, u32 log_n, u64 element) {
    const u64 power = (2 * (u64)reversed(i, log_n) + 1) * element;
    return reversed((u32)(power >> 1) & ((1u << log_n) - 1), log_n);
}

// out = theta_t(x), element = t mod 2n, odd. The output is another buffer.
KERNEL(permute_rows)(Words out, ConstWords x, u32 log_n, u64 element) {
    const u64 n = 1ull << log_n, row = BLOCK_Y * n;
    EACH_THREAD(t) {
        u64 j;
        if (column_of(t, n, j)) out[row + j] = x[row + source_of((u32)j, log_n, element)];
    }
}

// out += theta_t(x). The output is another buffer.
KERNEL(permute_add_rows)(Words out, ConstWords x, ConstWords primes, ConstWords moduli, u32 log_n, u64 element) {
    const u64 n = 1ull << log_n, row = BLOCK_Y * n, q = moduli[4 * primes[BLOCK_Y] + 2];
    EACH_THREAD(t) {
        u64 j;
        if (column_of(t, n, j)) {
            out[row + j] = add_words(out[row + j], x[row + source_of((u32)j, log_n, element)], q);
        }
    }
}

// out = theta_t((x - y) * scalars[row] + addend): the end of a division by part of the modulus. Scalars
// are centred; rows_of_y[row] is the row of y; `addend` may be empty. The output is another buffer.
KERNEL(finish_rows)(Words out, ConstWords x, ConstWords y, ConstWords rows_of_y, ConstWords addend, Doubles scalars,
                    ConstWords primes, ConstWords moduli, u32 log_n, u64 element) {
    const Modulus q = modulus_of(moduli, primes[BLOCK_Y]);
    const double scalar = scalars[BLOCK_Y];
    const u64 n = 1ull << log_n, row = BLOCK_Y * n, row_of_y = rows_of_y[BLOCK_Y] * n;
    EACH_THREAD(t) {
        u64 j;
        if (column_of(t, n, j)) {
            const u32 from = source_of((u32)j, log_n, element);
            double result = product(minus(number(x[row + from]), number(y[row_of_y + from])), scalar, q);
            if (addend.length > 0) result = reduce(plus(result, number(addend[row + from])), q);
            out[row + j] = canonical(result, q);
        }
    }
}
