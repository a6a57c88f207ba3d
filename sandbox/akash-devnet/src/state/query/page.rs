//! Pages of lists: the framework's plain kind, and the opaque keys of the Akash modules.

use akash_proto::cosmos::base::query::v1beta1::{PageRequest, PageResponse};

use super::{Answer, QueryError};

/// Items of a page where the request says nothing.
const DEFAULT_LIMIT: u64 = 100;

/// Which part of a list is asked for.
pub(super) struct Page {
    pub(super) key: Vec<u8>,
    pub(super) offset: u64,
    pub(super) limit: u64,
    pub(super) reverse: bool,
    count_total: bool,
}

impl From<Option<PageRequest>> for Page {
    fn from(request: Option<PageRequest>) -> Self {
        let PageRequest { key, offset, limit, count_total, reverse } = request.unwrap_or_default();
        let count_total = count_total || limit == 0;
        let limit = if limit == 0 { DEFAULT_LIMIT } else { limit };
        Self { key, offset, limit, reverse, count_total }
    }
}

/// One page of a list as the framework makes it. Items come with the key they have in its store,
/// in order; the key of the first item of the next page is the answer's `next_key`.
pub(super) fn plain<T>(
    items: impl DoubleEndedIterator<Item = (Vec<u8>, T)>,
    request: Option<PageRequest>,
) -> Answer<(Vec<T>, PageResponse)> {
    let page = Page::from(request);
    if page.offset > 0 && !page.key.is_empty() {
        return Err(QueryError::invalid(
            "invalid request, either offset or key is expected, got both",
        ));
    }
    let items: Box<dyn Iterator<Item = (Vec<u8>, T)>> =
        if page.reverse { Box::new(items.rev()) } else { Box::new(items) };
    let before = |key: &[u8]| match (page.key.is_empty(), page.reverse) {
        (true, _) => false,
        (false, false) => key < page.key.as_slice(),
        (false, true) => key > page.key.as_slice(),
    };
    let mut response = PageResponse::default();
    let (mut taken, mut seen) = (Vec::new(), 0_u64);
    for (key, item) in items.skip_while(|(key, _)| before(key)) {
        seen += 1;
        if seen <= page.offset {
            continue;
        }
        if seen - page.offset <= page.limit {
            taken.push(item);
        } else if response.next_key.is_empty() {
            response.next_key = key;
            if !page.count_total || !page.key.is_empty() {
                break;
            }
        }
    }
    if page.count_total && page.key.is_empty() {
        response.total = seen;
    }
    Ok((taken, response))
}

/// The position of a list over states, as the Akash modules write it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// States still to be listed, the first being listed.
    pub(super) states: Vec<u8>,
    pub(super) key: Vec<u8>,
    /// Which index is walked; absent where there is only one.
    pub(super) path: Option<u8>,
}

impl Cursor {
    /// Checksum, states, first state, key, path; each list with its length before it.
    pub(super) fn encode(&self) -> Vec<u8> {
        let first: Vec<u8> = self.states.first().copied().into_iter().collect();
        let path: Vec<u8> = self.path.into_iter().collect();
        let mut body = Vec::new();
        for part in [&self.states, &first, &self.key, &path] {
            if !part.is_empty() {
                // No part comes near 255 bytes.
                body.push(u8::try_from(part.len()).unwrap_or(u8::MAX));
                body.extend_from_slice(part);
            }
        }
        let mut encoded = crc32fast::hash(&body).to_be_bytes().to_vec();
        encoded.extend(body);
        encoded
    }

    pub(super) fn decode(bytes: &[u8]) -> Answer<Self> {
        let invalid = |why: String| QueryError::invalid(format!("pagination: invalid key: {why}"));
        let Some((checksum, body)) = bytes.split_first_chunk::<4>().filter(|_| bytes.len() > 4)
        else {
            return Err(invalid("invalid key length".to_owned()));
        };
        let (expected, found) = (u32::from_be_bytes(*checksum), crc32fast::hash(body));
        if expected != found {
            return Err(invalid(format!("invalid checksum, 0x{expected:08x} != 0x{found:08x}")));
        }
        let mut rest = body;
        let mut part = || -> Option<Vec<u8>> {
            let (length, tail) = rest.split_first()?;
            let (part, tail) = tail.split_at_checked(usize::from(*length))?;
            rest = tail;
            Some(part.to_vec())
        };
        let parts = (part(), part(), part());
        let (Some(states), Some(_), Some(key)) = parts else {
            return Err(invalid("invalid state length".to_owned()));
        };
        let path = if rest.is_empty() {
            None
        } else {
            match rest {
                [1, path] => Some(*path),
                _ => return Err(invalid("invalid state length".to_owned())),
            }
        };
        Ok(Self { states, key, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cursor() -> Cursor {
        let mut key = b"akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r\0".to_vec();
        key.extend(101_u64.to_be_bytes());
        key.extend(1_u32.to_be_bytes());
        key.extend(1_u32.to_be_bytes());
        Cursor { states: vec![2, 3], key, path: None }
    }

    #[test]
    fn a_recorded_key_is_written_and_read() {
        let recorded = "c8eebd8b02020301023d616b6173683136656d6c7366676d333235646534687771677539\
                        77737a67386676636d30797730776b38347200000000000000006500000001000000\
                        01";
        let recorded = hex::decode(recorded.replace(' ', "")).unwrap();
        assert_eq!(Cursor::decode(&recorded), Ok(cursor()));
        assert_eq!(hex::encode(cursor().encode()), hex::encode(recorded));
    }

    #[test]
    fn a_damaged_key_is_refused_in_the_nodes_words() {
        let text = |bytes: &[u8]| Cursor::decode(bytes).unwrap_err().grpc_text();
        assert_eq!(text(&[1, 2, 3, 4]), "pagination: invalid key: invalid key length");
        let mut damaged = cursor().encode();
        damaged[10] ^= 1;
        assert!(
            text(&damaged).starts_with("pagination: invalid key: invalid checksum, 0xc8eebd8b")
        );
    }

    proptest! {
        #[test]
        fn no_key_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Cursor::decode(&bytes);
            let mut valid = crc32fast::hash(&bytes).to_be_bytes().to_vec();
            valid.extend(bytes);
            let _ = Cursor::decode(&valid);
        }

        #[test]
        fn pages_put_together_are_the_list(
            count in 0u8..40,
            limit in 1u64..15,
            reverse in any::<bool>(),
        ) {
            let items = || (0..count).map(|number| (vec![number], number));
            let mut all = Vec::new();
            let mut key = Vec::new();
            loop {
                let request = PageRequest { key, limit, reverse, ..PageRequest::default() };
                let (page, next) = plain(items(), Some(request)).unwrap();
                all.extend(page);
                key = next.next_key;
                if key.is_empty() {
                    break;
                }
            }
            let mut expected: Vec<u8> = (0..count).collect();
            if reverse {
                expected.reverse();
            }
            prop_assert_eq!(all, expected);
        }
    }
}
