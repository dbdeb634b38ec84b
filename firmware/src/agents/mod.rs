//! The shipped agents. `host-sim` runs these very files.

pub mod conformance;
pub mod sensor;
