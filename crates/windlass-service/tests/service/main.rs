//! The service as its users meet it: processes that talk over HTTP.
#![forbid(unsafe_code)]

mod access;
mod asking;
mod common;
mod hidden;
mod hostile;
mod loaded;
mod mailbox;
mod page;
mod pressure;
mod replaced;
mod shutdown;
#[cfg(unix)]
mod terminal;
mod tls;
