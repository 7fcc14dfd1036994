//! The error type of this crate.

use windlass_kernels::KernelError;
use windlass_ring::RingError;

/// What can go wrong with a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// This build has no such device.
    #[error("this build has no {device} device: build windlass-gpu with the feature `{feature}`")]
    NotBuilt {
        /// The kind of device.
        device: &'static str,
        /// The feature that brings it.
        feature: &'static str,
    },
    /// NVIDIA's driver is missing.
    #[error("NVIDIA's driver is missing (libcuda.so.1): install it, or compute on the processor")]
    NoDriver,
    /// NVIDIA's compiler is missing.
    #[error(
        "NVIDIA's compiler is missing (libnvrtc.so): install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc-cu12` and add its folder nvidia/cuda_nvrtc/lib to LD_LIBRARY_PATH"
    )]
    NoCompiler,
    /// There are fewer GPUs.
    #[error("there is no GPU number {index}: this machine has {count}, counted from 0")]
    NoSuchDevice {
        /// The number asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The driver refused.
    #[error("NVIDIA's driver refused: {reason}")]
    Driver {
        /// What it says.
        reason: String,
    },
    /// The device has too little memory. What is on it stays as it is.
    #[error(
        "the device has no room for {wanted} bytes: its limit is {limit}, of which {used} are in use; drop polynomials or keys on it"
    )]
    OutOfMemory {
        /// Bytes asked for.
        wanted: usize,
        /// Bytes in use.
        used: usize,
        /// Bytes that it has.
        limit: usize,
    },
    /// A kernel could not be run, or found that a promise of this crate does not hold.
    #[error("the kernel {kernel} failed: {reason}")]
    Kernel {
        /// Its name.
        kernel: &'static str,
        /// What the device says.
        reason: String,
    },
    /// The transforms of the device are those of powers of two.
    #[error("devices have rings of m = 2^k alone, and here m = {m}: use the processor")]
    NotAPowerOfTwo {
        /// The cyclotomic index.
        m: u64,
    },
    /// A prime is too small for the sums of the device.
    #[error("the prime {prime} is too small for a device: its primes are above 2^9")]
    SmallPrime {
        /// The prime.
        prime: u64,
    },
    /// The tables of the device do not have this prime.
    #[error(
        "prime number {index} of the ring is not on the device: make the device's ring with all primes that are used"
    )]
    NoSuchPrime {
        /// Its index in the ring.
        index: usize,
    },
    /// Two values belong to different devices, or to different rings on one.
    #[error("the values belong to different rings or devices: upload both to one")]
    OtherRing,
    /// Two polynomials have different primes.
    #[error("the polynomials have different primes: bring both to one basis")]
    OtherBasis,
    /// A key has fewer pairs than there are digits.
    #[error("the key has {pairs} pairs, and {needed} are needed: upload a key for this level")]
    TooFewPairs {
        /// Pairs of the key.
        pairs: usize,
        /// Digits, and what was skipped before them.
        needed: usize,
    },
    /// The context has no such level.
    #[error("the context has no level {level}: its levels are 1 to {top}")]
    NoSuchLevel {
        /// The level.
        level: usize,
        /// The highest.
        top: usize,
    },
    /// More rows than one launch can take.
    #[error("{rows} rows are too many for a device: at most {most}")]
    TooManyRows {
        /// How many.
        rows: usize,
        /// The most.
        most: usize,
    },
    /// A word that came back is no residue: memory of the device was changed by something else.
    #[error("the device returned a word that is no residue: its memory is not trustworthy")]
    NotCanonical,
    /// The ring refused its arguments.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The kernels of the processor refused their arguments.
    #[error(transparent)]
    Processor(#[from] KernelError),
}
