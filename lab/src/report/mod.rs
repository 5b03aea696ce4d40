//! A run as a page, as Markdown, and beside another run.

mod chart;
pub mod compare;
mod escape;
pub mod html;
pub mod markdown;
mod table;
