//! host-sim
fn main() {}
