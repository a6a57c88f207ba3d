//! Lists of many pages: complete, or an error, but never endless and never cut short.

use std::sync::Mutex;

use akash_chain::query::{Failure, Malformed, NoAnswer, Query, Reply, Transport, Unavailable};
use akash_proto::akash::market::v1beta5 as wire;
use akash_proto::akash::market::v1beta5::{QueryOrdersRequest, QueryOrdersResponse};
use akash_proto::cosmos::base::query::v1beta1::PageResponse;
use prost::Message;

/// Answers with what a function makes of each page request.
struct Pages<F> {
    say: F,
    asked: Mutex<Vec<QueryOrdersRequest>>,
}

impl<F> Pages<F>
where
    F: Fn(&QueryOrdersRequest, usize) -> Result<(QueryOrdersResponse, Option<u64>), Failure>
        + Send
        + Sync,
{
    fn new(say: F) -> Query<Self> {
        Query::new(Self { say, asked: Mutex::default() })
    }
}

impl<F> Transport for Pages<F>
where
    F: Fn(&QueryOrdersRequest, usize) -> Result<(QueryOrdersResponse, Option<u64>), Failure>
        + Send
        + Sync,
{
    async fn unary(&self, path: &str, request: Vec<u8>) -> Result<Reply, NoAnswer> {
        assert_eq!(path, "/akash.market.v1beta5.Query/Orders");
        let request = QueryOrdersRequest::decode(request.as_slice()).unwrap();
        let mut asked = self.asked.lock().unwrap();
        let (answer, height) = (self.say)(&request, asked.len())?;
        asked.push(request);
        Ok(Reply { bytes: answer.encode_to_vec().into(), height })
    }
}

fn order(dseq: u64) -> wire::Order {
    let id = akash_proto::akash::market::v1::OrderId {
        owner: "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r".to_owned(),
        dseq,
        gseq: 1,
        oseq: 1,
    };
    wire::Order { id: Some(id), state: 1, ..wire::Order::default() }
}

fn page(orders: Vec<wire::Order>, next_key: &[u8]) -> QueryOrdersResponse {
    // The total is of this page only, and sometimes wrong: it must not matter.
    let total = u64::try_from(orders.len()).unwrap();
    let pagination = Some(PageResponse { next_key: next_key.to_vec(), total });
    QueryOrdersResponse { orders, pagination }
}

fn dseqs(orders: &[akash_types::Order]) -> Vec<u64> {
    orders.iter().map(|order| order.id.dseq()).collect()
}

#[tokio::test]
async fn every_page_is_read_and_the_lowest_height_counts() {
    let query = Pages::new(|request, nth| {
        let pagination = request.pagination.as_ref().unwrap();
        assert_eq!((pagination.limit, pagination.offset, pagination.count_total), (2, 0, false));
        assert_eq!(request.filters.as_ref().unwrap().state, "open");
        Ok(match (nth, pagination.key.as_slice()) {
            (0, b"") => (page(vec![order(1), order(2)], b"a"), Some(12)),
            // A page may be short or empty and still not be the last.
            (1, b"a") => (page(vec![], b"b"), Some(10)),
            (2, b"b") => (page(vec![order(3)], b"c"), None),
            (3, b"c") => (page(vec![order(4)], b""), Some(11)),
            other => panic!("{other:?}"),
        })
    })
    .with_page_size(2);
    let answer = query.open_orders().await.unwrap();
    assert_eq!(dseqs(&answer.value.items), [1, 2, 3, 4]);
    assert_eq!(answer.height, Some(10));
    assert_eq!(query.transport().asked.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn an_answer_without_pagination_is_the_last_page() {
    let query = Pages::new(|_, _| {
        Ok((QueryOrdersResponse { orders: vec![order(7)], pagination: None }, Some(3)))
    });
    assert_eq!(dseqs(&query.open_orders().await.unwrap().value.items), [7]);
}

#[tokio::test]
async fn a_node_that_goes_round_in_circles_is_noticed() {
    let same = Pages::new(|_, _| Ok((page(vec![order(1)], b"same"), None)));
    let error = same.open_orders().await.unwrap_err();
    assert_eq!(error.failure(), &Failure::Malformed(Malformed::EndlessPages { page: 2 }));
    let keys: [&[u8]; 3] = [b"a", b"b", b"c"];
    let circle = Pages::new(move |_, nth| Ok((page(vec![], keys[nth % 3]), None)));
    let error = circle.open_orders().await.unwrap_err();
    assert_eq!(error.failure(), &Failure::Malformed(Malformed::EndlessPages { page: 4 }));
    let ever_new = Pages::new(|_, nth| Ok((page(vec![], &nth.to_be_bytes()), None)));
    let error = ever_new.open_orders().await.unwrap_err();
    let limit = akash_chain::query::MAX_PAGES;
    assert_eq!(error.failure(), &Failure::Malformed(Malformed::TooManyPages { limit }));
}

#[tokio::test]
async fn half_a_list_is_an_error_not_a_list() {
    let gone = || Unavailable::Node { text: "gone".to_owned() };
    let query = Pages::new(move |_, nth| match nth {
        0 => Ok((page(vec![order(1)], b"a"), None)),
        _ => Err(gone().into()),
    });
    let error = query.open_orders().await.unwrap_err();
    assert_eq!((error.unavailable(), error.is_transient()), (Some(&gone()), true));
    assert!(error.asked().contains("orders"), "{error}");
    // No node says "not found" of orders: neither at the beginning nor in the middle is it a list.
    let text = || "no".to_owned();
    let nothing = Pages::new(move |_, _| Err(Failure::NotFound { text: text() }));
    assert!(nothing.open_orders().await.is_err());
    let middle = Pages::new(move |_, nth| match nth {
        0 => Ok((page(vec![order(1)], b"a"), None)),
        _ => Err(Failure::NotFound { text: text() }),
    });
    assert!(middle.open_orders().await.unwrap_err().unavailable().is_some());
}

#[tokio::test]
async fn one_unreadable_order_does_not_hide_the_others() {
    let mut odd = order(2);
    odd.state = 77;
    let query =
        Pages::new(move |_, _| Ok((page(vec![order(1), odd.clone(), order(3)], b""), None)));
    let list = query.open_orders().await.unwrap().value;
    assert_eq!(dseqs(&list.items), [1, 3]);
    assert_eq!(list.unreadable.len(), 1);
    let unreadable = &list.unreadable[0];
    assert!(unreadable.item.ends_with("/2/1/1"), "{unreadable}");
    assert!(matches!(unreadable.source, Malformed::Part { .. }), "{unreadable:?}");
}
