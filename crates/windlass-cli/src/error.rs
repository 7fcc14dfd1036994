//! What the command line reports, always with exit code 2.

use std::path::{Path, PathBuf};

use windlass::wire::{KeyId, WireError, prefixes};

use crate::report::{printable, shortened};
use crate::words::in_commands;

/// Every failure of a command.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A file could not be read or written, or holds something else than it should.
    #[error("{}: {source}{}", path.display(), about_dash(path))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: WireError,
    },
    /// Two files of different key pairs.
    #[error(
        "{}: it belongs to another key pair than {} ({}), or is damaged; use files of one key generation, or copy it again",
        path.display(), other.display(), prefixes(&names[0].0, &names[1].0, 6).map(|name| name + "...").join(" and ")
    )]
    OtherKeyPair {
        /// One file.
        path: PathBuf,
        /// The other.
        other: PathBuf,
        /// Their key pairs.
        names: [KeyId; 2],
    },
    /// A table that is no CSV, or has rows of different lengths.
    #[error("{}: not a table: {}", path.display(), printable(reason))]
    NotATable {
        /// The file.
        path: PathBuf,
        /// The parser's words.
        reason: String,
    },
    /// A table of numbers whose first line is one of them.
    #[error(
        "{}: a table must begin with a line of column names, but its first line holds only numbers ('{}'); add a line of names, or use names that are not numbers",
        path.display(), shortened_list(names)
    )]
    NoNames {
        /// The file.
        path: PathBuf,
        /// What stands where names should.
        names: Vec<String>,
    },
    /// A table without rows.
    #[error("{}: the table has a header but no rows; add at least one", path.display())]
    EmptyTable {
        /// The file.
        path: PathBuf,
    },
    /// A table that is longer than any that can be asked.
    #[error("{}: the file has {bytes} bytes, but at most {most} are read; split the table", path.display())]
    LargeFile {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// Something is missing, and files in directories were not taken.
    #[error("{source}; not taken: {first}{}", if *count > 1 { format!(" and {} more", count - 1) } else { String::new() })]
    Skipped {
        /// What is missing.
        source: Box<CliError>,
        /// How many files.
        count: usize,
        /// The first of them, and why.
        first: String,
    },
    /// No column of that name.
    #[error("no column '{}' in {}; its columns are {}", shortened(column), path.display(), shortened_list(columns))]
    UnknownColumn {
        /// The table.
        path: PathBuf,
        /// The name asked for.
        column: String,
        /// The names there are.
        columns: Vec<String>,
    },
    /// Two columns of one name.
    #[error("{}: two columns are named '{}'; rename one of them", path.display(), shortened(column))]
    DuplicateColumn {
        /// The table.
        path: PathBuf,
        /// The name.
        column: String,
    },
    /// A key value that names two rows.
    #[error(
        "{}: rows {first} and {second} have the same {} '{}'; each row needs a different key: choose another column with --key",
        path.display(), shortened(column), shortened(value)
    )]
    DuplicateKey {
        /// The table.
        path: PathBuf,
        /// The key column.
        column: String,
        /// The value.
        value: String,
        /// First row, counted from 1 after the header.
        first: usize,
        /// Second row.
        second: usize,
    },
    /// No row with that key.
    #[error(
        "no row where {} is '{}'{}", shortened(column), shortened(value),
        nearest.as_ref().map_or_else(|| "; give a value of that column".to_owned(), |n| format!("; did you mean '{}'?", shortened(n)))
    )]
    UnknownKey {
        /// The key column.
        column: String,
        /// The value asked for.
        value: String,
        /// The most similar key, where one is similar.
        nearest: Option<String>,
    },
    /// A key to remove that a table has no row of.
    #[error(
        "{}: no row has the key '{}', so nothing was removed; give only keys that the table has",
        path.display(), shortened(key)
    )]
    AbsentKey {
        /// The directory of the table.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// A file that is not a valid schema or model.
    #[error("{}: not {what}: {}", path.display(), printable(reason))]
    NotOfFormat {
        /// The file.
        path: PathBuf,
        /// What it should be.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// The message was made for another table or another version of it.
    #[error("{}: it was made for another table: its schema is {found}..., not {expected}...; give the schema that it was made for", path.display())]
    OtherTable {
        /// The file.
        path: PathBuf,
        /// First bytes of the schema hash in the file.
        found: String,
        /// First bytes of the hash of the schema in use.
        expected: String,
    },
    /// Encrypted rows or scores that were made for another schema.
    #[error(
        "{}: it was made for another schema: {found}..., not {expected}...; use one schema file to encrypt, score and decrypt",
        path.display()
    )]
    OtherScoringSchema {
        /// The file.
        path: PathBuf,
        /// First bytes of the schema hash in the file.
        found: String,
        /// First bytes of the hash of the schema in use.
        expected: String,
    },
    /// The decrypted slots are no row of the table.
    #[error(
        "the answer does not decrypt to a row of the table, so the server used another table or layout; ask again with the schema of the table that it serves"
    )]
    NotARow,
    /// The row is not the one asked for.
    #[error(
        "the answer holds the row of '{}', not of '{}', so it belongs to another query; give the answer to this query",
        shortened(found),
        shortened(wanted)
    )]
    OtherRow {
        /// Key of the row that came.
        found: String,
        /// Key that was asked for.
        wanted: String,
    },
    /// The row differs from the table's.
    #[error("the decrypted row differs from the row of the table; this is a bug of Windlass, please report it")]
    RowDiffers,
    /// A feature that is no finite number.
    #[error("{}: row {row} has {}{}", path.display(), what_stands(value, column), match remedy {
        Remedy::None if value.trim().is_empty() => "; write a number there, or remove the row".to_owned(),
        Remedy::None => "; correct it, or remove the row".to_owned(),
        Remedy::Skip if value.trim().is_empty() => format!(
            "; write a number there, remove the row, or leave the column out with --skip {}",
            quoted_argument(column)
        ),
        Remedy::Skip => format!("; correct it, or leave the column out with --skip {}", quoted_argument(column)),
        Remedy::SkipText => format!(
            "; the column holds no numbers: leave it out with --skip {}, or name it with --key if it names the rows",
            quoted_argument(column)
        ),
    })]
    NotANumber {
        /// The table.
        path: PathBuf,
        /// The row, counted from 1 after the header.
        row: usize,
        /// The column.
        column: String,
        /// What stands there.
        value: String,
        /// What can be done about the column.
        remedy: Remedy,
    },
    /// A feature beyond what the model is for.
    #[error(
        "{}: row {row} has '{}' in column '{}', but standardised features must be at most {bound} in absolute value; add a larger 'bound', or 'means' and 'scales', to the model",
        path.display(), shortened(value), shortened(column)
    )]
    LargeFeature {
        /// The table.
        path: PathBuf,
        /// The row, counted from 1 after the header.
        row: usize,
        /// The column.
        column: String,
        /// What stands there.
        value: String,
        /// The bound.
        bound: f64,
    },
    /// A table of whose columns none is a feature.
    #[error(
        "{}: no column is left for the features: --key, --label and --skip name all of them ({}); name fewer, or add columns of numbers",
        path.display(), shortened_list(columns)
    )]
    NoFeatures {
        /// The table.
        path: PathBuf,
        /// Its columns.
        columns: Vec<String>,
    },
    /// A table with another number of features than the model.
    #[error(
        "{}: the table has {found} feature columns, but the model takes {wanted}; leave columns out with --skip, or list the names of the columns as 'features' in the model",
        path.display()
    )]
    OtherFeatures {
        /// The table.
        path: PathBuf,
        /// Its features.
        found: usize,
        /// Those of the model.
        wanted: usize,
    },
    /// A column of labels, none of which is the name of a class.
    #[error(
        "{}: column '{}' has {}, but the classes of the model are {}; use the names of the column (\"classes\" in the model), or, for a model of one score, name the positive label with --positive",
        path.display(), shortened(column), quoted(labels), quoted(classes)
    )]
    NoClass {
        /// The table.
        path: PathBuf,
        /// The column.
        column: String,
        /// A few of its labels.
        labels: Vec<String>,
        /// The names of the classes.
        classes: Vec<String>,
    },
    /// A file that was made for another model than the server has.
    #[error("{}: it was made for another model than {}: {reason}", path.display(), model.display())]
    OtherModel {
        /// The file.
        path: PathBuf,
        /// The model.
        model: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// Keys of thin bootstrapping for a ciphertext that it would not keep.
    #[error(
        "{}: its slots hold ring elements, but the keys of {} refresh only integers; make keys with 'windlass refresh keygen --packed'",
        input.display(), keys.display()
    )]
    KeysForIntegers {
        /// The evaluation keys.
        keys: PathBuf,
        /// The ciphertext.
        input: PathBuf,
    },
    /// A ciphertext that is to be decrypted as what it does not hold.
    #[error("{}: its slots hold {content}; decrypt it {way}", path.display())]
    OtherContent {
        /// The ciphertext.
        path: PathBuf,
        /// What its slots hold.
        content: windlass::Content,
        /// How it is decrypted.
        way: &'static str,
    },
    /// Encrypted scores that decide otherwise than the plain ones.
    #[error("{rows} rows get another decision under encryption than in the clear")]
    ScoresDiffer {
        /// How many.
        rows: usize,
    },
    /// Decrypted values that are not those that were encrypted.
    #[error("value {index} decrypts to {found} instead of {wanted}; this is a bug of Windlass, please report it")]
    ValuesDiffer {
        /// Its position.
        index: usize,
        /// What came out.
        found: u64,
        /// What went in.
        wanted: u64,
    },
    /// Decrypted real numbers whose error is above the bound of their ciphertext.
    #[error(
        "value {index} decrypts to {found} instead of {wanted}, but the bound on its error is {bound:e}: give the values that were encrypted; if they were, this is a bug of Windlass, please report it"
    )]
    RealsDiffer {
        /// Its position.
        index: usize,
        /// What came out.
        found: f64,
        /// What should have come out.
        wanted: f64,
        /// The bound on the difference.
        bound: f64,
    },
    /// A schema whose parameters are below 128 bits.
    #[error(
        "{}: its parameters '{parameters}' have {bits:.1} bits of security, fewer than 128; ask its owner for a schema with 128 bits, or accept them with --insecure",
        path.display()
    )]
    WeakParameters {
        /// The schema.
        path: PathBuf,
        /// Its parameter set.
        parameters: String,
        /// λ.
        bits: f64,
    },
    /// A parameter file below 128 bits.
    #[error(
        "{}: the parameters '{}' have {bits:.1} bits of security, fewer than 128; choose other parameters (windlass params list), or accept these with --insecure",
        path.display(), shortened(parameters)
    )]
    WeakFile {
        /// The file.
        path: PathBuf,
        /// The name in it.
        parameters: String,
        /// λ.
        bits: f64,
    },
    /// A schema of a table that its own parameters do not take.
    #[error(
        "{}: the table ({rows} rows of up to {bytes} bytes) is too large for its parameters '{}'; only the owner of the table can choose others, so ask for another schema",
        path.display(), shortened(parameters)
    )]
    SchemaTooLarge {
        /// The schema.
        path: PathBuf,
        /// Rows of the table.
        rows: usize,
        /// Bytes of the longest row.
        bytes: usize,
        /// The parameter set.
        parameters: String,
    },
    /// A schema whose parameters are not valid.
    #[error(
        "{}: its parameters are not valid: {}; ask its owner for another schema, or use a newer Windlass",
        path.display(), printable(reason)
    )]
    SchemaParameters {
        /// The schema.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A search schema of another table of vectors.
    #[error(
        "{}: it was made for another table than {}; give the table that it was made from, or make a schema of this one with 'windlass search schema'",
        path.display(), table.display()
    )]
    OtherVectors {
        /// The schema.
        path: PathBuf,
        /// The table.
        table: PathBuf,
    },
    /// A query or an answer that was made for another search schema.
    #[error(
        "{}: it was made for another schema than {}, or is damaged: {found}..., not {expected}...; give the schema that it was made for, or ask again",
        path.display(), schema.display()
    )]
    OtherSearchSchema {
        /// The file.
        path: PathBuf,
        /// The schema in use.
        schema: PathBuf,
        /// First bytes of the hash in the file.
        found: String,
        /// First bytes of the hash of the schema in use.
        expected: String,
    },
    /// More memory than the system gives.
    #[error(
        "{what} need {bytes} bytes of memory, but the system does not provide them; close other programs or use a larger machine"
    )]
    Memory {
        /// What it is for.
        what: &'static str,
        /// How much.
        bytes: u64,
    },
    /// A table of any size, or what belongs to it, that the retrieval refused.
    #[error("{}: {source}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: windlass_retrieval::Error,
    },
    /// A directory whose table has another schema than the one to keep.
    #[error(
        "{}: the directory holds a table with the schema {found}..., but {} has the schema {known}...; give an empty directory with --out",
        dir.display(), path.display()
    )]
    OtherSchemaThere {
        /// The directory.
        dir: PathBuf,
        /// First bytes of the hash of its schema.
        found: String,
        /// Where the schema to keep is read.
        path: PathBuf,
        /// First bytes of the hash of that.
        known: String,
    },
    /// Decrypted scores that are not those of the clear.
    #[error("query {query}: {wrong} scores differ from those in the clear")]
    SearchDiffers {
        /// Its number, counted from 0.
        query: usize,
        /// How many.
        wrong: usize,
    },
    /// The retrieval of tables of any size refused.
    #[error(transparent)]
    Retrieval(#[from] windlass_retrieval::Error),
    /// A secret key or a passphrase was refused.
    #[error(transparent)]
    Secret(#[from] windlass_secrets::SecretError),
    /// A command that earlier versions had.
    #[error(
        "'windlass {name}' is a command of earlier versions: use '{replacement}'; files of earlier versions do not fit the new commands, so begin with 'windlass table build' ('windlass decrypt' reads answers of earlier versions)"
    )]
    RemovedCommand {
        /// Its name.
        name: &'static str,
        /// The command line that replaces it.
        replacement: &'static str,
    },
    /// What several parties do together was refused.
    #[error("{}", in_commands(printable(&.0.to_string())))]
    Party(#[from] windlass_parties::PartiesError),
    /// A file of several parties that was refused.
    #[error("{}: {}", path.display(), in_commands(printable(&source.to_string())))]
    Parties {
        /// The file.
        path: PathBuf,
        /// Why.
        source: windlass_parties::PartiesError,
    },
    /// A combination of options that means nothing.
    #[error("{0}")]
    Usage(String),
    /// A parameter file says what no set of parameters can be.
    #[error("{}: {}", path.display(), in_commands(source))]
    Parameters {
        /// The file.
        path: PathBuf,
        /// Which of its numbers, and why.
        source: windlass::Error,
    },
    /// The library refused.
    #[error("{}", in_commands(.0))]
    Windlass(#[from] windlass::Error),
}

/// What can be done about a column with a cell that is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The cell can be corrected: the column is asked for by its name.
    None,
    /// It can be left out.
    Skip,
    /// It can be left out, and should be: it holds no number.
    SkipText,
}

/// What stands where a number should.
fn what_stands(value: &str, column: &str) -> String {
    let column = shortened(column);
    match value.trim().is_empty() {
        true => format!("an empty cell in column '{column}', which must hold finite numbers"),
        false => format!("'{}' in column '{column}', which is not a finite number", shortened(value)),
    }
}

/// A name as an argument of a shell.
fn quoted_argument(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.,:+@%/".contains(c));
    let name = shortened(name);
    if plain { name } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

/// The hint about `-` if a file does not exist.
fn about_dash(path: &Path) -> &'static str {
    if path == Path::new("-") { "; for standard input give /dev/stdin" } else { "" }
}

/// The names of columns, the end left out when there are many.
fn shortened_list(columns: &[String]) -> String {
    const MOST: usize = 20;
    let names: Vec<String> = columns.iter().take(MOST).map(|column| shortened(column)).collect();
    let rest = columns.len().saturating_sub(MOST);
    if rest == 0 { names.join(", ") } else { format!("{} and {rest} more", names.join(", ")) }
}

/// A few names in quotation marks.
fn quoted(names: &[String]) -> String {
    let few: Vec<String> = names.iter().take(CliError::LABELS).map(|name| format!("'{}'", shortened(name))).collect();
    let rest = if names.len() > few.len() { " and more" } else { "" };
    few.join(", ") + rest
}

impl CliError {
    /// How many labels of a column are shown.
    pub const LABELS: usize = 3;

    /// Names the file of a refusal.
    pub fn at(path: &Path) -> impl FnOnce(WireError) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source }
    }
}

/// Results of commands.
pub type Result<T> = std::result::Result<T, CliError>;
