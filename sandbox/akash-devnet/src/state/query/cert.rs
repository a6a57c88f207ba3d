//! Certificates.

use akash_proto::akash::cert::v1 as wire;
use akash_types::{Address, CertificateState};

use super::{Answer, QueryError, account, answer, page};
use crate::state::State;
use crate::state::cert::{Certificate, CertificateKey, Serial};

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "Certificates" => answer(data, |request| certificates(state, request)),
        _ => return None,
    })
}

fn certificates(
    state: &State,
    request: wire::QueryCertificatesRequest,
) -> Answer<wire::QueryCertificatesResponse> {
    let filter = request.filter.unwrap_or_default();
    let wanted: Option<CertificateState> = match filter.state.as_str() {
        "" => None,
        name => Some(name.parse().map_err(|_| QueryError::invalid("invalid state value"))?),
    };
    let owner = match filter.owner.as_str() {
        "" => None,
        text => Some(account(text, "invalid owner address")?),
    };
    let serial = match filter.serial.as_str() {
        "" => None,
        text => Some(
            Serial::from_decimal(text)
                .ok_or_else(|| QueryError::invalid("invalid serial number"))?,
        ),
    };
    let in_range: Box<dyn DoubleEndedIterator<Item = (&CertificateKey, &Certificate)>> = match owner
    {
        None => Box::new(state.tables.certificates.iter()),
        Some(owner) => {
            let range: (CertificateKey, CertificateKey) = match serial {
                Some(serial) => ((owner, serial), (owner, serial)),
                None => ((owner, Serial::FIRST), (owner, Serial::LAST)),
            };
            Box::new(state.tables.certificates.between(range.0, range.1))
        }
    };
    let found = in_range
        .filter(|((_, number), _)| serial.is_none_or(|serial| serial == *number))
        .filter(|(_, certificate)| wanted.is_none_or(|state| state == certificate.state))
        .map(|((owner, serial), certificate)| {
            (key(*owner, *serial), response(*serial, certificate))
        });
    let (certificates, pagination) = page::plain(found, request.pagination)?;
    // Here the total is that of the page.
    let total = u64::try_from(certificates.len()).unwrap_or(u64::MAX);
    let pagination =
        akash_proto::cosmos::base::query::v1beta1::PageResponse { total, ..pagination };
    Ok(wire::QueryCertificatesResponse { certificates, pagination: Some(pagination) })
}

fn key(owner: Address, serial: Serial) -> Vec<u8> {
    [owner.as_bytes(), serial.as_bytes()].concat()
}

fn response(serial: Serial, certificate: &Certificate) -> wire::CertificateResponse {
    wire::CertificateResponse {
        certificate: Some(wire::Certificate {
            state: certificate.state.code(),
            cert: certificate.cert.to_vec(),
            pubkey: certificate.pubkey.to_vec(),
        }),
        serial: serial.to_decimal(),
    }
}
