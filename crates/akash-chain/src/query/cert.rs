//! Certificates that accounts published.

use akash_proto::akash::cert::v1 as wire;
use akash_types::{Address, CertificateState};

use super::ask::or_empty;
use super::market::text;
use super::{Answer, List, Malformed, Query, QueryError, Transport, method};

/// Which certificates to list; what is absent does not filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificateFilter {
    /// Of this account.
    pub owner: Option<Address>,
    /// With this serial number, in base-10 digits.
    pub serial: Option<String>,
    /// In this state.
    pub state: Option<CertificateState>,
}

/// A certificate as it was published. The chain does not look at its dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Its serial number, in base-10 digits.
    pub serial: String,
    /// Its state.
    pub state: CertificateState,
    /// PEM block `CERTIFICATE`.
    pub certificate: Vec<u8>,
    /// PEM block `EC PUBLIC KEY`.
    pub public_key: Vec<u8>,
}

impl<T: Transport> Query<T> {
    /// Certificates that match `filter`.
    pub async fn certificates(
        &self,
        filter: &CertificateFilter,
    ) -> Result<Answer<List<Certificate>>, QueryError> {
        let wire_filter = wire::CertificateFilter {
            owner: text(filter.owner),
            serial: filter.serial.clone().unwrap_or_default(),
            state: filter.state.map(CertificateState::as_str).unwrap_or_default().to_owned(),
        };
        let request = |page| wire::QueryCertificatesRequest {
            filter: Some(wire_filter.clone()),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryCertificatesResponse| (answer.certificates, answer.pagination),
            |item: &wire::CertificateResponse| format!("certificate {}", item.serial),
            certificate,
        );
        let asked = || format!("certificates by {filter:?}");
        or_empty(self.list(asked, method::CERTIFICATES, request, listing).await)
    }

    /// The certificate of `owner` with this serial number (base-10 digits) in `state`.
    pub async fn certificate(
        &self,
        owner: Address,
        serial: &str,
        state: CertificateState,
    ) -> Result<Answer<Option<Certificate>>, QueryError> {
        let filter = CertificateFilter {
            owner: Some(owner),
            serial: Some(serial.to_owned()),
            state: Some(state),
        };
        let Answer { value, height } = self.certificates(&filter).await?;
        if let Some(unreadable) = value.unreadable.into_iter().next() {
            let asked = format!("certificate {serial} of {owner}");
            return Err(QueryError::new(asked, unreadable.source));
        }
        let found = value
            .items
            .into_iter()
            .find(|certificate| certificate.serial == serial && certificate.state == state);
        Ok(Answer { value: found, height })
    }
}

fn certificate(item: wire::CertificateResponse) -> Result<Certificate, Malformed> {
    let inner = item.certificate.ok_or(Malformed::Missing { part: "certificate" })?;
    let state = CertificateState::from_code(inner.state)
        .map_err(|source| Malformed::part("certificate state", source))?;
    if item.serial.is_empty() || !item.serial.bytes().all(|byte| byte.is_ascii_digit()) {
        let (part, expected) = ("certificate serial", "base-10 digits");
        return Err(Malformed::Unexpected { part, found: item.serial, expected });
    }
    Ok(Certificate {
        serial: item.serial,
        state,
        certificate: inner.cert,
        public_key: inner.pubkey,
    })
}
