//! `query`: flags and failures, without a chain.

use crate::cli::support::run;

const ADDRESS: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

#[test]
fn a_node_that_is_not_there_is_named() {
    let args = ["query", "provider", "get", ADDRESS, "--node", "http://127.0.0.1:1"];
    let error = run(&args).refused();
    assert!(error.starts_with(&format!("Error: cannot read provider {ADDRESS}: ")), "{error}");
    assert!(error.contains("127.0.0.1:1"), "{error}");
    let over_grpc =
        ["q", "bank", "balances", ADDRESS, "--grpc-addr", "127.0.0.1:1", "--grpc-insecure"];
    assert!(run(&over_grpc).refused().contains("127.0.0.1:1"));
}

#[test]
fn mistakes_are_named_by_their_flag() {
    for (args, wanted) in [
        (&["provider", "get", "akash1nonsense"][..], "<ADDRESS>"),
        (&["market", "lease", "get", "--dseq", "1"], "--provider is missing"),
        (&["market", "order", "get", "--dseq", "1"], "--owner is missing"),
        (&["market", "order", "get", "--owner", ADDRESS], "--dseq"),
        (&["market", "lease", "list", "--state", "odd"], "--state"),
        (&["market", "lease", "list", "--page", "0"], "--page"),
        (&["market", "lease", "list", "--page-key", "*"], "--page-key"),
        (&["cert", "list", "--serial", "1"], "--owner"),
        (&["tx", "12"], "64 hex digits"),
        (&["provider", "list", "--node", "ftp://x"], "--node"),
        (&["provider", "list", "--height", "5", "--grpc-addr", "a:1"], "--height"),
        (&["provider", "list", "-o", "xml"], "--output"),
    ] {
        let error = run(&[&["query"], args].concat()).refused();
        assert!(error.contains(wanted), "{args:?}: {error}");
    }
}
