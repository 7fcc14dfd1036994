//! The kinds of devices of this build.

use crate::argument::{Argument, Launch};
#[cfg(feature = "emulated")]
use crate::emulated;

/// A device of some kind.
#[derive(Debug)]
pub(crate) enum Backend {
    #[cfg(feature = "emulated")]
    Emulated(emulated::Emulated),
    /// There is none in this build.
    #[cfg(not(feature = "emulated"))]
    #[allow(dead_code)]
    None(std::convert::Infallible),
}

/// Memory of a device of that kind.
#[derive(Debug)]
pub(crate) enum Block {
    #[cfg(feature = "emulated")]
    Emulated(emulated::Block),
    #[cfg(not(feature = "emulated"))]
    #[allow(dead_code)]
    None(std::convert::Infallible),
}

#[cfg(feature = "emulated")]
impl Backend {
    /// So many words of unspecified content, or none if there is no memory.
    pub fn allocate(&self, words: usize) -> Option<Block> {
        let Self::Emulated(device) = self;
        device.allocate(words).map(Block::Emulated)
    }

    pub fn write(&self, block: &Block, words: &[u64]) -> Result<(), String> {
        let (Self::Emulated(device), Block::Emulated(block)) = (self, block);
        device.write(block, words);
        Ok(())
    }

    pub fn read(&self, block: &Block, words: &mut [u64]) -> Result<(), String> {
        let (Self::Emulated(device), Block::Emulated(block)) = (self, block);
        device.read(block, words);
        Ok(())
    }

    /// Runs a kernel. A span is a block and the words of it that the kernel may use.
    pub fn launch(&self, launch: Launch, arguments: &[Argument<(&Block, usize)>]) -> Result<(), String> {
        let Self::Emulated(device) = self;
        let arguments: Vec<_> =
            arguments.iter().map(|argument| argument.map(|(Block::Emulated(block), words)| (block, words))).collect();
        device.launch(launch, &arguments)
    }
}

#[cfg(not(feature = "emulated"))]
impl Backend {
    pub fn allocate(&self, _: usize) -> Option<Block> {
        let Self::None(never) = self;
        match *never {}
    }

    pub fn write(&self, _: &Block, _: &[u64]) -> Result<(), String> {
        let Self::None(never) = self;
        match *never {}
    }

    pub fn read(&self, _: &Block, _: &mut [u64]) -> Result<(), String> {
        let Self::None(never) = self;
        match *never {}
    }

    pub fn launch(&self, _: Launch, _: &[Argument<(&Block, usize)>]) -> Result<(), String> {
        let Self::None(never) = self;
        match *never {}
    }
}
