//! The laptop as one more board: what `host-sim` is made of.

pub mod net;
