//! What pods of either profile can do on a real node: images that count on being root work under
//! both, raw sockets and device files only under `go`.

use std::sync::Arc;

use akash_types::LeaseId;
use kube_bed::{Image, Node};
use provider_kube::KubeDriver;
use provider_kube::isolation::{Isolation, PodProfile};
use provider_kube::settings::Settings;

use crate::bed;
use crate::real::confined::{SERVES, deploy, output, running, service};

const IMAGE: &str = "localhost/root-image:1";

/// What images do as root, each with what it has to print. An ssh server switches users itself.
const ROOT_IMAGES: [(&str, &str, &str); 4] = [
    (
        "chown",
        "touch /tmp/file && chown 1000:1000 /tmp/file && stat -c %u:%g /tmp/file",
        "1000:1000",
    ),
    (
        "switch user",
        "echo tenant:x:1000:1000::/tmp:/bin/sh >>/etc/passwd && su tenant -c 'id -u'",
        "1000",
    ),
    (
        "bind port 80",
        "echo page >/tmp/page && httpd -p 80 -h /tmp && wget -q -O - http://127.0.0.1/page",
        "page",
    ),
    (
        "run an ssh server",
        "mkdir -p /etc/dropbear /tmp/.ssh && cd /tmp/.ssh && \
         dropbearkey -t ed25519 -f /root/key >/dev/null 2>&1 && \
         dropbearkey -y -f /root/key | grep ^ssh- >authorized_keys && \
         chmod 700 . && chmod 600 authorized_keys && chmod 755 /tmp && \
         chown -R 1000:1000 /tmp/.ssh /tmp && dropbear -R -p 127.0.0.1:22 2>/dev/null && \
         dbclient -y -y -i /root/key tenant@127.0.0.1 'id -u' 2>/dev/null </dev/null",
        "1000",
    ),
];

/// What no hardened pod may do.
const DROPPED: [(&str, &str); 2] = [
    ("raw socket", "ping -c 1 -W 2 127.0.0.1 >/dev/null 2>&1 && echo yes || echo no"),
    ("device file", "mknod /tmp/null c 1 3 2>/dev/null && echo yes || echo no"),
];

async fn lease(driver: &KubeDriver, dseq: u64) -> (LeaseId, String) {
    let mut wanted = service(dseq, SERVES);
    Arc::make_mut(&mut wanted.group).services[0].image = IMAGE.to_owned();
    let (lease, name) = deploy(driver, wanted).await;
    running(driver, lease, &name).await;
    (lease, name)
}

#[tokio::test(flavor = "multi_thread")]
async fn root_images_run_hardened_and_only_raw_sockets_and_device_files_are_gone() {
    if let Some(why) = Node::missing() {
        println!("{why}");
        return;
    }
    let node = bed::node().await;
    let programs = ["dropbear", "dropbearkey", "dbclient"];
    node.import(&Image::busybox_with(IMAGE, &["sh"], &programs).unwrap()).unwrap();
    for (profile, dseq, has_it, seccomp) in
        [(PodProfile::Hardened, 9201, "no", "2"), (PodProfile::Go, 9202, "yes", "0")]
    {
        let isolation = Isolation { profile, ..Isolation::default() };
        let settings = Settings { isolation, ..Settings::default() };
        let (driver, _) = bed::driver(&node, settings).await;
        let (lease, name) = lease(&driver, dseq).await;
        for (what, script, expected) in ROOT_IMAGES {
            let said = output(&driver, lease, &name, script).await;
            assert_eq!(said.trim(), expected, "{what}, {profile}");
        }
        for (what, script) in DROPPED {
            let said = output(&driver, lease, &name, script).await;
            assert_eq!(said.trim(), has_it, "{what}, {profile}");
        }
        let filter = "sed -n 's/^Seccomp:[^0-9]*//p' /proc/1/status";
        assert_eq!(output(&driver, lease, &name, filter).await.trim(), seccomp, "{profile}");
    }
}
