//! Whether to bid on an order, and at what price.
