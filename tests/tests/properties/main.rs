//! Properties: what holds for every input, tried with random ones. A failure names its seed; `MOTE_SEED=N` runs it alone.

mod client;
mod make;
mod model;
mod mutations;
mod pushes;
mod reader;
mod round_trip;
mod streams;
mod webhooks;
mod windows;
