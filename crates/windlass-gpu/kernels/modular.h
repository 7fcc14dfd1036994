// Arithmetic modulo a prime 2^9 < q < 2^50 on doubles, as windlass-kernels/src/lanes/float.rs does it:
// a product is an exact pair by fused multiply-add, a quotient is rounded by adding 1.5 * 2^52.
// Residues leave a kernel canonical, in [0, q), so the order of reductions does not show in the bits.
#pragma once
#include "device.h"

// 2^52: a double x + 2^52 has the integer x < 2^52 in its mantissa.
#define TWO_52 4503599627370496.0
// Adding and subtracting it rounds |x| <= 2^51 to the nearest integer.
#define MAGIC 6755399441055744.0
// 2^103: in [2^103, 2^104) a double is a multiple of 2^51.
#define SUM_START 10141204801825835211973625643008.0
// Products that a Sum has room for: their low parts, 2^50 each, and a remainder are exact up to 2^53.
#define SUM_TERMS 6

// A prime, as it lies in device memory: four words.
struct Modulus {
    double value;
    double inverse;
    u64 word;
};

DEVICE Modulus modulus_of(const ConstWords &moduli, u64 prime) {
    Modulus q;
    q.value = from_bits(moduli[4 * prime]);
    q.inverse = from_bits(moduli[4 * prime + 1]);
    q.word = moduli[4 * prime + 2];
    return q;
}

// An integer below 2^52 as a double.
DEVICE double number(u64 x) { return minus(from_bits(x | 0x4330000000000000ull), TWO_52); }

// x - round(x/q) * q for integers |x| <= 8q: in absolute value little more than q/2.
DEVICE double reduce(double x, const Modulus &q) {
    REQUIRE(magnitude(x) <= 8 * q.value);
    const double quotient = minus(fused(x, q.inverse, MAGIC), MAGIC);
    return fused(-quotient, q.value, x);
}

// x * y - round(x * y/q) * q for |x * y| <= 2q^2: below (1/2 + |x * y|/q * 2^-52) * q in absolute
// value. high = fl(x * y), and low = high - x * y is exact; so are both last steps, since the result
// plus low is a whole number below 2^52.
DEVICE double product(double x, double y, const Modulus &q) {
    REQUIRE(magnitude(x) * magnitude(y) <= 2 * q.value * q.value);
    const double high = times(x, y);
    const double quotient = minus(fused(high, q.inverse, MAGIC), MAGIC);
    const double low = fused(-x, y, high);
    return minus(fused(-quotient, q.value, high), low);
}

// A whole number in (-q, q) as a canonical residue.
DEVICE u64 canonical(double x, const Modulus &q) {
    REQUIRE(magnitude(x) < q.value);
    const double positive = x < 0 ? plus(x, q.value) : x;
    return to_bits(plus(positive, TWO_52)) ^ 0x4330000000000000ull;
}

// a + b of canonical residues.
DEVICE u64 add_words(u64 a, u64 b, u64 q) {
    const u64 sum = a + b;
    return sum >= q ? sum - q : sum;
}

// a - b of canonical residues.
DEVICE u64 sub_words(u64 a, u64 b, u64 q) { return a >= b ? a - b : a + q - b; }

// A sum of up to SUM_TERMS products x * y, 0 <= x < 2^50, 0 <= y < q: high - 2^103 is the sum of their
// multiples of 2^51, low what is left of it.
struct Sum {
    double high;
    double low;
};

DEVICE Sum sum_from(double x) {
    Sum sum;
    sum.high = SUM_START;
    sum.low = x;
    return sum;
}

DEVICE Sum sum_add(const Sum &sum, double x, double y) {
    REQUIRE(x >= 0 && x < 1125899906842624.0 && y >= 0 && y < 1125899906842624.0);
    Sum next;
    next.high = fused(x, y, sum.high);
    next.low = minus(sum.low, fused(-x, y, minus(next.high, sum.high)));
    return next;
}

// A sum to (-q, q). The high part, a multiple of 2^51 below 2^103, has a quotient below 2^53 that is
// off by less than 2: the remainder is in (-2q, 2q) and exact. With the low part it is at most 2^53.
DEVICE double sum_reduce(const Sum &sum, const Modulus &q) {
    const double high = minus(sum.high, SUM_START);
    const double rest = fused(-nearest(times(high, q.inverse)), q.value, high);
    const double all = plus(rest, sum.low);
    REQUIRE(magnitude(all) <= 9007199254740992.0);
    return fused(-nearest(times(all, q.inverse)), q.value, all);
}

// Takes one more product; a full sum is reduced first and then takes the room of one.
DEVICE Sum sum_take(Sum sum, u32 &taken, double x, double y, const Modulus &q) {
    if (taken == SUM_TERMS) {
        sum = sum_from(sum_reduce(sum, q));
        taken = 1;
    }
    taken += 1;
    return sum_add(sum, x, y);
}
