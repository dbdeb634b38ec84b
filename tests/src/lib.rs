//! Shared by the tests: a node in virtual time, an agent that does as it is told, requests to start from, randomness
//! that can be had again, and an HTTP client for what has a socket.

pub mod client;
pub mod corpus;
pub mod random;
pub mod script;
pub mod visit;
pub mod webhook;
pub mod world;
