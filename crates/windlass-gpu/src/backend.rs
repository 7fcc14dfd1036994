//! The kinds of devices of this build.

use std::convert::Infallible;

use crate::argument::{Argument, Launch};
#[cfg(feature = "cuda")]
use crate::cuda;
#[cfg(feature = "emulated")]
use crate::emulated;

/// A device of some kind.
#[derive(Debug)]
#[allow(dead_code)]
pub(crate) enum Backend {
    #[cfg(feature = "emulated")]
    Emulated(emulated::Emulated),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Cuda),
    /// There may be no kind at all.
    None(Infallible),
}

/// Memory of a device of that kind.
#[derive(Debug)]
#[allow(dead_code)]
pub(crate) enum Block {
    #[cfg(feature = "emulated")]
    Emulated(emulated::Block),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Block),
    None(Infallible),
}

#[cfg_attr(not(any(feature = "cuda", feature = "emulated")), allow(unused_variables))]
impl Backend {
    /// So many words of unspecified content, or none if there is no memory.
    pub fn allocate(&self, words: usize) -> Result<Option<Block>, String> {
        match self {
            #[cfg(feature = "emulated")]
            Self::Emulated(device) => Ok(device.allocate(words).map(Block::Emulated)),
            #[cfg(feature = "cuda")]
            Self::Cuda(device) => Ok(device.allocate(words)?.map(Block::Cuda)),
            Self::None(never) => match *never {},
        }
    }

    pub fn write(&self, block: &Block, words: &[u64]) -> Result<(), String> {
        match (self, block) {
            #[cfg(feature = "emulated")]
            (Self::Emulated(device), Block::Emulated(block)) => {
                device.write(block, words);
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(device), Block::Cuda(block)) => device.write(block, words),
            _ => Err(other_kind()),
        }
    }

    pub fn read(&self, block: &Block, words: &mut [u64]) -> Result<(), String> {
        match (self, block) {
            #[cfg(feature = "emulated")]
            (Self::Emulated(device), Block::Emulated(block)) => {
                device.read(block, words);
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(device), Block::Cuda(block)) => device.read(block, words),
            _ => Err(other_kind()),
        }
    }

    /// Runs a kernel. A span is a block and the words of it that the kernel may use.
    pub fn launch(&self, launch: Launch, arguments: &[Argument<(&Block, usize)>]) -> Result<(), String> {
        match self {
            #[cfg(feature = "emulated")]
            Self::Emulated(device) => {
                let arguments = arguments.iter().map(|argument| {
                    argument.try_map(|(block, words)| match block {
                        Block::Emulated(block) => Ok((block, words)),
                        _ => Err(other_kind()),
                    })
                });
                device.launch(launch, &arguments.collect::<Result<Vec<_>, _>>()?)
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(device) => {
                let arguments = arguments.iter().map(|argument| {
                    argument.try_map(|(block, words)| match block {
                        Block::Cuda(block) => Ok((block, words)),
                        _ => Err(other_kind()),
                    })
                });
                device.launch(launch, &arguments.collect::<Result<Vec<_>, _>>()?)
            }
            Self::None(never) => match *never {},
        }
    }
}

fn other_kind() -> String {
    "its memory is that of another kind of device".to_owned()
}
