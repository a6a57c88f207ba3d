//! Inventory as a whole: what is left, what fits, what stays.

mod arch;
mod build;
mod cards;
mod ledger;
mod placing;
mod replanning;
