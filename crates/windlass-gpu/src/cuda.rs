//! NVIDIA's GPUs: driver and compiler are loaded when a device is asked for, and the kernels compiled for it.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchConfig,
    PushKernelArg,
};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};

use crate::argument::{Argument, Launch};
use crate::error::DeviceError;

/// The kernels, as one text: headers first.
const SOURCES: [&str; 5] = [
    include_str!("../kernels/device.h"),
    include_str!("../kernels/modular.h"),
    include_str!("../kernels/convert.cu"),
    include_str!("../kernels/rows.cu"),
    include_str!("../kernels/transform.cu"),
];

/// A GPU.
pub(crate) struct Cuda {
    stream: Arc<CudaStream>,
    module: Arc<CudaModule>,
    functions: Mutex<HashMap<&'static str, CudaFunction>>,
    /// Bytes of memory that were free when it was opened.
    free: usize,
}

/// Words of its memory.
#[derive(Debug)]
pub(crate) struct Block {
    slice: Mutex<CudaSlice<u64>>,
    address: u64,
    words: usize,
}

/// A buffer as kernels take it: Span in kernels/device.h.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Span {
    address: u64,
    words: u64,
}

// SAFETY: two words without padding, as the kernels declare them.
unsafe impl DeviceRepr for Span {}

/// An argument where it lies during a launch.
enum Value {
    Span(Span),
    Word(u64),
    Half(u32),
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda").field("free", &self.free).finish_non_exhaustive()
    }
}

/// The kernels without lines that name each other.
fn source() -> String {
    let is_kept = |line: &&str| !line.starts_with("#include") && !line.starts_with("#pragma once");
    SOURCES.iter().flat_map(|text| text.lines()).filter(is_kept).flat_map(|line| [line, "\n"]).collect()
}

fn driver(error: DriverError) -> DeviceError {
    DeviceError::Driver { reason: error.to_string() }
}

impl Cuda {
    /// GPU number `index`.
    pub fn new(index: usize) -> Result<Self, DeviceError> {
        // SAFETY: the initialisers of NVIDIA's libraries are run, which is what a caller asks for.
        let (has_driver, has_compiler) =
            unsafe { (cudarc::driver::sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present()) };
        if !has_driver {
            return Err(DeviceError::NoDriver);
        }
        if !has_compiler {
            return Err(DeviceError::NoCompiler);
        }
        let count = CudaContext::device_count().map_err(driver)?.max(0) as usize;
        if index >= count {
            return Err(DeviceError::NoSuchDevice { index, count });
        }
        let context = CudaContext::new(index).map_err(driver)?;
        let (major, minor) = context.compute_capability().map_err(driver)?;
        let (free, _) = context.mem_get_info().map_err(driver)?;
        let architecture = format!("--gpu-architecture=compute_{major}{minor}");
        let options = CompileOptions {
            // Products and sums are fused where the source says so, and nowhere else.
            fmad: Some(false),
            options: vec![architecture, "--std=c++17".to_owned()],
            ..CompileOptions::default()
        };
        let code = compile_ptx_with_opts(source(), options);
        let code = code.map_err(|error| DeviceError::Driver { reason: format!("kernels do not compile: {error}") })?;
        let module = context.load_module(code).map_err(driver)?;
        Ok(Self { stream: context.default_stream(), module, functions: Mutex::default(), free })
    }

    /// Bytes of memory that were free when it was opened.
    pub fn free_bytes(&self) -> usize {
        self.free
    }

    /// So many words, cleared; none if there is no memory.
    pub fn allocate(&self, words: usize) -> Result<Option<Block>, String> {
        match self.stream.alloc_zeros::<u64>(words.max(1)) {
            Ok(slice) => {
                let (address, _) = slice.device_ptr(&self.stream);
                Ok(Some(Block { slice: Mutex::new(slice), address, words }))
            }
            Err(DriverError(cudarc::driver::sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Writes the words from the beginning.
    pub fn write(&self, block: &Block, from: &[u64]) -> Result<(), String> {
        let mut slice = block.slice.lock().unwrap_or_else(PoisonError::into_inner);
        self.stream.memcpy_htod(from, &mut *slice).map_err(|error| error.to_string())
    }

    /// Reads words from the beginning, after all launches before.
    pub fn read(&self, block: &Block, to: &mut [u64]) -> Result<(), String> {
        let slice = block.slice.lock().unwrap_or_else(PoisonError::into_inner);
        let words = slice.slice(0..to.len());
        let copied = self.stream.memcpy_dtoh(&words, to).and_then(|()| self.stream.synchronize());
        copied.map_err(|error| error.to_string())
    }

    fn function(&self, kernel: &'static str) -> Result<CudaFunction, String> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = functions.get(kernel) {
            return Ok(found.clone());
        }
        let found = self.module.load_function(kernel).map_err(|error| error.to_string())?;
        functions.insert(kernel, found.clone());
        Ok(found)
    }

    /// Puts a kernel into the stream, after everything before.
    pub fn launch(&self, launch: Launch, arguments: &[Argument<(&Block, usize)>]) -> Result<(), String> {
        let value = |argument: &Argument<(&Block, usize)>| match *argument {
            Argument::Span((block, words)) => {
                assert!(words <= block.words, "what the block has");
                Value::Span(Span { address: block.address, words: words as u64 })
            }
            Argument::Nothing => Value::Span(Span { address: 0, words: 0 }),
            Argument::Word(word) => Value::Word(word),
            Argument::Half(half) => Value::Half(half),
        };
        let (values, function) = (arguments.iter().map(value).collect::<Vec<_>>(), self.function(launch.kernel)?);
        let mut builder = self.stream.launch_builder(&function);
        for value in &values {
            match value {
                Value::Span(span) => builder.arg(span),
                Value::Word(word) => builder.arg(word),
                Value::Half(half) => builder.arg(half),
            };
        }
        let [x, y] = launch.grid;
        let config = LaunchConfig { grid_dim: (x, y, 1), block_dim: (launch.threads, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the arguments are those that the emulated device, which runs the same calls in tests, checks by
        // kind, and it finds no index beyond a span. Memory that a span names is freed in the order of this one
        // stream, after the launch.
        unsafe { builder.launch(config) }.map(drop).map_err(|error| error.to_string())
    }
}
