//! The extension module of the Python package `windlass`.
//!
//! It converts: NumPy arrays into slots and back, errors into exceptions, values into pickles, long
//! calls into calls that can be interrupted. What is computed is computed by the crates `windlass`,
//! `windlass-parties` and `windlass-retrieval`.
#![deny(unsafe_code)]

mod array;
mod array_layout;
mod bootstrapping;
mod broadcast;
mod ciphertext;
mod ciphertext_files;
mod circuit;
mod client;
mod context;
mod either;
mod elementwise;
mod error;
mod explicit;
mod for_circuits;
mod function_recipe;
mod functions;
mod handle;
mod linear;
mod matrix;
mod memory;
mod natural;
mod needs;
mod numbers;
mod operators;
mod parameters;
mod parties;
mod passphrase;
mod pickle;
mod planning;
mod prepared;
mod progress;
mod reduce;
mod reencryption;
mod refresh;
mod restore;
mod runtime;
mod server;
mod setting;
mod shared;
mod sparse;
mod sums;
mod table_client;
mod table_errors;
mod table_gathering;
mod table_keys;
mod table_oprf;
mod table_plan;
mod table_rows;
mod table_shards;
mod table_version;
mod tables;
mod training;

use pyo3::prelude::*;

/// The compiled half of the package `windlass`.
#[pymodule]
mod _windlass {
    #[pymodule_export]
    use super::array::PyCiphertext;
    #[pymodule_export]
    use super::bootstrapping::PyBootstrapping;
    #[pymodule_export]
    use super::circuit::PyCircuit;
    #[pymodule_export]
    use super::client::{PyClient, PyEncryptor};
    #[pymodule_export]
    use super::explicit::{
        PyExplicitCiphertext, PyExplicitClient, PyExplicitContext, PyExplicitPlaintext, PyExplicitServer,
    };
    #[pymodule_export]
    use super::matrix::PyLinear;
    #[pymodule_export]
    use super::needs::PyKeys;
    #[pymodule_export]
    use super::parameters::{approximate_parameters, plan_parameters, preset_parameters, presets};
    #[pymodule_export]
    use super::parties::{PyAgreement, PyAssembly, PyHandover, PyIdentity, PyParty, PyReading, restore_agreement};
    #[pymodule_export]
    use super::prepared::{PyPrepared, restore_prepared};
    #[pymodule_export]
    use super::reencryption::{PyReceivingKey, PyReencryptionKey};
    #[pymodule_export]
    use super::restore::{
        restore_blocks, restore_bootstrapping, restore_ciphertext, restore_circuit, restore_context, restore_encryptor,
        restore_filter, restore_keys, restore_linear, restore_server,
    };
    #[pymodule_export]
    use super::runtime::{set_threads, threads};
    #[pymodule_export]
    use super::server::PyServer;
    #[pymodule_export]
    use super::setting::PyContext;
    #[pymodule_export]
    use super::table_client::PyTableClient;
    #[pymodule_export]
    use super::table_gathering::PyTableGathering;
    #[pymodule_export]
    use super::table_keys::PyTableKeys;
    #[pymodule_export]
    use super::table_oprf::{PyHiddenKeys, PyOprfKey, PyTableBlinding};
    #[pymodule_export]
    use super::table_plan::{PyTablePlan, table_plan};
    #[pymodule_export]
    use super::table_shards::PyTableShard;
    #[pymodule_export]
    use super::tables::{PyTable, restore_table};
    #[pymodule_export]
    use super::training::{PyTraining, PyTrainingData, restore_training};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
