//! A chain whose every block makes a given number of orders, numbered by height and place.

use akash_devnet::node::{App, sha256};
use akash_devnet::state::{BlockInfo, Event, QueryError, SimulateError, Simulated, TxResult};

/// The tenant of all orders.
pub(crate) const TENANT: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";

/// The state of the chain: nothing but its height.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub(crate) per_block: u32,
    height: u64,
}

impl Orders {
    pub(crate) const fn new(per_block: u32) -> Self {
        Self { per_block, height: 0 }
    }
}

impl App for Orders {
    fn begin_block(&mut self, block: BlockInfo) -> Vec<Event> {
        self.height = block.height;
        Vec::new()
    }

    fn check_tx(&mut self, _: &[u8]) -> TxResult {
        TxResult::default()
    }

    fn deliver_tx(&mut self, _: &[u8]) -> TxResult {
        TxResult::default()
    }

    fn end_block(&mut self) -> Vec<Event> {
        let height = self.height;
        let order = |place: u32| {
            let id = format!(r#"{{"owner":"{TENANT}","dseq":"{height}","gseq":1,"oseq":{place}}}"#);
            let attributes =
                vec![("id".to_owned(), id, true), ("msg_index".to_owned(), "0".to_owned(), true)];
            Event { kind: "akash.market.v1.EventOrderCreated".to_owned(), attributes }
        };
        (1..=self.per_block).map(order).collect()
    }

    fn commit(&mut self) -> [u8; 32] {
        sha256(&self.height.to_be_bytes())
    }

    fn simulate(&self, _: &[u8]) -> Result<Simulated, SimulateError> {
        Ok(Simulated::default())
    }

    fn query(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, QueryError> {
        Ok(Vec::new())
    }
}
