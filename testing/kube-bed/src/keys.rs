//! Who may speak to whom in a bed: one authority, a certificate for each program, and the
//! kubeconfig that goes with it.

use std::net::{IpAddr, SocketAddrV4};
use std::path::PathBuf;

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, SanType,
};
use serde_json::json;

/// The authority of a bed, and the folder its keys are in.
pub(crate) struct Keys {
    folder: PathBuf,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Keys {
    /// Makes an authority (`ca.crt`, `ca.key`) and the key of service accounts (`sa.key`,
    /// `sa.pub`).
    pub(crate) fn new(folder: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(&folder)?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "kube-bed");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let keys = Self { folder, authority };
        keys.write("ca.crt", &keys.authority.pem())?;
        keys.write("ca.key", &keys.authority.key().serialize_pem())?;
        let accounts = KeyPair::generate()?;
        keys.write("sa.key", &accounts.serialize_pem())?;
        keys.write("sa.pub", &accounts.public_key_pem())?;
        Ok(keys)
    }

    /// Where a file of keys is.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Makes `<file>.crt` and `<file>.key` for a user in a group, good for servers at `addresses`.
    pub(crate) fn certify(
        &self,
        file: &str,
        user: &str,
        group: Option<&str>,
        addresses: &[IpAddr],
    ) -> Result<()> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.subject_alt_names = addresses.iter().copied().map(SanType::IpAddress).collect();
        params.key_usages =
            vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&key, &self.authority)?;
        self.write(&format!("{file}.crt"), &certificate.pem())?;
        self.write(&format!("{file}.key"), &key.serialize_pem())
    }

    /// Makes a certificate as [`certify`](Self::certify) does, and `<file>.kubeconfig` with it.
    pub(crate) fn admit(
        &self,
        file: &str,
        user: &str,
        group: Option<&str>,
        server: SocketAddrV4,
    ) -> Result<PathBuf> {
        self.certify(file, user, group, &[])?;
        self.kubeconfig(file, server)
    }

    /// Writes `<file>.kubeconfig` for the certificate of that name.
    pub(crate) fn kubeconfig(&self, file: &str, server: SocketAddrV4) -> Result<PathBuf> {
        // JSON is YAML too.
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "bed",
            "clusters": [{"name": "bed", "cluster": {
                "server": format!("https://{server}"), "certificate-authority": self.path("ca.crt")
            }}],
            "users": [{"name": file, "user": {
                "client-certificate": self.path(&format!("{file}.crt")),
                "client-key": self.path(&format!("{file}.key"))
            }}],
            "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": file}}]
        });
        let name = format!("{file}.kubeconfig");
        self.write(&name, &config.to_string())?;
        Ok(self.path(&name))
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.path(file);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }
}
