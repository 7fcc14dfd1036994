// The emulated device: memory, and kernels by their names, as a CUDA driver has them.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "convert.cu"
#include "rows.cu"
#include "transform.cu"

// What a kernel must not do, for the test of the emulated device: its second section has no barrier before it.
KERNEL(without_barrier)(Words out) {
    EACH_THREAD(t) { out[t] = 1; }
    EACH_THREAD(t) { out[t] += out[THREADS - 1 - t]; }
}

// The same: each thread reads what its neighbour writes in the same section.
KERNEL(with_race)(Words out) {
    EACH_THREAD(t) { out[t] = t; }
    BARRIER;
    EACH_THREAD(t) { out[t] += out[(t + 1) % THREADS]; }
}

namespace emulated {
thread_local u32 block_x, block_y, threads;
thread_local bool descending, has_section;
thread_local const char *failure;

// Kinds of arguments: a span of two words, a word, half a word.
template <class A>
struct Kind {
    static const char letter = 's';
};
template <>
struct Kind<u64> {
    static const char letter = 'w';
};
template <>
struct Kind<u32> {
    static const char letter = 'h';
};

struct Kernel {
    const char *name;
    void (*call)(void **);
    bool (*takes)(const char *);
};

template <auto F, class... A, std::size_t... I>
void unpack(void (*)(A...), void **arguments, std::index_sequence<I...>) {
    F(*static_cast<A *>(arguments[I])...);
}

template <auto F, class... A>
void call_with(void (*f)(A...), void **arguments) {
    unpack<F>(f, arguments, std::index_sequence_for<A...>());
}

template <class... A>
bool matches(void (*)(A...), const char *kinds) {
    const char expected[] = {Kind<A>::letter..., 0};
    return std::strcmp(kinds, expected) == 0;
}

template <auto F>
void call(void **arguments) {
    call_with<F>(F, arguments);
}

template <auto F>
bool takes(const char *kinds) {
    return matches(F, kinds);
}

#define ENTRY(name) {#name, call<name>, takes<name>}

static const Kernel KERNELS[] = {
    ENTRY(forward_pass), ENTRY(inverse_pass), ENTRY(add_rows),         ENTRY(sub_rows),
    ENTRY(mul_rows),     ENTRY(mul_add_rows), ENTRY(scale_rows),       ENTRY(tensor_rows),
    ENTRY(permute_rows), ENTRY(permute_add_rows), ENTRY(finish_rows),  ENTRY(convert_rows),
    ENTRY(excess_row),   ENTRY(key_product),  ENTRY(without_barrier),  ENTRY(with_race),
};
}  // namespace emulated

// The address of so many words, cleared; 0 if there is no memory.
extern "C" u64 windlass_gpu_allocate(u64 words) {
    return reinterpret_cast<u64>(std::calloc(words == 0 ? 1 : words, 8));
}

extern "C" void windlass_gpu_release(u64 address) { std::free(reinterpret_cast<void *>(address)); }

extern "C" void windlass_gpu_write(u64 address, const u64 *from, u64 words) {
    std::memcpy(reinterpret_cast<void *>(address), from, 8 * words);
}

extern "C" void windlass_gpu_read(u64 address, u64 *to, u64 words) {
    std::memcpy(to, reinterpret_cast<const void *>(address), 8 * words);
}

// Runs a kernel. What went wrong, or null. `kinds` has a letter for each argument (Kind).
extern "C" const char *windlass_gpu_launch(const char *name, u32 blocks_x, u32 blocks_y, u32 threads, bool descending,
                                           const char *kinds, void **arguments) {
    for (const emulated::Kernel &kernel : emulated::KERNELS) {
        if (std::strcmp(kernel.name, name) != 0) continue;
        if (!kernel.takes(kinds)) return "the kernel takes other arguments";
        emulated::threads = threads;
        emulated::descending = descending;
        emulated::failure = nullptr;
        const u64 blocks = (u64)blocks_x * blocks_y;
        for (u64 count = 0; count < blocks && !emulated::failure; ++count) {
            const u64 block = descending ? blocks - 1 - count : count;
            emulated::block_x = block % blocks_x;
            emulated::block_y = block / blocks_x;
            emulated::has_section = false;
            kernel.call(arguments);
        }
        return emulated::failure;
    }
    return "no kernel has this name";
}
