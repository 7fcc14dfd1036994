//! Earlier names, for one release.

use std::path::Path;

use crate::{Result, RowStatistics, Table, TableRequirements};

/// The earlier name of [`crate::TableRequirements`].
#[deprecated(since = "0.3.0", note = "use TableRequirements")]
pub type Wish = TableRequirements;

/// The earlier name of [`crate::SELECTIONS_PER_PASS`].
#[deprecated(since = "0.3.0", note = "use SELECTIONS_PER_PASS")]
pub const TOGETHER: usize = crate::SELECTIONS_PER_PASS;

/// The earlier name of [`crate::POINT_BYTES`].
#[deprecated(since = "0.3.0", note = "use POINT_BYTES")]
pub const POINT: usize = crate::POINT_BYTES;

/// The earlier name of [`crate::OUTPUT_BYTES`].
#[deprecated(since = "0.3.0", note = "use OUTPUT_BYTES")]
pub const OUTPUT: usize = crate::OUTPUT_BYTES;

/// The earlier name of [`crate::SCHEMA_FILE`].
#[deprecated(since = "0.3.0", note = "use SCHEMA_FILE")]
pub const SCHEMA: &str = crate::SCHEMA_FILE;

/// The earlier name of [`crate::format_bytes`].
#[deprecated(since = "0.3.0", note = "use format_bytes")]
pub fn size(bytes: u64) -> String {
    crate::format_bytes(bytes)
}

impl Table {
    /// The earlier name of [`Self::check_requirements`].
    ///
    /// # Errors
    /// As [`Self::check_requirements`].
    #[deprecated(since = "0.3.0", note = "use check_requirements")]
    pub fn check_wish(dir: &Path, rows: RowStatistics, requirements: &TableRequirements) -> Result<()> {
        Self::check_requirements(dir, rows, requirements)
    }
}
