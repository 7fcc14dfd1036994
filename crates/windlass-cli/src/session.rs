//! What all commands on one table share: its schema, the parameters, the product.

use std::fmt::Display;
use std::path::Path;

use windlass::lookup::Lookup;
use windlass::wire::{WireContext, prefixes};
use windlass::{Context, Params, Scheme};

use crate::args::{DEFAULT_PARAMETERS, SourceArgs};
use crate::error::{CliError, Result};
use crate::report::{print_message, rounded_down, shortened};
use crate::schema::{Parameters, Schema};
use crate::table::Table;
use crate::words::in_commands;

/// Below this many bits a schema's parameters are refused.
pub const SECURE_BITS: f64 = 128.0;

/// Runs before anything is made under parameters that the user chose: fewer than 128 bits must be
/// accepted. The name of a preset does, for it begins with `insecure` or `paper`; the name of a
/// file does not.
pub fn vouch(name: &str, bits: f64, given: &str, insecure: bool, quiet: bool) -> Result<()> {
    if Params::is_file_name(given) && bits < SECURE_BITS && !insecure {
        return Err(CliError::WeakFile { path: given.into(), parameters: name.to_owned(), bits });
    }
    tell_security(format_args!("parameters '{name}':"), bits, "", quiet);
    Ok(())
}

/// Tells λ of what is named, before anything is made; with `quiet` only where it is a warning.
pub fn tell_security(what: impl Display, bits: f64, more: &str, quiet: bool) {
    let weak = bits < SECURE_BITS;
    let warning = if weak { ", fewer than 128: use it only in tests" } else { "" };
    if weak || !quiet {
        print_message(format_args!("{what} {bits:.1} bits of security{warning}{more}"));
    }
}

/// A schema with everything built from it.
pub struct Session {
    /// The public shape of the table.
    pub schema: Schema,
    /// The parameters with their rings.
    pub context: Context,
    /// The product.
    pub lookup: Lookup,
}

impl Session {
    /// Builds the rings of a schema's parameters.
    pub fn new(schema: Schema) -> Result<Self> {
        let context = Context::from_params(schema.parameters.load()?)?;
        let lookup =
            Lookup::new(&context, schema.keys.len(), schema.record_bytes).map_err(|error| too_large(error, &schema))?;
        Ok(Self { schema, context, lookup })
    }

    /// From a schema file, or from a table and the name of its key column.
    pub fn open(source: &SourceArgs) -> Result<Self> {
        match (&source.schema, &source.table, &source.key) {
            (Some(path), _, _) => {
                let schema = Schema::read(path)?;
                let asked = source.params.as_deref().map(Parameters::given).transpose()?;
                if let Some(asked) = asked.filter(|asked| *asked != schema.parameters) {
                    let (asked, found) = (asked.name(), schema.parameters.name());
                    return Err(CliError::OtherParameters { path: path.clone(), asked, found });
                }
                Self::new(schema).map_err(|error| of_schema(path, error))
            }
            (None, Some(table), Some(key)) => {
                let parameters = source.params.as_deref().unwrap_or(DEFAULT_PARAMETERS);
                Self::new(Schema::of(&Table::read(table, key)?, Parameters::given(parameters)?))
            }
            _ => Err(CliError::Usage("give --schema FILE, or --table FILE with --key COLUMN".into())),
        }
    }

    /// From a table.
    pub fn of_table(table: &Table, parameters: &str) -> Result<Self> {
        Self::new(Schema::of(table, Parameters::given(parameters)?))
    }

    /// For a client, before it makes keys or a query: a stranger's schema names the parameters, so
    /// it is refused below 128 bits unless the client accepts that, and so is a parameter file. The
    /// client also prints the security.
    pub fn vouch(&self, source: &SourceArgs, quiet: bool) -> Result<()> {
        let bits = self.security_bits();
        if let Some(path) = source.schema.as_ref().filter(|_| bits < SECURE_BITS && !source.insecure) {
            let parameters = self.params().name().to_owned();
            return Err(CliError::WeakParameters { path: path.clone(), parameters, bits });
        }
        self.vouch_given(source.params.as_deref().unwrap_or_default(), source.insecure, quiet)
    }

    /// As [`Self::vouch`], for the user that chose the parameters as `given`, by name or as a file.
    pub fn vouch_given(&self, given: &str, insecure: bool, quiet: bool) -> Result<()> {
        vouch(self.params().name(), self.security_bits(), given, insecure, quiet)
    }

    /// Refuses a message that was made for another table.
    pub fn check_table(&self, path: &Path, schema: &[u8; 32]) -> Result<()> {
        let expected = self.schema.hash();
        if *schema == expected {
            return Ok(());
        }
        let [found, expected] = prefixes(schema, &expected, 4);
        Err(CliError::OtherTable { path: path.into(), found, expected })
    }

    /// λ in bits, rounded down to a tenth: what is printed is never more than what is claimed.
    pub fn security_bits(&self) -> f64 {
        rounded_down(self.params().rlwe().security().bits)
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        self.context.params()
    }

    /// What files must agree with.
    pub fn files(&self) -> &WireContext {
        self.context.files()
    }
}

/// Names the schema that a client was given: its parameters are its owner's to choose.
fn of_schema(path: &Path, error: CliError) -> CliError {
    let path = path.to_owned();
    match error {
        CliError::TooLarge { rows, bytes, parameters, .. } => {
            CliError::SchemaTooLarge { path, rows, bytes, parameters }
        }
        CliError::Windlass(windlass::Error::UnknownName { given, .. }) => {
            CliError::SchemaParameters { path, reason: format!("there is no parameter set '{}'", shortened(&given)) }
        }
        CliError::Windlass(error) => CliError::SchemaParameters { path, reason: in_commands(error) },
        other => other,
    }
}

/// Largest of the sets with 128 bits: what a table is tried with that is too large for another.
const LARGEST: &str = "bgv_n32768";

/// Names a parameter set that would take the table, if one does.
fn too_large(error: windlass::Error, schema: &Schema) -> CliError {
    let windlass::Error::TableTooLarge { .. } = error else { return error.into() };
    let fits = || -> windlass::Result<bool> {
        let slots = Params::preset(LARGEST, Scheme::Bgv)?.slot_ring()?;
        Ok(Lookup::new(&slots, schema.keys.len(), schema.record_bytes).is_ok())
    };
    let parameters = schema.parameters.name();
    let larger = (parameters != LARGEST && fits().unwrap_or(false)).then_some(LARGEST);
    let (rows, bytes) = (schema.keys.len(), schema.record_bytes);
    CliError::TooLarge { rows, bytes, parameters, larger }
}
