//! Where tenants connect, and with which certificates they are met.

use crate::config::setting::Setting;

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("gateway-listen-address", "ADDRESS", "0.0.0.0:8443", "Where REST is served"),
    Setting::new("gateway-grpc-listen-address", "ADDRESS", "0.0.0.0:8444", "Where gRPC is served"),
    Setting::new(
        "server-cert-secret",
        "NAMESPACE/NAME",
        "",
        "Secret that keeps the provider's own certificate too, on Kubernetes",
    ),
    Setting::new("gateway-tls-cert", "FILE", "", "Certificate of an authority, in PEM"),
    Setting::new("gateway-tls-key", "FILE", "", "Its key, in PEM"),
    Setting::switch(
        "cert-issuer-enabled",
        "false",
        "Get a certificate by ACME for --cluster-public-hostname",
    ),
    Setting::new("cert-issuer-email", "ADDRESS", "", "Whom the authority writes to"),
    Setting::new(
        "cert-issuer-ca-dir-url",
        "URL",
        "https://acme-staging-v02.api.letsencrypt.org/directory",
        "The authority; the default one issues for tests only",
    ),
    Setting::new(
        "cert-issuer-storage-dir",
        "DIR",
        "",
        "Where certificates are kept [default: .certissuer in --home]",
    ),
    Setting::new(
        "cert-issuer-http-challenge-port",
        "PORT",
        "0",
        "Port for http-01; 0 is not offered",
    ),
    Setting::new(
        "cert-issuer-tls-challenge-port",
        "PORT",
        "0",
        "Port for tls-alpn-01; 0 is not offered",
    ),
    Setting::list(
        "cert-issuer-dns-providers",
        "NAMES",
        "",
        "Who changes DNS for dns-01, which is not offered: give a port instead",
    ),
    Setting::list(
        "cert-issuer-dns-resolvers",
        "ADDRESSES",
        "1.1.1.1,8.8.8.8",
        "Who is asked whether that has happened",
    )
    .unused("dns-01 is not offered"),
    Setting::new(
        "cert-issuer-ca-root",
        "FILE",
        "",
        "The authority's own root in PEM, where browsers do not have it",
    ),
    Setting::new("cert-issuer-kid", "ID", "", "Account at the authority, where it wants one")
        .secret(),
    Setting::new("cert-issuer-hmac", "KEY", "", "Key of that account").secret(),
    Setting::new(
        "metrics-token-file",
        "FILE",
        "",
        "File with the token that GET /metrics on the REST port takes besides the provider's own",
    ),
    Setting::new("auth-pem", "FILE", "", "Certificate of the provider")
        .unused("it is the file named by the provider's address in --home"),
    Setting::new(
        "cached-result-max-age",
        "SPAN",
        "5s",
        "How old chain data may be for a manifest to be accepted by it",
    )
    .live(),
];
