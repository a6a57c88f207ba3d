//! A desktop session without a desktop: a bus of its own, and GNOME's keyring on it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use secret_service::{EncryptionType, SecretService};
use tempfile::TempDir;
use zbus::zvariant::{OwnedObjectPath, Value};

/// Nothing of the machine's own session is on this bus, in particular nothing that could ask a
/// person: questions of the keyring are dismissed at once.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=DIRECTORY/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// A bus, alone or with a keyring; both end with this.
pub(crate) struct Session {
    pub(crate) bus: String,
    programs: Vec<Child>,
    directory: TempDir,
}

impl Session {
    pub(crate) fn empty() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_str().unwrap();
        let config = directory.path().join("bus.conf");
        fs::write(&config, BUS.replace("DIRECTORY", path)).unwrap();
        let mut bus = Command::new("dbus-daemon");
        bus.args(["--nofork", "--print-address", "--config-file"]).arg(config);
        let mut bus = start(bus.stdout(Stdio::piped()).stderr(Stdio::null()), "dbus");
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("unix:"), "dbus-daemon did not say its address: {address:?}");
        Self { bus: address.trim().to_owned(), programs: vec![bus], directory }
    }

    pub(crate) async fn with_keyring() -> Self {
        let mut session = Self::empty();
        let home = session.directory.path();
        let mut keyring = Command::new("gnome-keyring-daemon");
        keyring
            .args(["--foreground", "--unlock", "--components=secrets", "--control-directory"])
            .arg(home.join("control"))
            .env("DBUS_SESSION_BUS_ADDRESS", &session.bus)
            .env("HOME", home)
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_RUNTIME_DIR", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut keyring = start(&mut keyring, "gnome-keyring");
        keyring.stdin.take().unwrap().write_all(b"passphrase of the login").unwrap();
        session.programs.push(keyring);

        let until = Instant::now() + Duration::from_secs(120);
        while session.service().await.is_none() {
            assert!(Instant::now() < until, "gnome-keyring-daemon does not come to the bus");
            thread::sleep(Duration::from_millis(20));
        }
        session
    }

    pub(crate) async fn connection(&self) -> zbus::Connection {
        zbus::connection::Builder::address(self.bus.as_str()).unwrap().build().await.unwrap()
    }

    /// The service as another program sees it, without the encryption of this one, as Go does.
    pub(crate) async fn service(&self) -> Option<SecretService<'static>> {
        let connection = self.connection().await;
        SecretService::connect_with_existing(EncryptionType::Plain, connection).await.ok()
    }

    /// Makes a collection as a person would who answers the question for its passphrase.
    pub(crate) async fn make_collection(&self, label: &str) -> OwnedObjectPath {
        let connection = self.connection().await;
        let (service, path) = ("org.freedesktop.secrets", "/org/freedesktop/secrets");
        let interface = Some("org.freedesktop.Secret.Service");
        let plain = &("plain", Value::from(""));
        let opened = connection.call_method(Some(service), path, interface, "OpenSession", plain);
        let opened = opened.await.unwrap();
        let (_, session): (Value<'_>, OwnedObjectPath) = opened.body().deserialize().unwrap();

        let properties = [("org.freedesktop.Secret.Collection.Label", Value::from(label))];
        let properties = std::collections::HashMap::from(properties);
        let secret = (session, Vec::<u8>::new(), b"its passphrase".to_vec(), "text/plain");
        let interface = Some("org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface");
        let name = "CreateWithMasterPassword";
        let made = (properties, secret);
        let made = connection.call_method(Some(service), path, interface, name, &made).await;
        made.unwrap().body().deserialize().unwrap()
    }

    /// A directory that ends with the session.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for program in self.programs.iter_mut().rev() {
            program.kill().ok();
            program.wait().ok();
        }
    }
}

fn start(command: &mut Command, package: &str) -> Child {
    command.spawn().unwrap_or_else(|error| {
        let program = command.get_program().display();
        panic!("{program}: {error}; install the Debian package {package} to run these tests")
    })
}
