//! A run as a page, as Markdown, and beside another run.

mod against;
mod chart;
pub mod compare;
mod escape;
pub mod html;
pub mod markdown;
mod table;
mod then;

pub use table::figure;
