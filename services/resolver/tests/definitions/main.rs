//! Agents and skills, each from its file alone.

#![allow(clippy::unwrap_used)]

mod agents;
mod delimiters;
mod disk;
mod fields;
mod hostile;
mod names;
mod properties;
mod recovery;
mod servers;
mod skills;
mod support;
mod yaml;
