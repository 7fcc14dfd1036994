//! The return type of `fn main` in programs that use the library.

use std::error::Error;
use std::fmt;

/// The result of a program's `main`. An error is printed as its message; the standard library would
/// print the value's `Debug` form instead.
///
/// ```no_run
/// fn main() -> windlass::MainResult {
///     let context = windlass::Context::preset("demo")?;
///     println!("{context}");
///     Ok(())
/// }
/// ```
pub type MainResult = Result<(), MainError>;

/// Any error that `main` returns.
pub struct MainError(Box<dyn Error>);

impl<E: Error + 'static> From<E> for MainError {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl fmt::Debug for MainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, "\n  because {error}")?;
            source = error.source();
        }
        Ok(())
    }
}
