// What differs between a GPU and the emulated device. Kernels are written over these macros alone.
//
// KERNEL(name)(arguments) { .. }  one kernel; a launch has a grid of blocks of THREADS threads
// EACH_THREAD(t) { .. }           what thread t of the block does; no local variable of one section lives in the next
// BARRIER;                        between two sections, so that a thread sees what others have written
// SHARED(type, name, length);     memory that the threads of a block share
// REQUIRE(condition);             what the bounds promise; checked on the emulated device alone
//
// The emulated device is a loop over blocks and, section by section, over threads. It checks every
// access to a Span, refuses two sections without a barrier between them, and runs threads in ascending
// or in descending order: results that depend on the order come from a race inside a section.
#pragma once

typedef unsigned long long u64;
typedef unsigned int u32;

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define KERNEL(name) extern "C" __global__ void name
#define DEVICE static __device__ __forceinline__
#define DEVICE_MEMBER __device__ __forceinline__
#define EACH_THREAD(thread) if (const u32 thread = threadIdx.x; true)
#define BARRIER __syncthreads()
#define SHARED(type, name, length) __shared__ type name[length]
#define REQUIRE(condition)
#define BLOCK_X blockIdx.x
#define BLOCK_Y blockIdx.y
#define THREADS blockDim.x
#define UNROLL _Pragma("unroll")

DEVICE double fused(double x, double y, double z) { return __fma_rn(x, y, z); }
DEVICE double times(double x, double y) { return __dmul_rn(x, y); }
DEVICE double plus(double x, double y) { return __dadd_rn(x, y); }
DEVICE double minus(double x, double y) { return __dsub_rn(x, y); }
DEVICE double nearest(double x) { return rint(x); }
DEVICE double magnitude(double x) { return fabs(x); }
DEVICE double from_bits(u64 x) { return __longlong_as_double((long long)x); }
DEVICE u64 to_bits(double x) { return (u64)__double_as_longlong(x); }
// The lowest `count` bits in reverse, 1 <= count <= 32.
DEVICE u32 reversed(u32 x, u32 count) { return __brev(x) >> (32 - count); }

#else

namespace emulated {
extern thread_local u32 block_x, block_y, threads;
extern thread_local bool descending, has_section;
extern thread_local const char *failure;
inline u32 number_of(u32 count) { return descending ? threads - 1 - count : count; }
inline void fail(const char *what) {
    if (!failure) failure = what;
}
// The first thread of a section.
inline u32 begin() {
    if (has_section) fail("two sections without a barrier");
    has_section = true;
    return 0;
}
}

#define KERNEL(name) static void name
#define DEVICE static inline
#define DEVICE_MEMBER
#define EACH_THREAD(thread)                                                       \
    for (u32 count_##thread = emulated::begin(); count_##thread < emulated::threads; ++count_##thread) \
        if (const u32 thread = emulated::number_of(count_##thread); true)
#define BARRIER emulated::has_section = false
#define SHARED(type, name, length) static thread_local type name[length]
#define REQUIRE(condition) \
    if (!(condition)) emulated::fail("the bound `" #condition "` does not hold")
#define BLOCK_X emulated::block_x
#define BLOCK_Y emulated::block_y
#define THREADS emulated::threads
#define UNROLL

DEVICE double fused(double x, double y, double z) { return __builtin_fma(x, y, z); }
DEVICE double times(double x, double y) { return x * y; }
DEVICE double plus(double x, double y) { return x + y; }
DEVICE double minus(double x, double y) { return x - y; }
DEVICE double nearest(double x) { return __builtin_rint(x); }
DEVICE double magnitude(double x) { return __builtin_fabs(x); }
DEVICE double from_bits(u64 x) {
    double y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
DEVICE u64 to_bits(double x) {
    u64 y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
DEVICE u32 reversed(u32 x, u32 count) {
    u32 y = 0;
    for (u32 i = 0; i < count; ++i) y |= (x >> i & 1) << (count - 1 - i);
    return y;
}

#endif

// Words of 64 bits in device memory: where they begin, and how many there are.
template <class T>
struct Span {
    T *data;
    u64 length;

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    DEVICE_MEMBER T &operator[](u64 i) const { return data[i]; }
#else
    T &operator[](u64 i) const {
        alignas(8) static thread_local unsigned char nothing[8];
        if (i < length) return data[i];
        emulated::fail("an index is beyond the end of a buffer");
        return *reinterpret_cast<T *>(nothing);
    }
#endif
};

typedef Span<u64> Words;
typedef Span<const u64> ConstWords;
typedef Span<const double> Doubles;
