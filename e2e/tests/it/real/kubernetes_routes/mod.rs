//! Hostnames on a real API server, through the provider as tenants use it: their routes are what was
//! asked for last, whatever happens to the provider meanwhile.

mod blocked;
mod killed;
mod stage;
mod world;
