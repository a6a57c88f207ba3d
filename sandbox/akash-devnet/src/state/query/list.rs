//! Lists of the market and of deployments, walked the way the chain walks them.
//!
//! By owner along the primary key, by provider along its index, or state by state. The position of
//! the next page says which way, so that a page can follow without repeating the filters.

use akash_proto::cosmos::base::query::v1beta1::{PageRequest, PageResponse};

use super::page::{Cursor, Page};
use super::{Answer, QueryError};
use crate::state::error::GrpcCode;
use crate::state::keys::ByText;
use crate::state::tables::Tables;

/// Items of a table, both ways.
pub(super) type Items<'t, T> = Box<dyn DoubleEndedIterator<Item = &'t T> + 't>;

pub(super) trait Listed: Sized {
    type Key: Copy + Ord;
    type State: Copy + PartialEq + 'static;

    const STATES: &'static [Self::State];
    /// How the paths are numbered in the position of a page.
    const PATHS: Paths;

    fn state(&self) -> Self::State;
    fn key(&self) -> Self::Key;
    fn state_code(state: Self::State) -> u8;
    fn parse_state(text: &str) -> Option<Self::State>;

    fn encode(key: &Self::Key) -> Vec<u8>;
    fn decode(bytes: &[u8]) -> Option<Self::Key>;
    fn owner(key: &Self::Key) -> ByText;
    fn provider(key: &Self::Key) -> ByText;

    /// First and last key, of one owner or of all.
    fn range(owner: Option<ByText>) -> (Self::Key, Self::Key);
    fn by_key<'t>(tables: &'t Tables, first: Self::Key, last: Self::Key) -> Items<'t, Self>;
    fn by_state<'t>(
        tables: &'t Tables,
        state: Self::State,
        first: Self::Key,
        last: Self::Key,
    ) -> Items<'t, Self>;
    /// Of one provider; `state` may narrow it.
    fn by_provider<'t>(
        tables: &'t Tables,
        provider: ByText,
        state: Option<Self::State>,
        first: Self::Key,
        last: Self::Key,
    ) -> Items<'t, Self>;
}

/// How the paths are numbered in the position of a page.
pub(super) enum Paths {
    /// Nothing for states, 1 for an owner.
    OwnerOnly,
    /// 0 for states, 1 for a provider, 2 for an owner.
    All,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Path {
    State,
    Provider(ByText),
    Owner(ByText),
}

impl Paths {
    const fn number(&self, path: Path) -> Option<u8> {
        match (self, path) {
            (Self::OwnerOnly, Path::Owner(_)) => Some(1),
            (Self::OwnerOnly, _) => None,
            (Self::All, Path::State) => Some(0),
            (Self::All, Path::Provider(_)) => Some(1),
            (Self::All, Path::Owner(_)) => Some(2),
        }
    }
}

pub(super) struct Request<'q, K> {
    pub(super) state: &'q str,
    /// `Some(None)` for an owner that cannot exist.
    pub(super) owner: Option<Option<ByText>>,
    pub(super) provider: Option<Option<ByText>>,
    /// Narrows the keys of an owner, where more of the key is given.
    pub(super) range: Option<(K, K)>,
    pub(super) page: Option<PageRequest>,
}

/// One page of a list, of what `accept` accepts.
pub(super) fn list<'t, T: Listed>(
    tables: &'t Tables,
    request: Request<'_, T::Key>,
    accept: impl Fn(&T) -> bool,
) -> Answer<(Vec<&'t T>, PageResponse)> {
    let page = Page::from(request.page);
    if page.offset > 0 && request.state.is_empty() {
        return Err(QueryError::invalid(
            "invalid request parameters. if offset is set, filter.state must be provided",
        ));
    }
    let Some(walk) = Walk::<T>::new(request.state, request.owner, request.provider, &page)? else {
        return Ok((Vec::new(), PageResponse::default()));
    };
    let mut items = walk
        .items(tables, request.range, page.reverse)
        .filter(|item| accept(item))
        .skip(usize::try_from(page.offset).unwrap_or(usize::MAX));
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let taken: Vec<&T> = items.by_ref().take(limit).collect();
    let total = u64::try_from(taken.len()).unwrap_or(u64::MAX);
    let next_key = items.next().map(|next| walk.cursor(next).encode()).unwrap_or_default();
    Ok((taken, PageResponse { next_key, total }))
}

struct Walk<T: Listed> {
    states: Vec<T::State>,
    path: Path,
    resume: Option<T::Key>,
}

impl<T: Listed> Walk<T> {
    /// `None` where nothing can be found.
    fn new(
        state: &str,
        owner: Option<Option<ByText>>,
        provider: Option<Option<ByText>>,
        page: &Page,
    ) -> Answer<Option<Self>> {
        if !page.key.is_empty() {
            return Self::resume(&page.key).map(Some);
        }
        let mut states = match state {
            "" => T::STATES.to_vec(),
            name => {
                let state = T::parse_state(name);
                vec![state.ok_or_else(|| QueryError::invalid("invalid state value"))?]
            }
        };
        let path = match (owner, provider) {
            (Some(None), _) | (None, Some(None)) => return Ok(None),
            (Some(Some(owner)), _) => Path::Owner(owner),
            (None, Some(Some(provider))) => Path::Provider(provider),
            (None, None) => Path::State,
        };
        if page.reverse && path == Path::State {
            states.reverse();
        }
        Ok(Some(Self { states, path, resume: None }))
    }

    fn resume(key: &[u8]) -> Answer<Self> {
        let cursor = Cursor::decode(key)?;
        let state =
            |code: &u8| T::STATES.iter().copied().find(|state| T::state_code(*state) == *code);
        let states = cursor.states.iter().filter_map(state).collect();
        let broken =
            || QueryError::status(GrpcCode::Internal, "encoding error: invalid pagination key");
        let key = T::decode(&cursor.key).ok_or_else(broken)?;
        let path = match (T::PATHS, cursor.path) {
            (Paths::OwnerOnly, Some(1)) | (Paths::All, Some(2)) => Path::Owner(T::owner(&key)),
            (Paths::OwnerOnly, _) | (Paths::All, Some(0)) => Path::State,
            (Paths::All, Some(1)) => Path::Provider(T::provider(&key)),
            (Paths::All, _) => return Err(QueryError::invalid("invalid pagination key")),
        };
        Ok(Self { states, path, resume: Some(key) })
    }

    fn items<'w, 't: 'w>(
        &'w self,
        tables: &'t Tables,
        narrowed: Option<(T::Key, T::Key)>,
        reverse: bool,
    ) -> Box<dyn Iterator<Item = &'t T> + 'w> {
        let bounds = move |(first, last): (T::Key, T::Key)| match (self.resume, reverse) {
            (None, _) => (first, last),
            (Some(key), false) => (key.max(first), last),
            (Some(key), true) => (first, key.min(last)),
        };
        let directed = move |items: Items<'t, T>| -> Box<dyn Iterator<Item = &'t T> + 't> {
            if reverse { Box::new(items.rev()) } else { items }
        };
        let wanted = move |item: &&'t T| self.states.contains(&item.state());
        match self.path {
            Path::Owner(owner) => {
                let (first, last) = bounds(narrowed.unwrap_or_else(|| T::range(Some(owner))));
                Box::new(directed(T::by_key(tables, first, last)).filter(wanted))
            }
            Path::Provider(provider) => {
                let (first, last) = bounds(T::range(None));
                let state = match self.states.as_slice() {
                    [state] => Some(*state),
                    _ => None,
                };
                let items = T::by_provider(tables, provider, state, first, last);
                Box::new(directed(items).filter(wanted))
            }
            Path::State => {
                Box::new(self.states.iter().enumerate().flat_map(move |(index, state)| {
                    let all = T::range(None);
                    let (first, last) = if index == 0 { bounds(all) } else { all };
                    directed(T::by_state(tables, *state, first, last))
                }))
            }
        }
    }

    /// The position of an item that comes next.
    fn cursor(&self, next: &T) -> Cursor {
        let from = match self.path {
            // The states before that of the next item are done.
            Path::State => self.states.iter().position(|state| *state == next.state()),
            Path::Owner(_) | Path::Provider(_) => Some(0),
        };
        let states = self.states.iter().skip(from.unwrap_or_default());
        Cursor {
            states: states.map(|state| T::state_code(*state)).collect(),
            key: T::encode(&next.key()),
            path: T::PATHS.number(self.path),
        }
    }
}
