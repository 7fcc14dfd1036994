//! What kernels take.

/// An argument of a kernel; `B` is how a device names a part of its memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument<B> {
    /// A buffer: its address and its length in words.
    Span(B),
    /// No buffer, where a kernel may do without.
    Nothing,
    /// 64 bits.
    Word(u64),
    /// 32 bits.
    Half(u32),
}

impl<B> Argument<B> {
    /// The same argument with another name for the memory, if there is one.
    pub fn try_map<C, E>(self, f: impl Fn(B) -> Result<C, E>) -> Result<Argument<C>, E> {
        Ok(match self {
            Argument::Span(block) => Argument::Span(f(block)?),
            Argument::Nothing => Argument::Nothing,
            Argument::Word(word) => Argument::Word(word),
            Argument::Half(half) => Argument::Half(half),
        })
    }

    /// The same argument with another name for the memory.
    pub fn map<C>(self, f: impl Fn(B) -> C) -> Argument<C> {
        let mapped: Result<_, std::convert::Infallible> = self.try_map(|block| Ok(f(block)));
        match mapped {
            Ok(argument) => argument,
        }
    }
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(any(feature = "cuda", feature = "emulated")), allow(dead_code))]
pub(crate) struct Launch {
    /// Its name.
    pub kernel: &'static str,
    /// Blocks, in both directions.
    pub grid: [u32; 2],
    /// Threads of a block.
    pub threads: u32,
}
