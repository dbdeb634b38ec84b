//! Shared by the fuzz targets: a small node in virtual time, judges of answers, and a mutator that knows JSON.

pub mod http;
pub mod input;
pub mod judge;
pub mod mutate;
pub mod socket;
pub mod world;
