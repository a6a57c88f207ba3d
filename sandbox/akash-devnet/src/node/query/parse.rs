//! Reading a query.

use std::cmp::Ordering;

use super::{Comparison, Condition, Operand, Query, Test};
use crate::node::time;

/// Why a text is no query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryParseError {
    #[error("offset {at}: EOF")]
    Ends { at: usize },
    #[error("offset {at}: invalid input {character} at offset {after}")]
    Character { at: usize, after: usize, character: char },
    #[error("offset {at}: got {got}, {wanted}")]
    Unexpected {
        at: usize,
        got: &'static str,
        /// What must, with the verb.
        wanted: &'static str,
    },
    #[error("offset {at}: invalid {kind} value")]
    Time { at: usize, kind: &'static str },
}

impl std::str::FromStr for Query {
    type Err = QueryParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut scanner = Scanner { text, at: 0 };
        let mut conditions = vec![condition(&mut scanner)?];
        while let Some((at, token)) = scanner.next()? {
            if token != Token::And {
                let (got, wanted) = (token.name(), "want AND operator");
                return Err(QueryParseError::Unexpected { at, got, wanted });
            }
            conditions.push(condition(&mut scanner)?);
        }
        Ok(Self { conditions })
    }
}

fn condition(scanner: &mut Scanner<'_>) -> Result<Condition, QueryParseError> {
    let (at, token) = scanner.require()?;
    let Token::Tag(tag) = token else {
        return Err(QueryParseError::Unexpected { at, got: token.name(), wanted: "wanted tag" });
    };
    let tag = tag.to_owned();
    let (at, token) = scanner.require()?;
    let comparison = match token {
        Token::Exists => return Ok(Condition { tag, test: Test::Exists }),
        Token::Contains => {
            let (at, token) = scanner.require()?;
            let Token::Text(text) = token else {
                return Err(QueryParseError::Unexpected {
                    at,
                    got: token.name(),
                    wanted: "wanted string",
                });
            };
            return Ok(Condition { tag, test: Test::Contains(text.to_owned()) });
        }
        Token::Compare(comparison) => comparison,
        token => {
            let wanted = "wanted <= operator, >= operator, < operator, > operator, = operator, CONTAINS operator or EXISTS operator";
            return Err(QueryParseError::Unexpected { at, got: token.name(), wanted });
        }
    };
    let (at, token) = scanner.require()?;
    let operand = match token {
        Token::Number(text) => Operand::Number(text.to_owned()),
        Token::Time(text) => Operand::Time(text.to_owned()),
        Token::Date(text) => Operand::Date(text.to_owned()),
        Token::Text(text) if comparison == Comparison::Equal => {
            return Ok(Condition { tag, test: Test::Equals(text.to_owned()) });
        }
        token => {
            let wanted = match comparison {
                Comparison::Equal => "wanted number, timestamp, datestamp or string",
                _ => "wanted number, timestamp or datestamp",
            };
            return Err(QueryParseError::Unexpected { at, got: token.name(), wanted });
        }
    };
    Ok(Condition { tag, test: Test::Compare(comparison, operand) })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Tag(&'a str),
    Text(&'a str),
    Number(&'a str),
    Time(&'a str),
    Date(&'a str),
    And,
    Contains,
    Exists,
    Compare(Comparison),
}

impl Token<'_> {
    const fn name(self) -> &'static str {
        match self {
            Self::Tag(_) => "tag",
            Self::Text(_) => "string",
            Self::Number(_) => "number",
            Self::Time(_) => "timestamp",
            Self::Date(_) => "datestamp",
            Self::And => "AND operator",
            Self::Contains => "CONTAINS operator",
            Self::Exists => "EXISTS operator",
            Self::Compare(Comparison::Equal) => "= operator",
            Self::Compare(Comparison::Less) => "< operator",
            Self::Compare(Comparison::LessOrEqual) => "<= operator",
            Self::Compare(Comparison::Greater) => "> operator",
            Self::Compare(Comparison::GreaterOrEqual) => ">= operator",
        }
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn require(&mut self) -> Result<(usize, Token<'a>), QueryParseError> {
        let at = self.at;
        self.next()?.ok_or(QueryParseError::Ends { at })
    }

    /// The next token and where it stands; `None` at the end.
    fn next(&mut self) -> Result<Option<(usize, Token<'a>)>, QueryParseError> {
        self.take_while(char::is_whitespace);
        let at = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(None) };
        let token = match first {
            '0'..='9' => Token::Number(self.number()),
            '\'' => Token::Text(self.quoted(at)?),
            '<' | '>' | '=' => Token::Compare(self.comparison(first)),
            _ if first == '_' || first.is_alphanumeric() => self.word(at)?,
            character => {
                let after = at + character.len_utf8();
                return Err(QueryParseError::Character { at, after, character });
            }
        };
        Ok(Some((at, token)))
    }

    fn word(&mut self, at: usize) -> Result<Token<'a>, QueryParseError> {
        let in_tag = |c: char| matches!(c, '.' | '_' | '-') || c.is_alphanumeric();
        let word = self.take_while(in_tag);
        Ok(match word {
            "AND" => Token::And,
            "EXISTS" => Token::Exists,
            "CONTAINS" => Token::Contains,
            "TIME" if self.skip(' ') => {
                let text =
                    self.take_while(|c| matches!(c, '-' | 'T' | ':' | '+' | 'Z' | '0'..='9'));
                let valid = time::parse_rfc3339(text).is_some();
                valid
                    .then_some(Token::Time(text))
                    .ok_or(QueryParseError::Time { at, kind: "TIME" })?
            }
            "DATE" if self.skip(' ') => {
                let text = self.take_while(|c| matches!(c, '-' | '0'..='9'));
                let valid = midnight(text).is_some();
                valid
                    .then_some(Token::Date(text))
                    .ok_or(QueryParseError::Time { at, kind: "DATE" })?
            }
            word => Token::Tag(word),
        })
    }

    fn number(&mut self) -> &'a str {
        let start = self.rest();
        let from = self.at;
        self.take_while(|c| c.is_ascii_digit());
        if self.skip('.') {
            self.take_while(|c| c.is_ascii_digit());
        }
        start.get(..self.at - from).unwrap_or_default()
    }

    fn quoted(&mut self, at: usize) -> Result<&'a str, QueryParseError> {
        self.skip('\'');
        let text = self.take_while(|c| c != '\'');
        if self.skip('\'') { Ok(text) } else { Err(QueryParseError::Ends { at }) }
    }

    fn comparison(&mut self, first: char) -> Comparison {
        self.skip(first);
        match first {
            '=' => Comparison::Equal,
            '<' if self.skip('=') => Comparison::LessOrEqual,
            '<' => Comparison::Less,
            _ if self.skip('=') => Comparison::GreaterOrEqual,
            _ => Comparison::Greater,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|character| !accept(character)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn skip(&mut self, character: char) -> bool {
        let found = self.rest().starts_with(character);
        if found {
            self.at += character.len_utf8();
        }
        found
    }
}

pub(super) fn midnight(date: &str) -> Option<i64> {
    time::parse_rfc3339(&format!("{date}T00:00:00Z"))
}

/// A number as its digits, without leading zeros before and trailing zeros after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal<'a> {
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Decimal<'a> {
    /// The number that a text begins with: `5000uakt` is 5000.
    pub(super) fn leading(text: &'a str) -> Option<Self> {
        let (whole, rest) = split_digits(text);
        if whole.is_empty() {
            return None;
        }
        let fraction = rest.strip_prefix('.').map_or("", |rest| split_digits(rest).0);
        let whole = whole.trim_start_matches('0');
        Some(Self { whole, fraction: fraction.trim_end_matches('0') })
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let whole = self.whole.len().cmp(&other.whole.len());
        whole.then(self.whole.cmp(other.whole)).then(self.fraction.cmp(other.fraction))
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value() {
        let order = |left, right| Some(Decimal::leading(left)?.cmp(&Decimal::leading(right)?));
        assert_eq!(order("9", "10"), Some(Ordering::Less));
        assert_eq!(order("010", "10"), Some(Ordering::Equal));
        assert_eq!(order("1.50", "1.5"), Some(Ordering::Equal));
        assert_eq!(order("1.49", "1.5"), Some(Ordering::Less));
        assert_eq!(order("5000uakt", "4999.99"), Some(Ordering::Greater));
        assert_eq!(order("340282366920938463463374607431768211456", "1"), Some(Ordering::Greater));
        assert_eq!(order("uakt", "1"), None);
    }
}
