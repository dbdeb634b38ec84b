//! Shared by the tests: a node in virtual time, an agent that does as it is told, and randomness that can be had again.

pub mod random;
pub mod script;
pub mod world;
