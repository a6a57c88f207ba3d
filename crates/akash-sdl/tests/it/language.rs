//! The SDL's rules, one row each: what is refused and where, what is accepted and as what.

use akash_sdl::manifest::HashDoubt;
use akash_sdl::{Grammar, Sdl};
use serde_json::{Value, json};

const BASE: &str = "\
version: \"2.0\"
services:
  web:
    image: nginx
    expose:
      - port: 80
        to:
          - global: true
profiles:
  compute:
    web:
      resources:
        cpu:
          units: 100m
        memory:
          size: 128Mi
        storage:
          size: 1Gi
  placement:
    dc:
      pricing:
        web:
          denom: uact
          amount: 50
deployment:
  web:
    dc:
      profile: web
      count: 1
";

fn with(from: &str, to: &str) -> String {
    assert!(BASE.contains(from), "{from}");
    BASE.replacen(from, to, 1)
}

const STORAGE: &str = "        storage:\n          size: 1Gi\n";
const EXPOSE: &str = "      - port: 80\n        to:\n          - global: true\n";

fn storage(text: &str) -> String {
    with(STORAGE, &format!("        storage: {text}\n"))
}

fn service(line: &str) -> String {
    with("    image: nginx\n", &format!("    image: nginx\n    {line}\n"))
}

fn gpu(text: &str) -> String {
    with("        memory:\n", &format!("        gpu: {text}\n        memory:\n"))
}

fn refused(text: &str, path: &str, message: &str) {
    let errors = Sdl::read(text)
        .err()
        .unwrap_or_else(|| panic!("accepted, wanted {path}: {message}\n{text}"));
    let found = errors
        .problems()
        .iter()
        .any(|problem| problem.path == path && problem.message.contains(message));
    assert!(found, "wanted {path}: {message}\ngot {errors}\n{text}");
}

fn accepted(text: &str) -> Sdl {
    Sdl::read(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

fn manifest_of(text: &str) -> Value {
    serde_json::from_str(&accepted(text).manifest().to_json()).unwrap()
}

#[test]
fn the_base_is_fine() {
    assert_eq!(accepted(BASE).grammar(), Grammar::V2_0);
    assert!(accepted(BASE).warnings().is_empty());
}

#[test]
fn top_level() {
    refused("", "", "not a mapping");
    refused("[]", "", "not a mapping");
    refused("hello", "", "not a mapping");
    refused(&with("version: \"2.0\"\n", ""), "", "no version found");
    refused(&with("\"2.0\"", "\"1.0\""), "version", "unsupported version");
    refused(&with("\"2.0\"", "latest"), "version", "unsupported version");
    refused(&format!("{BASE}extra: 1\n"), "extra", "unexpected field");
    refused(&format!("{BASE}services: {{}}\n"), "", "stands twice");
    refused("version: \"2.0\"\n", "deployment", "nothing is deployed");
    accepted(&format!("{BASE}include: [a, b]\n"));
    assert_eq!(accepted(&with("\"2.0\"", "2.1")).grammar(), Grammar::V2_1);
    assert_eq!(accepted(&with("\"2.0\"", "v3")).grammar(), Grammar::V2_1);
}

#[test]
fn services() {
    refused(&with("image: nginx", "image: \"\""), "services.web.image", "empty image");
    refused(
        &with("image: nginx", "image: [a]"),
        "services.web.image",
        "expected text, found a list",
    );
    refused(
        &BASE.replace("  web:\n", "  Web_1:\n").replace("profile: web", "profile: Web_1"),
        "services.Web_1",
        "name is invalid",
    );
    refused(&service("command: sh"), "services.web.command", "expected a list");
    refused(&service("env: [1A=b]"), "services.web.env[0]", "invalid name \"1A\"");
    refused(&service("dependencies: [db]"), "services.web.dependencies[0]", "expected a mapping");
    refused(
        &service("credentials: {host: a, username: b}"),
        "services.web.credentials.password",
        "missing Password",
    );
    refused(
        &service("credentials: {username: \" \", password: secret}"),
        "services.web.credentials.username",
        "missing Username",
    );
    let lists = manifest_of(&service("command: []\n    args: [1, null, true]\n    env:"));
    let web = &lists[0]["services"][0];
    assert_eq!(
        (&web["command"], &web["args"], &web["env"]),
        (&json!([]), &json!(["1", "true"]), &Value::Null)
    );
    accepted(&service("dependencies: [{service: db}]"));
    assert_eq!(accepted(&service("depends_on: [db]")).warnings().len(), 1);
}

#[test]
fn exposes() {
    refused(&with("port: 80", "port: 0"), "services.web.expose[0].port", "out of range");
    refused(&with("port: 80", "port: 65536"), "services.web.expose[0].port", "out of range");
    refused(&with("port: 80", "port: \"80\""), "services.web.expose[0].port", "is quoted");
    refused(&with("port: 80", "port: -1"), "services.web.expose[0].port", "negative");
    refused(&with("port: 80", "port: 80.5"), "services.web.expose[0].port", "fraction");
    refused(
        &with("port: 80", "port: 99999999999999999999"),
        "services.web.expose[0].port",
        "too large",
    );
    refused(&with("port: 80", "port: {a: b}"), "services.web.expose[0].port", "expected a number");
    refused(
        &with("port: 80\n", "port: 80\n        as: 70000\n"),
        "services.web.expose[0].as",
        "out of range",
    );
    refused(
        &with("port: 80\n", "port: 80\n        proto: sctp\n"),
        "services.web.expose[0].proto",
        "unsupported service protocol",
    );
    refused(
        &with("global: true", "global: maybe"),
        "services.web.expose[0].to[0].global",
        "neither true nor false",
    );
    refused(&with("global: true", "global: false"), "services", "zero global services");
    let accept = |hosts: &str| with("port: 80\n", &format!("port: 80\n        accept: {hosts}\n"));
    refused(&accept("[\"two words\"]"), "services.web.expose[0].accept[0]", "not a hostname");
    refused(&accept("[a.com, Upper.com]"), "services.web.expose[0].accept[1]", "invalid hostname");
    refused(&accept("[a.com, a.com]"), "services.web.expose[0].accept[1]", "duplicated");
    refused(&accept("a.com"), "services.web.expose[0].accept", "expected a list");
    for yes in ["true", "True", "yes", "on", "Y"] {
        accepted(&with("global: true", &format!("global: {yes}")));
    }
    let empty = manifest_of(&accept("[]"));
    assert_eq!(empty[0]["services"][0]["expose"][0]["hosts"], json!([]));
    // Without `to`, and sorted: by service, port, protocol, global first.
    let many = manifest_of(&with(
        EXPOSE,
        "      - {port: 9}\n      - {port: 80, to: [{service: b}, {global: true}, {service: a}]}\n      - {port: 8, proto: UDP, to: [{global: true}]}\n",
    ));
    let order: Vec<String> = many[0]["services"][0]["expose"]
        .as_array()
        .unwrap()
        .iter()
        .map(|expose| {
            format!(
                "{}{}{}",
                expose["service"].as_str().unwrap(),
                expose["port"],
                expose["proto"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(order, ["8UDP", "9TCP", "80TCP", "a80TCP", "b80TCP"]);
    assert_eq!(
        many[0]["services"][0]["resources"]["endpoints"],
        json!([{"kind": 1, "sequence_number": 0}, {"sequence_number": 0}])
    );
}

#[test]
fn http_options() {
    let options =
        |text: &str| with("port: 80\n", &format!("port: 80\n        http_options: {text}\n"));
    let path = |key: &str| format!("services.web.expose[0].http_options.{key}");
    refused(
        &options("{max_body_size: 104857601}"),
        &path("max_body_size"),
        "http option not allowed",
    );
    for which in ["read", "send"] {
        let (key, most) = (format!("{which}_timeout"), "4294967295 ms");
        let message =
            format!("http option not allowed: {which} timeout cannot be greater than {most}");
        for long in ["4294967296", "1194h", "4294968s"] {
            refused(&options(&format!("{{{key}: {long}}}")), &path(&key), &message);
        }
        for wrong in ["1h30m", "-1", "1.5", "soon"] {
            refused(&options(&format!("{{{key}: {wrong}}}")), &path(&key), "is not a time");
        }
    }
    let timeouts = |text: &str| {
        let options =
            manifest_of(&options(text))[0]["services"][0]["expose"][0]["httpOptions"].clone();
        (options["readTimeout"].clone(), options["sendTimeout"].clone())
    };
    assert_eq!(
        timeouts("{read_timeout: 1h, send_timeout: 90s}"),
        (json!(3_600_000), json!(90_000))
    );
    assert_eq!(
        timeouts("{read_timeout: 4294967295, send_timeout: 0}"),
        (json!(u32::MAX), json!(60_000))
    );
    assert_eq!(timeouts("{read_timeout: \"5\", send_timeout: 250ms}"), (json!(5), json!(250)));
    refused(
        &options("{proxy_buffer_size: 1048577}"),
        &path("proxy_buffer_size"),
        "http option not allowed",
    );
    refused(&options("{next_cases: [sometimes]}"), &path("next_cases[0]"), "next case is unknown");
    refused(&options("{next_cases: [error, off]}"), &path("next_cases[1]"), "no other cases");
    let given = manifest_of(&options(
        "{max_body_size: 5, next_tries: 7, next_timeout: 9, next_cases: [off], proxy_buffer_size: 4}",
    ));
    assert_eq!(
        given[0]["services"][0]["expose"][0]["httpOptions"],
        json!({
            "maxBodySize": 5, "readTimeout": 60000, "sendTimeout": 60000, "nextTries": 7,
            "nextTimeout": 9, "nextCases": ["off"], "proxyBufferSize": 4,
        })
    );
}

#[test]
fn proxy_options() {
    let proxy = |text: &str| {
        with("port: 80\n", &format!("port: 80\n        http_options: {{proxy: {text}}}\n"))
    };
    let path = "services.web.expose[0].http_options.proxy";
    let options = |text: &str| {
        manifest_of(&proxy(text))[0]["services"][0]["expose"][0]["httpOptions"].clone()
    };
    let together = "proxy.buffers_number and proxy.buffers_size must be set together";
    refused(&proxy("{buffers_number: 4}"), path, together);
    refused(&proxy("{buffers_size: 4096}"), path, together);
    for nothing in ["{}", "{buffering_disable: false, buffer_size: 0, connect_timeout: 0}"] {
        assert_eq!(options(nothing).get("proxy"), None, "{nothing}");
        assert_eq!(accepted(&proxy(nothing)).version(), accepted(BASE).version());
    }
    let all = "{buffering_disable: true, buffer_size: 16384, buffers_number: 8, buffers_size: 8192, \
               busy_buffers_size: 32768, connect_timeout: 5000}";
    let sdl = accepted(&proxy(all));
    assert_eq!(sdl.manifest().hash_doubts(), []);
    let canonical = String::from_utf8(sdl.manifest().to_canonical_json()).unwrap();
    // In the place and order of Console's manifests.
    let sorted = r#""nextTries":3,"proxy":{"bufferSize":16384,"bufferingDisable":true,"buffersNumber":8,"buffersSize":8192,"busyBuffersSize":32768,"connectTimeout":5000},"readTimeout":60000"#;
    assert!(canonical.contains(sorted), "{canonical}");
    // Whether others write what is not set is not known, and so neither is the hash.
    let some = accepted(&proxy("{buffer_size: 16384}"));
    assert_eq!(some.manifest().hash_doubts(), [HashDoubt::Proxy { service: "web".to_owned() }]);
    let large = accepted(&proxy("{buffer_size: 131073}"));
    assert!(large.warnings().iter().any(|it| it.message.contains("more than 131072")));
}

#[test]
fn architectures() {
    let cpu = |text: &str| with("          units: 100m\n", &format!("          {text}\n"));
    let path = "profiles.compute.web.resources.cpu";
    for arch in ["amd64", "arm64"] {
        let text = cpu(&format!("units: 100m\n          attributes: {{arch: {arch}}}"));
        let sdl = accepted(&text);
        let wanted = [akash_types::Attribute::new("arch", arch)];
        assert_eq!(sdl.groups()[0].resources[0].resources.cpu.attributes, wanted);
        let canonical = String::from_utf8(sdl.manifest().to_canonical_json()).unwrap();
        let inside = format!(
            r#""cpu":{{"attributes":[{{"key":"arch","value":"{arch}"}}],"units":{{"val":"100"}}}}"#
        );
        assert!(canonical.contains(&inside), "{canonical}");
    }
    let unknown = cpu("units: 100m\n          attributes: {arch: x86_64}");
    let at = format!("{path}.attributes.arch");
    refused(&unknown, &at, "unsupported cpu architecture \"x86_64\"");
    let other = cpu("units: 100m\n          attributes: {sockets: 2}");
    refused(&other, &format!("{path}.attributes.sockets"), "unsupported cpu attribute \"sockets\"");
    let outside = cpu("units: 100m\n          arch: arm64");
    refused(&outside, &format!("{path}.arch"), "unsupported field (arch) for CPU resource");
    let none = String::from_utf8(accepted(BASE).manifest().to_canonical_json()).unwrap();
    assert!(none.contains(r#""cpu":{"units":{"val":"100"}}"#), "no default is written: {none}");
}

#[test]
fn interconnects() {
    let sdl = |interconnect: &str, units: u32, attributes: &str| {
        gpu(&format!(
            "{{units: {units}, attributes: {{interconnect: {interconnect}, vendor: {{nvidia: }}}}}}"
        ))
        .replacen(
            "      pricing:\n",
            &format!("      attributes: {attributes}\n      pricing:\n"),
            1,
        )
    };
    let capable = r#"{capabilities/gpu-interconnect: "true"}"#;
    let path = "profiles.compute.web.resources.gpu";
    let attributes = format!("{path}.attributes.interconnect");
    for (wrong, message) in [
        ("true", "bare scalar"),
        ("[a]", "only the empty sequence form"),
        ("{}", "`group` is required"),
        ("{group: auto}", "is a reserved name"),
    ] {
        refused(&sdl(wrong, 1, capable), &attributes, message);
    }
    let unused = "cannot be set when gpu.units == 0 (group=\"auto\")";
    refused(&sdl("[]", 0, capable), path, unused);
    let place = "profiles.placement.dc.attributes";
    refused(&sdl("[]", 1, "{a: b}"), place, "does not require capabilities/gpu-interconnect=true");
    for (form, group) in [("[]", "auto"), ("{group: pair0}", "pair0")] {
        let sdl = accepted(&sdl(form, 1, capable));
        let unit = &sdl.groups()[0].resources[0].resources.gpu;
        let keys: Vec<_> = unit.attributes.iter().map(|it| (&*it.key, &*it.value)).collect();
        let wanted = [("interconnect/group", group), ("vendor/nvidia/model/*", "true")];
        assert_eq!(keys, wanted);
        let canonical = String::from_utf8(sdl.manifest().to_canonical_json()).unwrap();
        let sorted = format!(r#""image":"nginx","interconnectGroup":"{group}","name":"web""#);
        assert!(canonical.contains(&sorted), "{canonical}");
        let proto = akash_sdl::Manifest::from_proto(sdl.manifest().clone().into_proto()).unwrap();
        assert_eq!(proto.version(), sdl.version());
    }
    let mixed = sdl("[]", 1, capable)
        .replacen(
            "services:\n",
            "services:\n  zed: {image: x, expose: [{port: 1, to: [{service: web}]}]}\n",
            1,
        )
        .replacen(
            "  compute:\n",
            "  compute:\n    zed: {resources: {cpu: {units: 1}, memory: {size: 1Gi}, storage: {size: 1Gi}, \
             gpu: {units: 1, attributes: {interconnect: {group: a}, vendor: {nvidia: }}}}}\n",
            1,
        )
        .replacen("      pricing:\n", "      pricing:\n        zed: {denom: uact, amount: 1}\n", 1)
        .replacen("deployment:\n", "deployment:\n  zed: {dc: {profile: zed, count: 1}}\n", 1);
    refused(&mixed, "profiles.placement.dc", "mixes implicit `interconnect: []` (profile \"web\")");
}

#[test]
fn confidential_keys_and_brokers() {
    const SEALED: &str = "sealed.eyJhbGciOiJFUzI1NiJ9.eyJ2IjoiMC4xIn0.c2ln";
    let kept = "[{name: data, size: 1Gi, attributes: {persistent: true, class: default}}]";
    let sdl = |params: &str, volumes: &str| {
        let text = storage(volumes);
        text.replacen("    image: nginx\n", &format!("    image: nginx\n    params: {params}\n"), 1)
    };
    let with_key = |key: &str, more: &str, volumes: &str| {
        sdl(&format!("{{{more}storage: {{data: {{mount: /data, keyRef: \"{key}\"}}}}}}"), volumes)
    };
    let provider = "tee: cpu, kbs: {mode: provider}, ";
    let key_path = "services.web.params.storage.data.keyRef";
    for wrong in ["kbs:///default/key/1", "sealed.a.b", "sealed.a.b.c.d", "sealed.a..c"] {
        refused(&with_key(wrong, provider, kept), key_path, "must use sealed.<JWS> format");
    }
    let ephemeral = with_key(SEALED, provider, "[{name: data, size: 1Gi}]");
    refused(&ephemeral, key_path, "storage keyRef requires persistent storage");
    let unselected = with_key(SEALED, "tee: cpu, ", kept);
    refused(&unselected, "services.web.params", "explicit params.kbs selection");
    let sdl_with_key = accepted(&with_key(SEALED, provider, kept));
    let canonical = String::from_utf8(sdl_with_key.manifest().to_canonical_json()).unwrap();
    let sorted =
        format!(r#"{{"keyRef":"{SEALED}","mount":"/data","name":"data","readOnly":false}}"#);
    assert!(canonical.contains(&sorted), "{canonical}");
    let kbs = HashDoubt::Kbs { service: "web".to_owned() };
    assert_eq!(sdl_with_key.manifest().hash_doubts(), [kbs]);
    accepted(&with_key("", "", kept));

    let kbs = |tee: &str, text: &str| service(&format!("params: {{{tee}kbs: {text}}}"));
    let path = "services.web.params.kbs";
    let digest = "a".repeat(64);
    let tenant = |url: &str, policy: &str| {
        format!(
            "{{mode: tenant, url: \"{url}\", certificate: pem, imageSecurityPolicyURI: \"{policy}\", \
             agentPolicy: package agent_policy}}"
        )
    };
    let (url, policy) =
        ("https://kbs.example:8443", format!("kbs:///t/security-policy/sha256-{digest}"));
    let upper = policy
        .to_uppercase()
        .replace("KBS:///T/SECURITY-POLICY/SHA256-", "kbs:///t/security-policy/sha256-");
    for (tee, text, message) in [
        ("", "{mode: provider}".to_owned(), "KBS configuration requires tee"),
        ("tee: cpu, ", "{}".to_owned(), "KBS mode must be provider or tenant"),
        ("tee: cpu, ", "{mode: other}".to_owned(), "KBS mode must be provider or tenant"),
        (
            "tee: cpu, ",
            format!("{{mode: provider, url: \"{url}\"}}"),
            "provider mode cannot include",
        ),
        (
            "tee: cpu, ",
            format!("{{mode: tenant, url: \"{url}\"}}"),
            "complete public configuration",
        ),
        ("tee: cpu, ", tenant("https://kbs.example/admin", &policy), "canonical HTTPS origin"),
        ("tee: cpu, ", tenant("http://kbs.example", &policy), "canonical HTTPS origin"),
        ("tee: cpu, ", tenant(url, "kbs://host/a/b/c"), "canonical kbs:/// resource URI"),
        ("tee: cpu, ", tenant(url, "kbs:///t/security-policy/latest"), "content addressed"),
        ("tee: cpu, ", tenant(url, &upper), "lowercase SHA-256 digest"),
    ] {
        refused(&kbs(tee, &text), path, message);
    }
    let own = accepted(&kbs("tee: cpu, ", &tenant(url, &policy)));
    let proto = akash_sdl::Manifest::from_proto(own.manifest().clone().into_proto()).unwrap();
    assert_eq!(&proto, own.manifest());

    let login =
        |tee: &str, text: &str| service(&format!("params: {{{tee}}}\n    credentials: {text}"));
    let confidential = "tee: cpu, kbs: {mode: provider}";
    let path = "services.web.credentials.uri";
    let uri = "kbs:///repo/type/tag";
    for (tee, text, message) in [
        ("", format!("{{uri: \"{uri}\"}}"), "requires a confidential service"),
        (confidential, format!("{{uri: \"{uri}\", host: h}}"), "cannot mix inline fields with uri"),
        (confidential, "{uri: \"kbs://h/a/b/c\"}".to_owned(), "canonical kbs:///repo/type/tag"),
        (confidential, "{uri: \"kbs:///.a/b/c\"}".to_owned(), "canonical kbs:///repo/type/tag"),
        (confidential, "{uri: \"kbs:///a/b/c?d\"}".to_owned(), "bounded canonical"),
    ] {
        refused(&login(tee, &text), path, message);
    }
    let sdl = accepted(&login(confidential, &format!("{{uri: \"{uri}\"}}")));
    let canonical = String::from_utf8(sdl.manifest().to_canonical_json()).unwrap();
    let sorted = format!(r#"{{"email":"","host":"","password":"","uri":"{uri}","username":""}}"#);
    assert!(canonical.contains(&sorted), "{canonical}");
}

#[test]
fn verification() {
    let sdl = |text: &str| {
        with("      pricing:\n", &format!("      verification: {text}\n      pricing:\n"))
    };
    let path = |key: &str| format!("profiles.placement.dc.verification{key}");
    for (text, key, message) in [
        ("{min_tier: 5}", ".min_tier", "verification.min_tier must be in [0,4], got 5"),
        ("{min_tier: 1, auditor_mode: most}", ".auditor_mode", "must be \"any\" or \"all\""),
        ("{min_tier: 1, capabilities: [fast]}", ".capabilities[0]", "unknown capability \"fast\""),
        ("{min_tier: 1, auditors: [\"\"]}", ".auditors[0]", "is empty"),
        ("{min_tier: 1, auditors: [cosmos1x]}", ".auditors[0]", "expected bech32 prefix"),
        ("{min_auditor_count: 1}", "", "min_tier must be greater than 0"),
    ] {
        refused(&sdl(text), &path(key), message);
    }
    for nothing in ["{}", "{min_tier: 0}", "{auditor_mode: all}"] {
        assert_eq!(accepted(&sdl(nothing)).groups()[0].requirements.verification, None);
    }
    let asked = accepted(&sdl(
        "{min_tier: 2, capabilities: [bare_metal], auditors: [akash1x], auditor_mode: all, min_auditor_count: 3}",
    ));
    let wanted = akash_types::VerificationRequirement {
        min_tier: 2,
        required_capabilities: vec![4],
        required_auditors: vec!["akash1x".to_owned()],
        auditor_mode: 2,
        min_auditor_count: 3,
    };
    assert_eq!(asked.groups()[0].requirements.verification, Some(wanted));
    let json: Value =
        serde_json::from_str(&akash_sdl::groups_to_json_pretty(asked.groups())).unwrap();
    assert_eq!(
        json[0]["requirements"]["verification"],
        json!({
            "min_tier": 2, "required_capabilities": [4], "required_auditors": ["akash1x"],
            "auditor_mode": 2, "min_auditor_count": 3,
        })
    );
    assert_eq!(asked.version(), accepted(BASE).version(), "the manifest does not have it");
}

#[test]
fn addresses() {
    let ip = |to: &str, endpoints: &str| {
        with("          - global: true\n", &format!("          - {to}\n")) + endpoints
    };
    let declared = "endpoints: {addr: {kind: ip}}\n";
    refused(
        &ip("{ip: addr}", declared),
        "services.web.expose[0].to[0]",
        "must be declared as global",
    );
    refused(
        &ip("{global: true, ip: other}", declared),
        "services.web.expose[0].to[0].ip",
        "no endpoint named",
    );
    refused(&format!("{BASE}{declared}"), "endpoints.addr", "declared but never used");
    refused(
        &ip("{global: true, ip: addr}", "endpoints: {addr: {kind: dns}}\n"),
        "endpoints.addr.kind",
        "unknown kind",
    );
    refused(
        &ip("{global: true, ip: addr}", "endpoints: {addr: {}}\n"),
        "endpoints.addr",
        "has no kind",
    );
    refused(
        &ip("{global: true, ip: a}", "endpoints: {a: {kind: ip}}\n"),
        "endpoints.a",
        "not a valid name",
    );
    let twice = with(
        EXPOSE,
        "      - {port: 80, as: 1, to: [{global: true, ip: addr}]}\n      - {port: 81, as: 1, to: [{global: true, ip: addr}]}\n",
    ) + declared;
    refused(&twice, "services.web.expose[1].to[0]", "already in use by service \"web\"");
    // An internal link counts with the empty name and pushes the number up.
    let numbered = manifest_of(
        &(with(
            EXPOSE,
            "      - {port: 80, to: [{global: true, ip: addr}]}\n      - {port: 81, to: [{service: db}]}\n",
        ) + declared),
    );
    assert_eq!(numbered[0]["services"][0]["expose"][0]["endpointSequenceNumber"], json!(2));
    assert_eq!(
        numbered[0]["services"][0]["resources"]["endpoints"],
        json!([{"sequence_number": 0}, {"kind": 2, "sequence_number": 2}])
    );
}

#[test]
fn compute() {
    let cpu = "profiles.compute.web.resources.cpu.units";
    refused(&with("units: 100m", "units: -1"), cpu, "negative");
    refused(&with("units: 100m", "units: lots"), cpu, "not an amount of CPU");
    refused(
        &with("units: 100m", "units: 9m"),
        "profiles.compute.web.resources.cpu",
        "expected 10 to 384000",
    );
    refused(
        &with("units: 100m", "units: 385"),
        "profiles.compute.web.resources.cpu",
        "expected 10 to 384000",
    );
    refused(
        &with("units: 100m", "attributes: {socket: x}\n          units: 100m"),
        "profiles.compute.web.resources.cpu.attributes.socket",
        "unsupported cpu attribute",
    );
    refused(
        &with("        cpu:\n          units: 100m\n", ""),
        "profiles.compute.web.resources.cpu",
        "expected 10 to",
    );
    refused(
        &with("size: 128Mi", "size: 128MB"),
        "profiles.compute.web.resources.memory.size",
        "is not a size",
    );
    refused(
        &with("size: 128Mi", "size: 1Ki"),
        "profiles.compute.web.resources.memory",
        "expected 1048576 to",
    );
    refused(
        &with("size: 1Gi", "size: 1Mi"),
        "profiles.compute.web.resources.storage",
        "expected 5242880 to",
    );
    refused(&with(STORAGE, ""), "profiles.compute.web.resources.storage", "no storage");
    refused(&storage("1Gi"), "profiles.compute.web.resources.storage", "found a single value");
    refused(
        &storage("[{size: 1Gi}, {size: 2Gi}]"),
        "profiles.compute.web.resources.storage",
        "duplicated volume name",
    );
    refused(
        &with("      resources:\n", "      resource:\n"),
        "profiles.compute.web",
        "has no resources",
    );
    let arch =
        manifest_of(&with("units: 100m", "attributes: {arch: arm64}\n          units: 100m"));
    assert_eq!(
        arch[0]["services"][0]["resources"]["cpu"]["attributes"],
        json!([{"key": "arch", "value": "arm64"}])
    );
}

#[test]
fn storage_attributes() {
    let volume = |attributes: &str| storage(&format!("{{size: 1Gi, attributes: {attributes}}}"));
    let path = |key: &str| format!("profiles.compute.web.resources.storage.attributes.{key}");
    refused(&volume("{class: ram, persistent: true}"), &path("class"), "cannot be persistent");
    refused(&volume("{class: beta2}"), &path("class"), "should not set attribute class");
    refused(&volume("{class: nvme, persistent: true}"), &path("class"), "not a storage class");
    refused(&volume("{persistent: maybe}"), &path("persistent"), "neither true nor false");
    refused(&volume("{speed: fast}"), &path("speed"), "unsupported storage attribute");
    refused(
        &volume("{persistent: true}"),
        "services.web.params.storage.default",
        "requires the service to mount",
    );
    let attributes = |text: &str| {
        let mounted = text.replacen(
            "    image: nginx\n",
            "    image: nginx\n    params: {storage: {default: {mount: /d}}}\n",
            1,
        );
        manifest_of(&mounted)[0]["services"][0]["resources"]["storage"][0]["attributes"].clone()
    };
    let pairs = |class: Option<&str>, persistent: &str| {
        let mut list: Vec<Value> =
            class.map(|class| json!({"key": "class", "value": class})).into_iter().collect();
        list.push(json!({"key": "persistent", "value": persistent}));
        Value::from(list)
    };
    assert_eq!(attributes(&volume("{}")), pairs(None, "false"));
    assert_eq!(attributes(&volume("{persistent: true}")), pairs(Some("default"), "true"));
    assert_eq!(attributes(&volume("{persistent: yes}")), pairs(None, "true"));
    // The rule looks at what was written, and `off` is not `false` there.
    refused(&volume("{persistent: off, class: ram}"), &path("class"), "cannot be persistent");
}

#[test]
fn volumes_and_mounts() {
    let params = |text: &str| service(&format!("params: {{storage: {text}}}"));
    let path = "services.web.params.storage";
    refused(&params("{data: {mount: /d}}"), &format!("{path}.data"), "no-existing compute volume");
    refused(
        &params("{default: {mount: d}}"),
        &format!("{path}.default.mount"),
        "not an absolute path",
    );
    refused(&params("{default: {}}"), &format!("{path}.default.mount"), "not an absolute path");
    let two = params("{a: {mount: /d}, b: {mount: /d}}").replacen(
        STORAGE,
        "        storage: [{size: 1Gi, name: a}, {size: 1Gi, name: b}]\n",
        1,
    );
    refused(&two, &format!("{path}.b.mount"), "already in use by volume \"a\"");
    let ram = params("{default: {mount: /d, readOnly: true}}").replacen(
        STORAGE,
        "        storage: {size: 1Gi, attributes: {class: ram, persistent: false}}\n",
        1,
    );
    accepted(&ram);
    refused(
        &ram.replace("\"2.0\"", "\"2.1\""),
        &format!("{path}.default"),
        "not allowed for storage class",
    );
    // The newer grammar does not ask for a mount.
    accepted(&storage("{size: 1Gi, attributes: {persistent: true}}").replace("\"2.0\"", "\"2.1\""));
    let sizes = manifest_of(&storage("[{size: 2Gi}, {size: 1Gi, name: a}, {size: 1Gi, name: b}]"));
    let names: Vec<&str> = sizes[0]["services"][0]["resources"]["storage"]
        .as_array()
        .unwrap()
        .iter()
        .map(|volume| volume["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["b", "a", "default"]);
}

#[test]
fn gpus() {
    let path = "profiles.compute.web.resources.gpu";
    refused(&gpu("1"), path, "expected a mapping");
    refused(&gpu("{units: 1}"), path, "attributes must be present");
    refused(
        &gpu("{units: 1.5, attributes: {vendor: {nvidia: }}}"),
        &format!("{path}.units"),
        "not a number of GPUs",
    );
    refused(&gpu("{units: 25, attributes: {vendor: {nvidia: }}}"), path, "expected 0 to 24");
    refused(
        &gpu("{units: 0, attributes: {vendor: {nvidia: }}}"),
        path,
        "has attributes but 0 units",
    );
    refused(&gpu("{count: 1}"), &format!("{path}.count"), "unsupported field");
    refused(
        &gpu("{units: 1, attributes: {vendor: }}"),
        &format!("{path}.attributes"),
        "at least one vendor",
    );
    refused(
        &gpu("{units: 1, attributes: {colour: red, vendor: {nvidia: }}}"),
        &format!("{path}.attributes.colour"),
        "unsupported attribute (colour)",
    );
    refused(
        &gpu("{units: 1, attributes: {vendor: {nvidia: [{model: a, interface: usb}]}}}"),
        &format!("{path}.attributes.vendor.nvidia[0].interface"),
        "not a GPU interface",
    );
    refused(
        &gpu("{units: 1, attributes: {vendor: {nvidia: [{model: a, ram: 80G}]}}}"),
        &format!("{path}.attributes.vendor.nvidia[0].ram"),
        "is not a size",
    );
    refused(
        &gpu("{units: 1, attributes: {vendor: {nvidia: [{model: a}, {model: a}]}}}"),
        &format!("{path}.attributes"),
        "duplicate keys",
    );
    let keys = |text: &str| -> Vec<String> {
        manifest_of(&gpu(&format!("{{units: 1, attributes: {{vendor: {text}}}}}")))[0]["services"]
            [0]["resources"]["gpu"]["attributes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|attribute| attribute["key"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(keys("{nvidia: }"), ["vendor/nvidia/model/*"]);
    assert_eq!(keys("{amd: [{model: x}]}"), ["vendor/nvidia/model/*"]);
    assert_eq!(
        keys(
            "{nvidia: [{model: h100, ram: 80Gi, interface: sxm}, {model: a100, interface: pcie}, {model: t4, ram: 512Mi}]}"
        ),
        [
            "vendor/nvidia/model/a100/interface/pcie",
            "vendor/nvidia/model/h100/ram/80Gi/interface/sxm",
            "vendor/nvidia/model/t4/ram/0Gi",
        ]
    );
}

#[test]
fn pricing_and_deployment() {
    let amount = "profiles.placement.dc.pricing.web.amount";
    refused(&with("amount: 50", "amount: 0"), amount, "amount is zero");
    refused(&with("amount: 50", "amount: -5"), amount, "negative");
    refused(&with("amount: 50", "amount: 1e3"), amount, "invalid coin amount");
    refused(&with("amount: 50", "amount: 0.1234567890123456789"), amount, "invalid coin amount");
    refused(&with("          amount: 50\n", ""), "profiles.placement.dc.pricing.web", "no amount");
    refused(&with("denom: uact", "denom: 1x"), "profiles.placement.dc.pricing.web.denom", "denom");
    refused(
        &with("amount: 50", "amount: 10000001"),
        "profiles.placement.dc.pricing.web",
        "too high",
    );
    refused(
        &with("profile: web", "profile: other"),
        "deployment.web.dc.profile",
        "no compute profile named \"other\"",
    );
    refused(
        &with("  web:\n    dc:\n", "  web:\n    ab:\n"),
        "deployment.web.ab",
        "no placement profile named \"ab\"",
    );
    refused(
        &with("deployment:\n  web:", "deployment:\n  api:"),
        "deployment.api.dc",
        "no service profile named \"api\"",
    );
    refused(&with("count: 1", "count: 0"), "deployment.web.dc.count", "count is 0");
    refused(&with("count: 1", "count: 4000000000"), "deployment.web.dc.count", "total CPU");
    let two = with("        web:\n          denom", "        api: {denom: uakt, amount: 1}\n        web:\n          denom")
        .replacen("    image: nginx\n", "    image: nginx\n  api:\n    image: api\n", 1)
        .replacen("    web:\n      resources", "    api: {resources: {cpu: {units: 1}, memory: {size: 1Gi}, storage: {size: 1Gi}}}\n    web:\n      resources", 1)
        + "  api: {dc: {profile: api, count: 1}}\n";
    let two = two.replacen("  api:\n    image: api\n    expose:", "    expose:", 1);
    let two = two.replacen("services:\n", "services:\n  api: {image: api}\n", 1);
    refused(&two, "profiles.placement.dc.pricing.web", "differs from uakt");
}

#[test]
fn confidential_computing() {
    let tee = |kind: &str| service(&format!("params: {{tee: {kind}}}"));
    refused(&tee("sgx"), "services.web.params.tee", "unsupported tee type");
    refused(&tee("cpu-gpu"), "services.web.params.tee", "requires gpu");
    let cpu = accepted(&tee("cpu"));
    assert_eq!(cpu.groups()[0].requirements.attributes[0].key, "tee/type");
    let params = &manifest_of(&tee("cpu"))[0]["services"][0]["params"];
    assert_eq!(params, &json!({"storage": null, "tee": {"type": "cpu", "attestation": true}}));
}

#[test]
fn every_problem_of_a_file_is_told() {
    let text = BASE
        .replace("image: nginx", "image: [1]")
        .replace("port: 80", "port: x")
        .replace("size: 128Mi", "size: many")
        .replace("amount: 50", "amount: 0")
        .replace("profile: web", "profile: nobody");
    let errors = Sdl::read(&text).unwrap_err();
    let lines: Vec<u32> = errors.problems().iter().map(|problem| problem.place.line).collect();
    assert_eq!(lines, [4, 6, 16, 24, 28, 28], "{errors}");
}

#[test]
fn hostile_texts_get_a_clear_answer() {
    let big = format!("{BASE}# {}\n", "x".repeat(Sdl::MAX_BYTES));
    refused(&big, "", "at most 1048576");
    // A billion laughs: each level has nine of the one before.
    let mut laughs = String::from("a0: &a0 [x]\n");
    for level in 1..12 {
        let links = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{links}]\n"));
    }
    assert!(Sdl::read(&format!("version: \"2.0\"\n{laughs}")).is_err());
    // The same through keys that are read: services × exposes × targets.
    let targets = vec!["{global: true}"; 400].join(", ");
    let exposes = vec!["{port: 80, to: *to}"; 400].join(", ");
    let services: String = (0..400).map(|number| format!("  s{number}: *s\n")).collect();
    let text = format!(
        "version: \"2.0\"\nservices:\n  t: {{image: x, expose: [{{port: 1, to: &to [{targets}]}}]}}\n  s: &s {{image: x, expose: [{exposes}]}}\n{services}"
    );
    let errors = Sdl::read(&text).unwrap_err();
    assert_eq!(errors.problems().len(), 1, "said once");
    assert!(errors.to_string().contains("too large to read"), "{errors}");
    assert!(
        Sdl::read_bytes(b"version: \"2.0\"\nservices: \xff\xfe\n")
            .unwrap_err()
            .to_string()
            .contains("2:1: this line is not UTF-8")
    );
    assert!(Sdl::read("\u{feff}version: \"9\"\n").is_err());
    accepted(&format!("\u{feff}{BASE}"));
    accepted(&BASE.replace('\n', "\r\n"));
    refused(&BASE.replace("    image", "\timage"), "", "not YAML");
    refused(&with("image: nginx", "image: *nowhere"), "", "not YAML");
    refused(&with("image: nginx", "image: !!binary aGk="), "services.web.image", "binary");
}

#[test]
fn anchors_and_merges_are_yaml_and_work() {
    let text = BASE.replacen("services:\n  web:\n    image: nginx\n", "services:\n  base: &base\n    image: nginx\n    env: &env [A=1]\n  web:\n    <<: *base\n    args: *env\n", 1);
    let web = &manifest_of(&text)[0]["services"][0];
    assert_eq!(
        (&web["image"], &web["env"], &web["args"]),
        (&json!("nginx"), &json!(["A=1"]), &json!(["A=1"]))
    );
}
