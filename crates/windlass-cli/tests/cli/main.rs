//! The command line as its users meet it: separate processes, files, exit codes.
#![forbid(unsafe_code)]

#[cfg(unix)]
mod beside;
mod common;
#[cfg(target_os = "linux")]
mod damage;
mod demo;
mod earlier;
mod interrupted;
#[cfg(target_os = "linux")]
mod limits;
mod neighbours;
mod odd;
mod party;
mod refresh;
mod refusals;
mod score;
mod score_steps;
mod sealed;
mod search;
#[cfg(target_os = "linux")]
mod tables;
#[cfg(unix)]
mod terminal;
mod train;
#[cfg(unix)]
mod trust;
#[cfg(target_os = "linux")]
mod workshop;
