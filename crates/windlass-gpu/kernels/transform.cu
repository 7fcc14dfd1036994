// Transforms of Z_q[X]/(X^n + 1), n = 2^log_n: coefficients to values at psi^(2 * bitreverse(i) + 1), and back.
//
// Layer l splits each of its 2^l nodes, residues modulo X^(2t) - w^2, into residues modulo X^t - w and
// X^t + w; node i has the root in roots[2^l + i]. A block takes 2^log_block residues through several
// layers in shared memory, and a thread eight of them through three layers in registers:
//
// - the columns of the first layers: 2^layers rows that lie n/2^layers apart, and as many neighbouring
//   columns as fit;
// - or a subtree of the last layers: 2^log_block residues that follow each other.
//
// Inside a block both look the same: local layer l has 2^l nodes, each a part of the block.
//
// The inverse goes through the table of the forward transform backwards: the node at the other end of
// a layer has the root -1/w, and the sign is in the order of the subtraction.
#include "modular.h"

// Residues of a block, at most.
#define BLOCK_LENGTH 2048

// Place in shared memory: every sixteenth word is left out, so that strides of powers of two meet all banks.
DEVICE u32 padded(u32 i) { return i + (i >> 4); }

// Where the residues of a block lie in its row.
struct Part {
    u32 log_n;
    u32 log_block;
    // Layers before the first one of this block.
    u32 first;
    u32 layers;
    // Number of the block.
    u32 block;

    DEVICE_MEMBER u32 place(u32 i) const {
        if (first > 0) return (block << log_block) + i;
        const u32 log_width = log_block - layers;
        const u32 row = i >> log_width, column = i & ((1u << log_width) - 1);
        return (row << (log_n - layers)) + (block << log_width) + column;
    }

    // Number, in its layer of the whole transform, of the block's node 0 in local layer l.
    DEVICE_MEMBER u32 first_node(u32 l) const { return first > 0 ? block << l : 0; }

    DEVICE_MEMBER bool is_last() const { return first + layers == log_n; }
};

// DEPTH forward layers, the first of them local layer `layer`, on the 2^DEPTH residues of group `group`.
// Residues come with |x| <= 4q and leave with |x| <= 3.2q: x of the first layer is reduced to q/2, or
// canonical, then a layer adds q/2 + |y|/8 at most.
template <u32 DEPTH>
DEVICE void forward_group(double *shared, const Part &part, u32 layer, u32 group, u64 table, const Doubles &roots,
                          const Modulus &q, bool is_canonical) {
    const u32 log_stride = part.log_block - layer - DEPTH;
    const u32 node = group >> log_stride;
    const u32 base = (node << (part.log_block - layer)) + (group & ((1u << log_stride) - 1));
    double x[1 << DEPTH];
    UNROLL
    for (u32 j = 0; j < 1u << DEPTH; ++j) x[j] = shared[padded(base + (j << log_stride))];
    const u32 first_node = part.first_node(layer) + node;
    UNROLL
    for (u32 d = 0; d < DEPTH; ++d) {
        const u32 half = 1u << (DEPTH - 1 - d);
        const u64 row = table + (1ull << (part.first + layer + d)) + ((u64)first_node << d);
        UNROLL
        for (u32 pair = 0; pair < 1u << (DEPTH - 1); ++pair) {
            const u32 child = pair / half, low = 2 * half * child + pair % half;
            const double xy = product(x[low + half], roots[row + child], q);
            const double a = d == 0 && !is_canonical ? reduce(x[low], q) : x[low];
            x[low] = plus(a, xy);
            x[low + half] = minus(a, xy);
        }
    }
    UNROLL
    for (u32 j = 0; j < 1u << DEPTH; ++j) {
        REQUIRE(magnitude(x[j]) <= 4 * q.value);
        shared[padded(base + (j << log_stride))] = x[j];
    }
}

// DEPTH inverse layers, the last of them local layer `layer`: (x, y) to (x + y, w * (y - x)). With
// `scale`, which holds the factor of the transform and the last root times it, they are the last of all.
// Residues come with |x| <= q and leave so: a sum doubles, a product of |x| <= 4q is at most q.
template <u32 DEPTH>
DEVICE void inverse_group(double *shared, const Part &part, u32 layer, u32 group, u64 table, const Doubles &roots,
                          const Modulus &q, bool is_scaled, double scale, double scaled_root) {
    const u32 log_stride = part.log_block - layer - DEPTH;
    const u32 node = group >> log_stride;
    const u32 base = (node << (part.log_block - layer)) + (group & ((1u << log_stride) - 1));
    double x[1 << DEPTH];
    UNROLL
    for (u32 j = 0; j < 1u << DEPTH; ++j) x[j] = shared[padded(base + (j << log_stride))];
    const u32 first_node = part.first_node(layer) + node;
    UNROLL
    for (u32 step = 0; step < DEPTH; ++step) {
        const u32 half = 1u << step, d = DEPTH - 1 - step;
        const bool is_end = is_scaled && d == 0;
        // The last root of the layer, from which nodes count backwards.
        const u64 end = table + (2ull << (part.first + layer + d)) - 1 - ((u64)first_node << d);
        UNROLL
        for (u32 pair = 0; pair < 1u << (DEPTH - 1); ++pair) {
            const u32 child = pair / half, low = 2 * half * child + pair % half;
            const double sum = plus(x[low], x[low + half]), difference = minus(x[low + half], x[low]);
            const double root = is_end ? scaled_root : roots[end - child];
            x[low + half] = product(difference, root, q);
            if (is_end) {
                x[low] = product(sum, scale, q);
            } else {
                // Sums of four are 4q; a third layer would make them 8q.
                x[low] = step == 1 && DEPTH == 3 && pair % half == 0 ? reduce(sum, q) : sum;
            }
        }
    }
    UNROLL
    for (u32 j = 0; j < 1u << DEPTH; ++j) {
        const double end = !is_scaled && j < 1u << (DEPTH - 1) ? reduce(x[j], q) : x[j];
        REQUIRE(magnitude(end) <= q.value);
        shared[padded(base + (j << log_stride))] = end;
    }
}

// Layers [first, first + layers) of the forward transform of some rows, in place. Grid: blocks of a row, rows.
// places[i] is the number of row i in the buffer, primes[i] that of its prime, roots[prime][n] the table of the
// prime. The first launch reads canonical residues and the last one writes them; between them rows hold doubles.
KERNEL(forward_pass)(Words rows, ConstWords places, ConstWords primes, ConstWords moduli, Doubles roots, u32 log_n,
                     u32 log_block, u32 first, u32 layers) {
    SHARED(double, shared, BLOCK_LENGTH + BLOCK_LENGTH / 16);
    const Part part = {log_n, log_block, first, layers, BLOCK_X};
    const u64 prime = primes[BLOCK_Y], row = places[BLOCK_Y] << log_n, table = prime << log_n;
    const Modulus q = modulus_of(moduli, prime);
    EACH_THREAD(t) {
        for (u32 i = t; i < 1u << log_block; i += THREADS) {
            const u64 word = rows[row + part.place(i)];
            shared[padded(i)] = first == 0 ? number(word) : from_bits(word);
        }
    }
    BARRIER;
    for (u32 layer = 0; layer < layers;) {
        const u32 depth = layers - layer < 3 ? layers - layer : 3;
        const bool is_canonical = first == 0 && layer == 0;
        EACH_THREAD(t) {
            for (u32 group = t; group < 1u << (log_block - depth); group += THREADS) {
                if (depth == 3) forward_group<3>(shared, part, layer, group, table, roots, q, is_canonical);
                if (depth == 2) forward_group<2>(shared, part, layer, group, table, roots, q, is_canonical);
                if (depth == 1) forward_group<1>(shared, part, layer, group, table, roots, q, is_canonical);
            }
        }
        BARRIER;
        layer += depth;
    }
    EACH_THREAD(t) {
        for (u32 i = t; i < 1u << log_block; i += THREADS) {
            const double x = shared[padded(i)];
            rows[row + part.place(i)] = part.is_last() ? canonical(reduce(x, q), q) : to_bits(x);
        }
    }
}

// Layers [first, first + layers) of the inverse transform of some rows, the last ones first. Row i is read from
// input[sources[i]] and written to rows[places[i]]. The last launch, first = 0, multiplies it by a factor: scales[i]
// holds the factor over n and the same times the root of layer 0. Then it adds shifts[i], unless `shifts` is
// empty: a centred residue modulo q plus (q - 1)/2 is not negative.
KERNEL(inverse_pass)(Words rows, ConstWords places, ConstWords input, ConstWords sources, ConstWords primes,
                     ConstWords moduli, Doubles roots, Doubles scales, ConstWords shifts, u32 log_n, u32 log_block,
                     u32 first, u32 layers) {
    SHARED(double, shared, BLOCK_LENGTH + BLOCK_LENGTH / 16);
    const Part part = {log_n, log_block, first, layers, BLOCK_X};
    const u64 prime = primes[BLOCK_Y], table = prime << log_n;
    const u64 source = sources[BLOCK_Y] << log_n, row = places[BLOCK_Y] << log_n;
    const Modulus q = modulus_of(moduli, prime);
    const double scale = scales[2 * BLOCK_Y], scaled_root = scales[2 * BLOCK_Y + 1];
    EACH_THREAD(t) {
        for (u32 i = t; i < 1u << log_block; i += THREADS) {
            const u64 word = input[source + part.place(i)];
            shared[padded(i)] = part.is_last() ? number(word) : from_bits(word);
        }
    }
    BARRIER;
    for (u32 rest = layers; rest > 0;) {
        const u32 depth = rest < 3 ? rest : 3, layer = rest - depth;
        const bool is_scaled = first + layer == 0;
        EACH_THREAD(t) {
            for (u32 group = t; group < 1u << (log_block - depth); group += THREADS) {
                if (depth == 3) inverse_group<3>(shared, part, layer, group, table, roots, q, is_scaled, scale, scaled_root);
                if (depth == 2) inverse_group<2>(shared, part, layer, group, table, roots, q, is_scaled, scale, scaled_root);
                if (depth == 1) inverse_group<1>(shared, part, layer, group, table, roots, q, is_scaled, scale, scaled_root);
            }
        }
        BARRIER;
        rest = layer;
    }
    EACH_THREAD(t) {
        for (u32 i = t; i < 1u << log_block; i += THREADS) {
            const double x = shared[padded(i)];
            u64 word = to_bits(x);
            if (first == 0) word = canonical(reduce(x, q), q);
            if (first == 0 && shifts.length > 0) word = add_words(word, shifts[BLOCK_Y], q.word);
            rows[row + part.place(i)] = word;
        }
    }
}
