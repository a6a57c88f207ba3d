//! `tx`: the message that each command makes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::cli::support::{repository, run_with, text};
use crate::cli::tx::{PROVIDER, TENANT, generated, tx};

#[test]
fn every_market_message_names_its_lease() {
    let id = json!({"owner": TENANT, "dseq": "7", "gseq": 2, "oseq": 3, "provider": PROVIDER,
        "bseq": 0});
    let flags = ["--owner", TENANT, "--dseq", "7", "--gseq", "2", "--oseq", "3"];
    let closed = generated(&[&["market", "bid", "close"], &flags[..]].concat());
    assert_eq!(closed["id"], id);
    assert_eq!(closed["reason"], "lease_closed_reason_unspecified");
    let reclaim = ["market", "bid", "start-reclaim", "--reason", "10001"];
    let reclaimed = generated(&[&reclaim, &flags[..]].concat());
    assert_eq!(reclaimed["@type"], "/akash.market.v1beta5.MsgLeaseStartReclaim");
    assert_eq!(reclaimed["reason"], "lease_closed_reason_decommission");
    let withdrawn = generated(&[&["market", "lease", "withdraw"], &flags[..]].concat());
    assert_eq!(withdrawn["id"], id);
    let swapped = ["--dseq", "7", "--provider", TENANT];
    let lease = generated(&[&["market", "lease", "create"], &swapped[..]].concat());
    assert_eq!(lease["bid_id"]["owner"], PROVIDER);
    let ended = generated(&[&["market", "lease", "close"], &swapped[..]].concat());
    assert_eq!(ended["reason"], "lease_closed_owner");
}

#[test]
fn a_deployment_carries_groups_and_hash_of_its_sdl() {
    let sdl = repository("examples/hello.yaml");
    let args = ["deployment", "create", text(&sdl), "--dseq", "9", "--deposit", "5act"];
    let message = generated(&args);
    assert_eq!(message["id"], json!({"owner": PROVIDER, "dseq": "9"}));
    assert_eq!(message["deposit"]["amount"], json!({"denom": "uact", "amount": "5000000"}));
    assert_eq!(message["deposit"]["sources"], json!(["grant", "balance"]));
    let version = crate::cli::support::run(&["sdl", "version", "--base64", text(&sdl)]).quietly();
    assert_eq!(message["hash"], version.trim());
    assert_eq!(message["groups"].as_array().unwrap().len(), 1);
    let update = generated(&["deployment", "update", text(&sdl), "--dseq", "9"]);
    assert_eq!(update["hash"], version.trim());
    let close = generated(&["deployment", "close", "--dseq", "9"]);
    assert_eq!(close["@type"], "/akash.deployment.v1beta4.MsgCloseDeployment");
    for verb in ["close", "pause", "start"] {
        let group = generated(&["deployment", "group", verb, "--dseq", "9", "--gseq", "2"]);
        assert_eq!(group["id"], json!({"owner": PROVIDER, "dseq": "9", "gseq": 2}));
    }
    let unasked = ["deployment", "create", text(&sdl), "--deposit", "5act", "--from", "provider"];
    let error = tx(&[&unasked[..], &["--offline"]].concat(), "").refused();
    assert!(error.contains("--dseq"), "{error}");
}

#[test]
fn a_provider_is_what_its_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("provider.yaml");
    std::fs::write(
        &file,
        "host: https://a.example:8443\ninfo:\n  email: a@b\nattributes:\n- {key: region, value: eu}\n",
    )
    .unwrap();
    let message = generated(&["provider", "create", text(&file)]);
    assert_eq!(
        message,
        json!({
            "@type": "/akash.provider.v1beta4.MsgCreateProvider",
            "owner": PROVIDER,
            "host_uri": "https://a.example:8443",
            "attributes": [{"key": "region", "value": "eu"}],
            "info": {"email": "a@b", "website": ""},
        })
    );
    let update = generated(&["provider", "update", text(&file)]);
    assert_eq!(update["@type"], "/akash.provider.v1beta4.MsgUpdateProvider");
    std::fs::write(&file, "host: http://a\n").unwrap();
    let error = tx(&["provider", "create", text(&file), "--from", "provider"], "").refused();
    assert!(error.contains("https://"), "{error}");
    let missing = tx(&["provider", "create", "nowhere.yaml", "--from", "provider"], "").refused();
    assert!(missing.starts_with("Error: cannot read nowhere.yaml"), "{missing}");
}

#[test]
fn money_and_grants() {
    let send = generated(&["bank", "send", TENANT, "5akt,7uact"]);
    assert_eq!(send["from_address"], PROVIDER);
    assert_eq!(
        send["amount"],
        json!([{"denom": "uact", "amount": "7"},
        {"denom": "uakt", "amount": "5000000"}])
    );
    let deposit =
        generated(&["escrow", "deposit", "deployment", "1act", "--dseq", "9", "--owner", TENANT]);
    assert_eq!(deposit["id"], json!({"scope": "deployment", "xid": format!("{TENANT}/9")}));
    assert_eq!(deposit["signer"], PROVIDER);
    let grant = generated(&["authz", "grant", TENANT, "deposit", "--spend-limit", "10act"]);
    let authorization = &grant["grant"]["authorization"];
    assert_eq!(authorization["@type"], "/akash.escrow.v1.DepositAuthorization");
    assert_eq!(authorization["spend_limits"], json!([{"denom": "uact", "amount": "10000000"}]));
    let kind = "/akash.market.v1beta5.MsgCreateLease";
    let generic =
        ["authz", "grant", TENANT, "generic", "--msg-type", kind, "--expiration", "86400"];
    let generic = generated(&generic);
    assert_eq!(generic["grant"]["authorization"]["msg"], kind);
    assert_eq!(generic["grant"]["expiration"], "1970-01-02T00:00:00Z");
    assert_eq!(generated(&["authz", "revoke", TENANT, kind])["msg_type_url"], kind);
    let fees = generated(&["feegrant", "grant", TENANT, "--spend-limit", "1akt"]);
    assert_eq!(fees["allowance"]["spend_limit"], json!([{"denom": "uakt", "amount": "1000000"}]));
    assert_eq!(generated(&["feegrant", "revoke", TENANT])["grantee"], TENANT);
    let audit = generated(&["audit", "attr", "create", TENANT, "tier", "1", "region", "eu"]);
    assert_eq!(
        audit["attributes"],
        json!([{"key": "region", "value": "eu"},
        {"key": "tier", "value": "1"}])
    );
    let delete = generated(&["audit", "attr", "delete", TENANT, "tier"]);
    assert_eq!(delete["keys"], json!(["tier"]));
}

#[test]
fn certificates_are_made_kept_and_published() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let hex = "3ad592b047203820c0d5c09db22a02e05926ab6c88c8c8aed41dd37623d6d6fd\n";
    let run = |args: &[&str], stdin: &str| {
        let common = ["--home", text(home), "--keyring-backend", "test"];
        run_with(&[args, &common].concat(), &[], stdin.as_bytes())
    };
    run(&["keys", "import-hex", "p"], hex).quietly();
    let publish = [
        "tx",
        "cert",
        "publish",
        "server",
        "--from",
        "p",
        "--generate-only",
        "--offline",
        "--gas",
        "1",
    ];
    let early = run(&publish, "").refused();
    assert!(early.contains("tx cert generate"), "{early}");
    let generate = ["tx", "cert", "generate", "server", "a.example", "127.0.0.1", "--from", "p"];
    let ran = run(&generate, "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let file = home.join(format!("{PROVIDER}.pem"));
    let first = std::fs::read_to_string(&file).unwrap();
    assert!(first.starts_with("-----BEGIN CERTIFICATE-----\n"), "{first}");
    assert!(first.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), "{first}");
    let again = run(&generate, "").refused();
    assert!(again.contains("certificate error: cannot overwrite certificate"), "{again}");
    let published: Value = serde_json::from_str(&run(&publish, "").quietly()).unwrap();
    let message = &published["body"]["messages"][0];
    assert_eq!(message["owner"], PROVIDER);
    let pem = STANDARD.decode(message["cert"].as_str().unwrap()).unwrap();
    assert!(first.starts_with(&String::from_utf8(pem).unwrap()));
    let revoke = [
        "tx",
        "cert",
        "revoke",
        "server",
        "--from",
        "p",
        "--generate-only",
        "--offline",
        "--gas",
        "1",
    ];
    let revoked: Value = serde_json::from_str(&run(&revoke, "").quietly()).unwrap();
    assert!(ran.stderr.contains(revoked["body"]["messages"][0]["id"]["serial"].as_str().unwrap()));
    let overwritten = run(&[&generate[..], &["--overwrite"]].concat(), "");
    assert_eq!(overwritten.code, 0);
    assert_ne!(std::fs::read_to_string(&file).unwrap(), first);
}
