//! Tables that hide their keys: what a client makes of keys with the help of the server.

use js_sys::Array;
use wasm_bindgen::prelude::*;
use windlass_retrieval::{Blinding, HiddenKeys, OUTPUT_BYTES, Schema, Wanted};
use zeroize::Zeroizing;

use crate::Result;
use crate::error::refuse_lookup;

/// Keys that the server is to help with, without learning them.
#[wasm_bindgen]
pub struct TableBlinding {
    blinding: Blinding,
}

impl TableBlinding {
    pub(crate) fn new(keys: Vec<Vec<u8>>) -> Result<Self> {
        Ok(Self { blinding: Blinding::new(&Zeroizing::new(keys)).map_err(refuse_lookup)? })
    }
}

#[wasm_bindgen]
impl TableBlinding {
    /// The points to send: 32 bytes for each key.
    #[wasm_bindgen(getter)]
    pub fn points(&self) -> Vec<u8> {
        self.blinding.points().to_vec()
    }

    /// What stands for the keys, from the points that the server returned.
    pub fn finish(&self, helped: &[u8]) -> Result<TableHiddenKeys> {
        Ok(TableHiddenKeys { outputs: Zeroizing::new(self.blinding.finish(helped).map_err(refuse_lookup)?) })
    }
}

/// What stands for keys in a table that hides them.
#[wasm_bindgen]
pub struct TableHiddenKeys {
    outputs: Zeroizing<Vec<[u8; OUTPUT_BYTES]>>,
}

impl TableHiddenKeys {
    /// What a query asks for.
    pub(crate) fn wanted(&self, schema: &Schema) -> Result<Wanted> {
        Ok(self.of(schema)?.wanted())
    }

    /// The rows, from what an answer holds.
    pub(crate) fn open(&self, schema: &Schema, rows: Vec<Option<Vec<u8>>>) -> Result<Vec<Option<Vec<u8>>>> {
        self.of(schema)?.open(rows).map_err(refuse_lookup)
    }

    fn of<'s>(&self, schema: &'s Schema) -> Result<HiddenKeys<'s>> {
        HiddenKeys::new(schema, self.outputs.to_vec()).map_err(refuse_lookup)
    }
}

/// A list of strings of bytes.
pub(crate) fn strings(list: &Array) -> Vec<Vec<u8>> {
    list.iter().map(|bytes| js_sys::Uint8Array::new(&bytes).to_vec()).collect()
}
