use provider_api::jwt::{Claims, Permission};

use super::*;

const TENANT: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
const STRANGER: &str = "akash10z3dccmx6ysj58tn4sgk95tv0xy84mwcj5ypkx";
const LEASE: LeaseRef = LeaseRef { dseq: 9001, gseq: 1, oseq: 1 };

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn lease_of(owner: &str, lease: LeaseRef) -> LeaseId {
    let deployment = DeploymentId::new(address(owner), lease.dseq).unwrap();
    let group = GroupId::new(deployment, lease.gseq).unwrap();
    LeaseId::new(OrderId::new(group, lease.oseq).unwrap(), address(PROVIDER))
}

fn presence(lease: &LeaseId) -> Presence {
    if *lease == lease_of(TENANT, LEASE) { Presence::Active } else { Presence::Absent }
}

fn token(issuer: &str, access: Access) -> Principal {
    let (issued_at, not_before, expires_at) = (0, 0, 1);
    Principal::Token(Claims { issuer: address(issuer), issued_at, not_before, expires_at, access })
}

fn at(provider: &str, access: ProviderAccess) -> Principal {
    let permission = Permission { provider: address(provider), access };
    token(TENANT, Access::Granular(vec![permission]))
}

fn grant(
    gseq: Option<u32>,
    oseq: Option<u32>,
    scope: &[Scope],
    services: &[&str],
) -> DeploymentGrant {
    let services = services.iter().map(|service| (*service).to_owned()).collect();
    DeploymentGrant { dseq: 9001, gseq, oseq, scope: scope.to_vec(), services }
}

fn granular(grants: Vec<DeploymentGrant>) -> Principal {
    at(PROVIDER, ProviderAccess::Granular(grants))
}

const REQUESTS: [Request<'static>; 12] = [
    Request::SendManifest { dseq: 9001 },
    Request::GetManifest(LEASE),
    Request::LeaseStatus(LEASE),
    Request::ServiceStatus(LEASE, "web"),
    Request::ServiceStatus(LEASE, "db"),
    Request::Logs(LEASE, &[]),
    Request::Logs(LEASE, &["web", "db"]),
    Request::Events(LEASE, &["web"]),
    Request::Shell(LEASE, "web"),
    Request::MigrateHostnames { destination: Some((9001, 1)) },
    Request::MigrateEndpoints { destination: None },
    Request::Operate,
];

/// One letter for what became of a request.
fn letter(request: &Request<'_>, result: &Result<Grant, Denial>) -> char {
    match result {
        Ok(Grant { lease: None, .. }) if request.lease().is_some() => '0',
        Ok(Grant { services: Services::All, .. }) => '+',
        Ok(Grant { services: Services::Only(names), .. }) if names == &["web"] => 'w',
        Ok(Grant { .. }) => '?',
        Err(Denial::NoCredentials) => 'c',
        Err(Denial::Provider) => 'p',
        Err(Denial::Deployment) => 'd',
        Err(Denial::Scope(_)) => 's',
        Err(Denial::Service) => 'v',
        Err(Denial::NotOperator) => 'o',
        Err(_) => '!',
    }
}

#[test]
fn every_principal_may_do_what_the_table_says() {
    let all = Scope::ALL.to_vec();
    let whole = |scope: &[Scope]| granular(vec![grant(None, None, scope, &["web"])]);
    let elsewhere = DeploymentGrant { dseq: 9002, ..grant(None, None, &all, &["web"]) };
    #[rustfmt::skip]
    let table: Vec<(&str, Principal, &str)> = vec![
        //                                   send, get, status, web, db, logs, web+db, events, shell, hosts, ips, operate
        ("anonymous", Principal::Anonymous,                                 "cccccccccccc"),
        ("certificate", Principal::Owner(address(TENANT)),                  "+++++++++++o"),
        ("certificate of another", Principal::Owner(address(STRANGER)),     "+00000000++o"),
        ("certificate of the provider", Principal::Owner(address(PROVIDER)),"+00000000+++"),
        ("full", token(TENANT, Access::Full),                               "+++++++++++o"),
        ("full of another", token(STRANGER, Access::Full),                  "+00000000++o"),
        ("full of the provider", token(PROVIDER, Access::Full),             "+00000000+++"),
        ("limited of the provider", token(PROVIDER, Access::Scoped(all.clone())), "+00000000++o"),
        ("every scope", token(TENANT, Access::Scoped(all.clone())),         "+++++++++++o"),
        ("send-manifest", token(TENANT, Access::Scoped(vec![Scope::SendManifest])), "+sssssssssso"),
        ("get-manifest", token(TENANT, Access::Scoped(vec![Scope::GetManifest])),   "s+ssssssssso"),
        ("status", token(TENANT, Access::Scoped(vec![Scope::Status])),      "ss+++sssssso"),
        ("logs", token(TENANT, Access::Scoped(vec![Scope::Logs])),          "sssss++sssso"),
        ("events", token(TENANT, Access::Scoped(vec![Scope::Events])),      "sssssss+ssso"),
        ("shell", token(TENANT, Access::Scoped(vec![Scope::Shell])),        "ssssssss+sso"),
        ("hostname-migrate", token(TENANT, Access::Scoped(vec![Scope::HostnameMigrate])), "sssssssss+so"),
        ("ip-migrate", token(TENANT, Access::Scoped(vec![Scope::IpMigrate])), "ssssssssss+o"),
        ("restart", token(TENANT, Access::Scoped(vec![Scope::Restart, Scope::Attestation])), "ssssssssssso"),
        ("full here", at(PROVIDER, ProviderAccess::Full),                   "+++++++++++o"),
        ("full elsewhere", at(STRANGER, ProviderAccess::Full),              "pppppppppppp"),
        ("status here", at(PROVIDER, ProviderAccess::Scoped(vec![Scope::Status])), "ss+++sssssso"),
        ("one deployment", whole(&all),                                     "+wwwvwvww++o"),
        ("one deployment, status", whole(&[Scope::Status]),                 "sswwvsssssso"),
        ("this lease", granular(vec![grant(Some(1), Some(1), &all, &["web"])]), "+wwwvwvww++o"),
        ("another order", granular(vec![grant(Some(1), Some(2), &all, &["web"])]), "+dddddddd++o"),
        ("another group", granular(vec![grant(Some(2), None, &all, &["web"])]), "+ddddddddd+o"),
        ("another deployment", granular(vec![elsewhere]),                   "dddddddddd+o"),
    ];
    let provider = address(PROVIDER);
    for (name, principal, expected) in table {
        let found: String = REQUESTS
            .iter()
            .map(|request| letter(request, &authorize(&principal, provider, request, &presence)))
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn services_of_several_grants_add_up_scope_by_scope() {
    let principal = granular(vec![
        grant(None, None, &[Scope::Logs], &["web", "db"]),
        grant(Some(1), None, &[Scope::Logs, Scope::Status], &["cache", "web"]),
        grant(Some(2), None, &[Scope::Logs], &["other"]),
    ]);
    let services =
        |request| authorize(&principal, address(PROVIDER), &request, &presence).unwrap().services;
    let only =
        |names: &[&str]| Services::Only(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(services(Request::Logs(LEASE, &[])), only(&["cache", "db", "web"]));
    assert_eq!(services(Request::LeaseStatus(LEASE)), only(&["cache", "web"]));
    assert_eq!(services(Request::Logs(LEASE, &["db"])), only(&["cache", "db", "web"]));
}

#[test]
fn a_grant_names_the_lease_of_the_principal() {
    let principal = Principal::Owner(address(TENANT));
    let request = Request::LeaseStatus(LEASE);
    let granted = authorize(&principal, address(PROVIDER), &request, &presence).unwrap();
    assert_eq!(granted.lease, Some(lease_of(TENANT, LEASE)));
    assert!(granted.is_active);
    assert_eq!(granted.owner().unwrap(), address(TENANT));
}

#[test]
fn anybody_may_ask_for_what_is_public_and_is_known_where_they_have_leases() {
    let elsewhere = at(STRANGER, ProviderAccess::Full);
    let tenant = Some(address(TENANT));
    for (principal, account) in [
        (Principal::Anonymous, None),
        (elsewhere, None),
        (Principal::Owner(address(TENANT)), tenant),
        (token(TENANT, Access::Scoped(vec![])), tenant),
    ] {
        let decide = |request| authorize(&principal, address(PROVIDER), &request, &presence);
        assert_eq!(decide(Request::Public).unwrap().account, account, "{principal:?}");
        let unread = decide(Request::Unread);
        assert_eq!(unread.ok().and_then(|grant| grant.account), account, "{principal:?}");
    }
}

#[test]
fn a_lease_that_does_not_exist_is_not_granted() {
    let principal = Principal::Owner(address(TENANT));
    for lease in [LeaseRef { dseq: 1, ..LEASE }, LeaseRef { dseq: 0, ..LEASE }] {
        for request in [
            Request::LeaseStatus(lease),
            Request::GetManifest(lease),
            Request::ServiceStatus(lease, "web"),
        ] {
            let granted = authorize(&principal, address(PROVIDER), &request, &presence).unwrap();
            assert_eq!((granted.lease, granted.is_active), (None, false), "{request:?}");
        }
    }
}

#[test]
fn before_leases_are_known_they_may_be_asked_for() {
    let principal = Principal::Owner(address(TENANT));
    let request = Request::LeaseStatus(LeaseRef { dseq: 1, ..LEASE });
    let at = |presence| authorize(&principal, address(PROVIDER), &request, &|_| presence).unwrap();
    assert!(at(Presence::Unknown).lease.is_some());
    assert!(!at(Presence::Unknown).is_active);
    assert_eq!(at(Presence::Absent).lease, None);
}
