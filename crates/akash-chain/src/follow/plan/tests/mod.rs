//! The plan, driven by hand and by a simulated world.

mod decisions;
mod property;
mod world;
