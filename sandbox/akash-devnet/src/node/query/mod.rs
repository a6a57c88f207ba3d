//! The language in which clients say which events they want.
//!
//! `tm.event='Tx' AND tx.height>=5 AND message.action CONTAINS 'Bid' AND transfer.sender EXISTS`

mod parse;

use crate::state::Event;

pub use parse::QueryParseError;

use super::time;
use parse::Decimal;

/// Conditions that must all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    conditions: Vec<Condition>,
}

/// One condition on the values of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// Type of the event and key of the attribute, joined by a point.
    pub(super) tag: String,
    pub(super) test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Exists,
    Contains(String),
    Equals(String),
    Compare(Comparison, Operand),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Number(String),
    Time(String),
    Date(String),
}

impl Query {
    /// Whether all conditions hold for some events. `tags` are further tags with one value each,
    /// such as `tx.height`.
    pub fn matches(&self, tags: &[(&str, &str)], events: &[Event]) -> bool {
        self.conditions.iter().all(|condition| condition.matches(tags, events))
    }

    /// The value that a tag must equal, where the query says so with a text.
    pub fn required(&self, tag: &str) -> Option<&str> {
        self.conditions.iter().filter(|condition| condition.tag == tag).find_map(|condition| {
            match &condition.test {
                Test::Equals(text) => Some(text.as_str()),
                _ => None,
            }
        })
    }

    /// The lowest and highest whole number that a tag can have.
    pub fn range(&self, tag: &str) -> (u64, u64) {
        let (mut low, mut high) = (0, u64::MAX);
        for condition in self.conditions.iter().filter(|condition| condition.tag == tag) {
            let Test::Compare(comparison, Operand::Number(number)) = &condition.test else {
                continue;
            };
            // Anything else narrows nothing down; the conditions are tried anyway.
            let Ok(number) = number.parse::<u64>() else { continue };
            match comparison {
                Comparison::Equal => (low, high) = (low.max(number), high.min(number)),
                Comparison::Less => high = high.min(number.saturating_sub(1)),
                Comparison::LessOrEqual => high = high.min(number),
                Comparison::Greater => low = low.max(number.saturating_add(1)),
                Comparison::GreaterOrEqual => low = low.max(number),
            }
        }
        (low, high)
    }
}

impl Condition {
    fn matches(&self, tags: &[(&str, &str)], events: &[Event]) -> bool {
        if tags.iter().any(|(tag, value)| *tag == self.tag && self.test.holds(value)) {
            return true;
        }
        events.iter().any(|event| {
            let Some(rest) = self.tag.strip_prefix(event.kind.as_str()) else { return false };
            if rest.is_empty() {
                return self.test.holds("");
            }
            let Some(key) = rest.strip_prefix('.') else { return false };
            event.attributes.iter().any(|(name, value, _)| name == key && self.test.holds(value))
        })
    }
}

impl Test {
    fn holds(&self, value: &str) -> bool {
        match self {
            Self::Exists => true,
            Self::Contains(text) => value.contains(text.as_str()),
            Self::Equals(text) => value == text,
            Self::Compare(comparison, operand) => {
                operand.compare(value).is_some_and(|order| comparison.accepts(order))
            }
        }
    }
}

impl Comparison {
    const fn accepts(self, value_to_operand: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => value_to_operand.is_eq(),
            Self::Less => value_to_operand.is_lt(),
            Self::LessOrEqual => value_to_operand.is_le(),
            Self::Greater => value_to_operand.is_gt(),
            Self::GreaterOrEqual => value_to_operand.is_ge(),
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl Operand {
    /// How a value compares to the operand; `None` where it is not of that kind.
    fn compare(&self, value: &str) -> Option<std::cmp::Ordering> {
        match self {
            Self::Number(number) => Some(Decimal::leading(value)?.cmp(&Decimal::leading(number)?)),
            Self::Time(text) => Some(time::parse_rfc3339(value)?.cmp(&time::parse_rfc3339(text)?)),
            Self::Date(text) => Some(parse::midnight(value)?.cmp(&parse::midnight(text)?)),
        }
    }
}

impl std::fmt::Display for Query {
    /// The query in one form however it was written; who subscribes is known by it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, condition) in self.conditions.iter().enumerate() {
            if index > 0 {
                f.write_str(" AND ")?;
            }
            write!(f, "{condition}")?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tag = &self.tag;
        match &self.test {
            Test::Exists => write!(f, "{tag} EXISTS"),
            Test::Contains(text) => write!(f, "{tag} CONTAINS '{text}'"),
            Test::Equals(text) => write!(f, "{tag} = '{text}'"),
            Test::Compare(comparison, operand) => {
                let comparison = comparison.text();
                match operand {
                    Operand::Number(text) => write!(f, "{tag} {comparison} {text}"),
                    Operand::Time(text) => write!(f, "{tag} {comparison} TIME {text}"),
                    Operand::Date(text) => write!(f, "{tag} {comparison} DATE {text}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
