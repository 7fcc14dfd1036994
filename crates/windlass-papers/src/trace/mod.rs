//! Trace-type functions: Inoue, Suzuki and Yamana 2022, Tables 2 and 3 and Figure 1.

mod application_page;
mod long_page;
pub mod pages;
pub mod parameters;
mod peers;
pub mod plots;
mod published;
pub mod reach;
pub mod results;
pub mod sixty;
mod sixty_page;
