//! Scenarios in virtual time: scripts of what clients do and when, over engine, dialects and encoder.

mod support;

mod life;
