//! Certificates of accounts, with which tenants and providers know each other.

mod check;

use std::sync::Arc;

use akash_proto::akash::cert::v1 as wire;
use akash_types::{Address, CertificateState};

use super::error::{GrpcCode, ModuleError, Outcome};
use super::gas::Step;
use super::msg::{Message, signer};
use super::run::Exec;
pub(crate) use check::Serial;

const SPACE: &str = "cert";

const fn invalid(code: u32, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, GrpcCode::InvalidArgument, text)
}

const NOT_FOUND: ModuleError =
    ModuleError::new(SPACE, 1, GrpcCode::NotFound, "certificate not found");
const EXISTS: ModuleError =
    ModuleError::new(SPACE, 3, GrpcCode::AlreadyExists, "certificate exists");
const ALREADY_REVOKED: ModuleError =
    ModuleError::new(SPACE, 4, GrpcCode::FailedPrecondition, "certificate already revoked");
const INVALID_SERIAL: ModuleError = invalid(5, "invalid serial number");
const INVALID_CERTIFICATE: ModuleError = invalid(6, "invalid certificate value");
const INVALID_PUBKEY: ModuleError = invalid(7, "invalid pubkey value");

pub(crate) type CertificateKey = (Address, Serial);

/// A certificate as the chain keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Certificate {
    pub(crate) state: CertificateState,
    pub(crate) cert: Arc<[u8]>,
    pub(crate) pubkey: Arc<[u8]>,
}

pub(crate) struct CreateCertificate {
    owner: Address,
    serial: Serial,
    cert: Arc<[u8]>,
    pubkey: Arc<[u8]>,
}

impl Message for CreateCertificate {
    type Wire = wire::MsgCreateCertificate;

    fn parse(wire: wire::MsgCreateCertificate) -> Outcome<Self> {
        let owner = signer(&wire.owner)?;
        let serial = check::certificate(owner, &wire.cert, &wire.pubkey)?;
        Ok(Self { owner, serial, cert: wire.cert.into(), pubkey: wire.pubkey.into() })
    }

    fn signer(&self) -> Address {
        self.owner
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let key = (self.owner, self.serial);
        if exec.tables.certificates.contains(&key) {
            return Err(EXISTS.into());
        }
        exec.step(Step::CertificateWrite)?;
        let (cert, pubkey) = (Arc::clone(&self.cert), Arc::clone(&self.pubkey));
        let certificate = Certificate { state: CertificateState::Valid, cert, pubkey };
        exec.tables.certificates.insert(key, certificate);
        Ok(())
    }
}

pub(crate) struct RevokeCertificate {
    owner: Address,
    serial: Serial,
}

impl Message for RevokeCertificate {
    type Wire = wire::MsgRevokeCertificate;

    fn parse(wire: wire::MsgRevokeCertificate) -> Outcome<Self> {
        let id = wire.id.unwrap_or_default();
        let owner = signer(&id.owner)?;
        let serial = Serial::from_decimal(&id.serial).ok_or(INVALID_SERIAL)?;
        Ok(Self { owner, serial })
    }

    fn signer(&self) -> Address {
        self.owner
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let key = (self.owner, self.serial);
        let certificate = exec.tables.certificates.get(&key).cloned().ok_or(NOT_FOUND)?;
        if certificate.state == CertificateState::Revoked {
            return Err(ALREADY_REVOKED.into());
        }
        exec.step(Step::CertificateWrite)?;
        let state = CertificateState::Revoked;
        exec.tables.certificates.insert(key, Certificate { state, ..certificate });
        Ok(())
    }
}
