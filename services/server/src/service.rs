//! The services of the contract. A method reads: who may, convert in, ask, convert out.

pub mod admin;
pub mod workspace;
