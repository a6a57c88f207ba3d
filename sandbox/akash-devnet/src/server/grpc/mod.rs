//! gRPC: one handler for every unary method, and reflection.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Buf, BufMut};
use http::{Request, Response};
use hyper::body::Incoming;
use prost::Message;
use prost_types::FileDescriptorSet;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::Service;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::server::{Grpc, UnaryService};
use tonic::{Code, Status};
use tonic_reflection::server::Builder;

use super::context::Context;
use super::services;
use super::services::{Found, Refusal, SERVED};
use crate::node::App;

/// Where client and node say which height is meant.
pub(super) const HEIGHT: &str = "x-cosmos-block-height";
/// Most bytes of a request.
const MAX_MESSAGE: usize = 10 << 20;
pub(super) const DISCOVERY: &str = "/akash.discovery.v1.Discovery/GetInfo";
const REFLECTION: &str = "/grpc.reflection.v1.";
const REFLECTION_ALPHA: &str = "/grpc.reflection.v1alpha.";

#[derive(Debug, thiserror::Error)]
pub enum ReflectionError {
    #[error("choosing the services to describe")]
    Choose(#[from] akash_grpc::DescriptorError),
    #[error("reading the descriptions of services")]
    Read(#[from] prost::DecodeError),
    #[error("indexing the descriptions of services")]
    Index(#[from] tonic_reflection::server::Error),
}

type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

pub(super) fn serve_on<A: App>(
    context: Arc<Context<A>>,
) -> Result<
    impl Fn(Request<Incoming>, SocketAddr) -> Answer + Clone + Send + Sync + 'static,
    ReflectionError,
> {
    let descriptors = akash_grpc::descriptor_set_for(&SERVED)?;
    let descriptors = FileDescriptorSet::decode(descriptors.as_slice())?;
    let reflection = || Builder::configure().register_file_descriptor_set(descriptors.clone());
    let current = reflection().build_v1()?;
    let alpha = reflection().build_v1alpha()?;
    let handler = move |request: Request<Incoming>, _: SocketAddr| -> Answer {
        let path = request.uri().path().to_owned();
        if path.starts_with(REFLECTION) {
            return reflect(current.clone(), request);
        }
        if path.starts_with(REFLECTION_ALPHA) {
            return reflect(alpha.clone(), request);
        }
        let call = Call { context: Arc::clone(&context), path };
        Box::pin(async move {
            let mut grpc = Grpc::new(Raw).apply_max_message_size_config(Some(MAX_MESSAGE), None);
            grpc.unary(call, request).await
        })
    };
    Ok(handler)
}

fn reflect<S>(mut service: S, request: Request<Incoming>) -> Answer
where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible> + Send + 'static,
    S::Future: Send,
{
    Box::pin(async move {
        match service.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    })
}

/// One call: whatever method its path names.
struct Call<A> {
    context: Arc<Context<A>>,
    path: String,
}

impl<A: App> UnaryService<Vec<u8>> for Call<A> {
    type Response = Vec<u8>;
    type Future = Pin<Box<dyn Future<Output = Result<tonic::Response<Vec<u8>>, Status>> + Send>>;

    fn call(&mut self, request: tonic::Request<Vec<u8>>) -> Self::Future {
        let (context, path) = (Arc::clone(&self.context), self.path.clone());
        Box::pin(async move { answer(&context, &path, &request).await })
    }
}

async fn answer<A: App>(
    context: &Context<A>,
    path: &str,
    request: &tonic::Request<Vec<u8>>,
) -> Result<tonic::Response<Vec<u8>>, Status> {
    if let Some(text) = context.faults.failure(path) {
        return Err(Status::unavailable(text));
    }
    if path == DISCOVERY {
        let info = super::services::message(&context.view().chain.chain_id);
        return Ok(tonic::Response::new(info.encode_to_vec()));
    }
    let height = asked_height(request.metadata())?;
    match services::query(context, path, request.get_ref(), height).await {
        Ok(Found { value, height }) => {
            let mut response = tonic::Response::new(value);
            response.metadata_mut().insert(HEIGHT, MetadataValue::from(height));
            Ok(response)
        }
        Err(refusal) if refusal.is_unknown_path() => Err(unknown(path)),
        Err(Refusal { grpc_code, grpc_text, height, .. }) => {
            let mut metadata = MetadataMap::new();
            if height > 0 {
                metadata.insert(HEIGHT, MetadataValue::from(height));
            }
            Err(Status::with_metadata(grpc_code, grpc_text, metadata))
        }
    }
}

fn asked_height(metadata: &MetadataMap) -> Result<i64, Status> {
    let Some(value) = metadata.get(HEIGHT) else { return Ok(0) };
    height_of(value.to_str().unwrap_or_default())
}

/// The height that a client asks for in its metadata or headers.
pub(super) fn height_of(text: &str) -> Result<i64, Status> {
    text.parse().map_err(|_| {
        let text = format!(
            "Baseapp.RegisterGRPCServer: invalid height header {HEIGHT:?}: strconv.ParseInt: parsing {text:?}: invalid syntax: invalid request"
        );
        Status::new(Code::Unknown, text)
    })
}

/// The texts of the Go server for what it does not know.
fn unknown(path: &str) -> Status {
    let Some((service, method)) = path.trim_start_matches('/').rsplit_once('/') else {
        return Status::unimplemented(format!("malformed method name: {path:?}"));
    };
    Status::unimplemented(if SERVED.contains(&service) {
        format!("unknown method {method} for service {service}")
    } else {
        format!("unknown service {service}")
    })
}

/// Takes messages from the wire and puts them there without looking inside.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::server) struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let mut message = vec![0; buffer.remaining()];
        buffer.copy_to_slice(&mut message);
        Ok(Some(message))
    }
}
