//! A server and a client of the generated code, over a real socket on loopback.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::net::SocketAddr;

use akash_grpc::akash::provider::v1::provider_rpc_client::ProviderRpcClient;
use akash_grpc::akash::provider::v1::provider_rpc_server::{ProviderRpc, ProviderRpcServer};
use akash_grpc::cosmos::tx::v1beta1::service_client::ServiceClient;
use akash_grpc::descriptor_set_for;
use akash_proto::akash::deployment::v1beta4::GroupSpec;
use akash_proto::akash::provider::v1::{
    BidScreeningRequest, BidScreeningResponse, ClusterStatus, Leases, Status as ProviderStatus,
};
use akash_proto::cosmos::tx::v1beta1::SimulateRequest;
use prost::Message;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Iter, StreamExt};
use tonic::transport::server::Router;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status};
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};

const PROVIDER_RPC: &str = "akash.provider.v1.ProviderRPC";

/// Answers with what it was built with.
struct FixedProvider {
    statuses: Vec<ProviderStatus>,
}

#[tonic::async_trait]
impl ProviderRpc for FixedProvider {
    async fn get_status(&self, _: Request<()>) -> Result<Response<ProviderStatus>, Status> {
        let first = self.statuses.first().cloned();
        first.map(Response::new).ok_or_else(|| Status::unknown("no status yet"))
    }

    type StreamStatusStream = Iter<std::vec::IntoIter<Result<ProviderStatus, Status>>>;

    async fn stream_status(
        &self,
        _: Request<()>,
    ) -> Result<Response<Self::StreamStatusStream>, Status> {
        let statuses: Vec<_> = self.statuses.iter().cloned().map(Ok).collect();
        Ok(Response::new(tokio_stream::iter(statuses)))
    }

    async fn bid_screening(
        &self,
        _: Request<BidScreeningRequest>,
    ) -> Result<Response<BidScreeningResponse>, Status> {
        Err(Status::unimplemented("BidScreening not implemented"))
    }

    async fn validate_group_spec(
        &self,
        request: Request<BidScreeningRequest>,
    ) -> Result<Response<BidScreeningResponse>, Status> {
        let name = request.into_inner().group_spec.map(|spec| spec.name).unwrap_or_default();
        Ok(Response::new(BidScreeningResponse { reasons: vec![name], ..Default::default() }))
    }
}

fn status(active: u32) -> ProviderStatus {
    ProviderStatus {
        cluster: Some(ClusterStatus { leases: Some(Leases { active }), inventory: None }),
        ..ProviderStatus::default()
    }
}

fn provider() -> Router {
    let provider = FixedProvider { statuses: vec![status(1), status(2)] };
    Server::builder().add_service(ProviderRpcServer::new(provider))
}

async fn connect(server: Router) -> Channel {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

#[tokio::test]
async fn calls_and_streams_arrive() {
    let mut client = ProviderRpcClient::new(connect(provider()).await);

    assert_eq!(client.get_status(()).await.unwrap().into_inner(), status(1));

    let stream = client.stream_status(()).await.unwrap().into_inner();
    let received: Vec<_> = stream.map(Result::unwrap).collect().await;
    assert_eq!(received, [status(1), status(2)]);

    let request = BidScreeningRequest {
        group_spec: Some(GroupSpec { name: "westcoast".into(), ..GroupSpec::default() }),
        ..BidScreeningRequest::default()
    };
    let answer = client.validate_group_spec(request.clone()).await.unwrap().into_inner();
    assert_eq!(answer.reasons, ["westcoast"]);

    let refused = client.bid_screening(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
    assert_eq!(refused.message(), "BidScreening not implemented");
}

#[tokio::test]
async fn a_service_that_is_not_mounted_is_unimplemented() {
    let mut client = ServiceClient::new(connect(provider()).await);
    let refused = client.simulate(SimulateRequest::default()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
}

async fn ask_reflection(question: MessageRequest) -> MessageResponse {
    let descriptors = descriptor_set_for(&[PROVIDER_RPC]).unwrap();
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(&descriptors)
        .build_v1()
        .unwrap();
    let mut client = ServerReflectionClient::new(connect(provider().add_service(reflection)).await);
    let request = ServerReflectionRequest { host: String::new(), message_request: Some(question) };
    let answers = client.server_reflection_info(tokio_stream::once(request)).await.unwrap();
    let answer: ServerReflectionResponse = answers.into_inner().next().await.unwrap().unwrap();
    answer.message_response.unwrap()
}

#[tokio::test]
async fn reflection_lists_what_the_go_provider_lists() {
    let answer = ask_reflection(MessageRequest::ListServices(String::new())).await;
    let MessageResponse::ListServicesResponse(list) = answer else { panic!("{answer:?}") };
    let mut names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    names.sort();
    assert_eq!(names, [PROVIDER_RPC, "grpc.reflection.v1.ServerReflection"]);
}

#[tokio::test]
async fn reflection_finds_a_message_of_another_package() {
    let symbol = "akash.market.v1beta5.ResourceOffer";
    let answer = ask_reflection(MessageRequest::FileContainingSymbol(symbol.into())).await;
    let MessageResponse::FileDescriptorResponse(files) = answer else { panic!("{answer:?}") };
    let [file] = files.file_descriptor_proto.try_into().unwrap();
    let file = prost_types::FileDescriptorProto::decode(file.as_slice()).unwrap();
    assert_eq!(file.name(), "akash/market/v1beta5/resourcesoffer.proto");
}
