//! Shared by the tests: a node in virtual time, and JSON one can ask questions of.

pub mod world;
