//! The watch against a server that cuts, goes away, lies silent, and answers web pages.

mod cut_points;
mod endings;
mod feed;
mod filter;
mod lines;
mod resume;
mod resync;
mod snapshot;
mod tokens;
