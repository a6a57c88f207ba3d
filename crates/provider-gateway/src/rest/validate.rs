//! Whether there would be a bid.

use http::StatusCode;
use http::request::Parts;
use provider_api::error::ErrorCode;
use provider_api::screening::{Offer, ScreeningResponse, parse_group};
use provider_engine::cluster::port::Cluster;

use super::answer::{Answer, json};
use super::failure::Failure;
use super::{Readable, body};
use crate::Gateway;
use crate::auth::Principal;
use crate::port::{Provider, Screening};

impl<P: Provider, C: Cluster> Gateway<P, C> {
    pub(super) async fn validate<B: Readable>(
        &self,
        principal: &Principal,
        parts: &Parts,
        body: B,
    ) -> Result<Answer, Failure> {
        let Limits { largest, patience } = Limits::of(&self.settings);
        let mut held = self.held(self.authorizer.admit(principal).ok(), &parts.extensions);
        let body = body::read(body, body::Kind::Json, largest, patience, &mut held).await?;
        let read = |body: &[u8]| {
            parse_group(body).map_err(|error| {
                let text = error.to_string();
                Failure::plain(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::BadBody, text)
            })
        };
        let request = self.read_document(body, read).await?;
        json(&screening_response(self.provider.screen(request).await?)?)
    }
}

/// What bodies are held to.
pub(super) struct Limits {
    pub(super) largest: usize,
    pub(super) patience: std::time::Duration,
}

impl Limits {
    pub(super) const fn of(settings: &crate::Settings) -> Self {
        Self { largest: settings.largest_body, patience: settings.body_patience }
    }
}

/// A verdict as clients read it.
fn screening_response(screening: Screening) -> Result<ScreeningResponse, Failure> {
    Ok(match screening {
        Screening::Passed { offers, price } => ScreeningResponse {
            passed: true,
            reasons: Vec::new(),
            resource_offers: offers.iter().map(Offer::from).collect(),
            price: Some((&price).into()),
        },
        Screening::Declined(reasons) => {
            ScreeningResponse { passed: false, reasons, ..ScreeningResponse::default() }
        }
        Screening::NotReady(why) => return Err(Failure::not_ready(why)),
    })
}
