//! What `fn main` returns.

use std::error::Error;
use std::fmt;

/// The result of a program's `main`: an error is printed as its message, where the standard
/// library would print the value's `Debug` form.
///
/// ```no_run
/// fn main() -> windlass::MainResult {
///     let context = windlass::Context::preset("demo")?;
///     println!("{context}");
///     Ok(())
/// }
/// ```
pub type MainResult = Result<(), MainError>;

/// Any error, on its way out of `main`.
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
