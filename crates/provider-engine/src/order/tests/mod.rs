//! Every rule and every reason, with expected values from the rules as they are written down.

mod build;
mod eligibility;
mod evaluate;
mod policy;
mod stages;
