//! gRPC methods asked through the JSON-RPC method `abci_query`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Malformed, NoAnswer, Reply, RpcClient, Transport, status};

/// The transport that every node offers: `abci_query` on its CometBFT port.
#[derive(Clone, Debug)]
pub struct Abci {
    rpc: RpcClient,
}

impl Abci {
    /// Asks through `rpc`.
    pub const fn new(rpc: RpcClient) -> Self {
        Self { rpc }
    }
}

impl Transport for Abci {
    async fn unary(&self, path: &str, request: Vec<u8>) -> Result<Reply, NoAnswer> {
        let data = hex::encode(request);
        let params = Params { path, data: &data, height: "0", prove: false };
        let result: QueryResult = self.rpc.call("abci_query", &params).await?;
        result.response.into_reply()
    }
}

#[derive(Serialize)]
struct Params<'a> {
    path: &'a str,
    data: &'a str,
    height: &'a str,
    prove: bool,
}

#[derive(Deserialize)]
struct QueryResult {
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    code: u32,
    #[serde(default)]
    codespace: String,
    #[serde(default)]
    log: String,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    height: String,
}

impl Response {
    fn into_reply(self) -> Result<Reply, NoAnswer> {
        let height = self.height.parse().ok().filter(|&height| height > 0);
        if self.code != 0 {
            let failure = status::from_abci(&self.codespace, self.code, &self.log);
            return Err(NoAnswer { failure, height });
        }
        let bytes = STANDARD.decode(self.value.unwrap_or_default()).map_err(|error| {
            Malformed::Json { what: "abci_query value", reason: error.to_string() }
        })?;
        Ok(Reply { bytes: Bytes::from(bytes), height })
    }
}
