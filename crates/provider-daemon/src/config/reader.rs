//! Reading settings one by one, with every mistake kept and none stopping the rest.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::time::Duration;

use akash_types::hostname::is_dns_name;
use akash_types::{Coin, Dec, DecCoin, parse_go_duration};

use super::given::{Given, Place, Value};
use super::setting::{Effect, Setting};
use super::table::settings;

/// Settings as they hold, and what was found wrong with them so far.
pub(super) struct Reader<'a> {
    pub(super) given: &'a Given,
    pub(super) errors: Vec<ConfigError>,
    pub(super) notes: Vec<Note>,
    values: BTreeMap<&'static str, (&'static Setting, Value)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(given: &'a Given) -> Self {
        let value = |setting: &'static Setting| {
            let default = || Value { text: setting.default.to_owned(), place: Place::Default };
            (setting.name, (setting, given.said(setting.name).unwrap_or_else(default)))
        };
        let values = settings().map(value).collect();
        Self { given, errors: Vec::new(), notes: Vec::new(), values }
    }

    /// What holds of every setting, and who said so.
    pub(super) fn effective(&self) -> BTreeMap<&'static str, Value> {
        self.values.iter().map(|(name, (_, value))| (*name, value.clone())).collect()
    }

    /// Where the value of a setting came from.
    pub(super) fn place(&self, name: &str) -> Place {
        self.values.get(name).map_or(Place::Default, |(_, value)| value.place.clone())
    }

    /// Says for every setting that was given and does nothing why that is so.
    pub(super) fn note_unused(&mut self) {
        let unused = self.values.values().filter_map(|(setting, value)| match setting.effect {
            Effect::Unused(because) if value.place != Place::Default => Some(Note {
                setting: setting.name.to_owned(),
                place: value.place.clone(),
                text: format!("accepted, has no effect, because {because}"),
            }),
            _ => None,
        });
        let unused: Vec<Note> = unused.collect();
        self.notes.extend(unused);
    }

    pub(super) fn wrong(&mut self, name: &str, wrong: Wrong) {
        let (setting, place) = (name.to_owned(), self.place(name));
        self.errors.push(ConfigError { setting, place, wrong: wrong.what, remedy: wrong.remedy });
    }

    /// Keeps something that is worth knowing.
    pub(super) fn note(&mut self, name: &str, text: impl Into<String>) {
        let (setting, place) = (name.to_owned(), self.place(name));
        self.notes.push(Note { setting, place, text: text.into() });
    }

    /// The text, without white space around it.
    pub(super) fn text(&self, name: &str) -> String {
        self.values.get(name).map(|(_, value)| value.text.trim().to_owned()).unwrap_or_default()
    }

    /// The text, if there is one.
    pub(super) fn some(&self, name: &str) -> Option<String> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// What `parse` makes of the text.
    pub(super) fn parsed<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Option<T> {
        match parse(&self.text(name)) {
            Ok(value) => Some(value),
            Err(wrong) => {
                self.wrong(name, wrong);
                None
            }
        }
    }

    /// What `parse` makes of the text, if there is one.
    pub(super) fn optional<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Option<T> {
        self.some(name)?;
        self.parsed(name, parse)
    }

    /// What `parse` makes of each item of a list, except for those it makes nothing of.
    pub(super) fn each<T>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, Wrong>,
    ) -> Vec<T> {
        let mut items = Vec::new();
        for item in self.list(name) {
            match parse(&item) {
                Ok(item) => items.push(item),
                Err(wrong) => self.wrong(name, wrong),
            }
        }
        items
    }

    /// The items of a list, empty ones left out.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let text = self.text(name);
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(str::to_owned).collect()
    }

    pub(super) fn switch(&mut self, name: &str) -> bool {
        self.parsed(name, truth).unwrap_or_default()
    }

    pub(super) fn span(&mut self, name: &str) -> Option<Duration> {
        self.parsed(name, parse)
    }

    /// A span of which zero means "never".
    pub(super) fn span_or_never(&mut self, name: &str) -> Option<Duration> {
        self.span(name).filter(|span| !span.is_zero())
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self, name: &str) -> Option<T> {
        self.parsed(name, |text| {
            let wrong = |_| Wrong::new(format!("{text:?} is not such a number"), NUMBER);
            text.parse().map_err(wrong)
        })
    }
}

const NUMBER: &str = "give a whole number that is not negative and not too large";

/// The truth values of Go.
pub(super) fn truth(text: &str) -> Result<bool, Wrong> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(Wrong::new(format!("{text:?} is neither true nor false"), "give true or false")),
    }
}

/// An error of a library as what is wrong.
pub(super) fn because(remedy: &'static str) -> impl Fn(&dyn Display) -> Wrong {
    move |error| Wrong::new(error.to_string(), remedy)
}

/// A coin in its smallest unit: `5akt` is `5000000uakt`.
pub(super) fn coin(text: &str) -> Result<Coin, Wrong> {
    let wrong = because("give an amount with its denomination, such as 500000uakt or 0.5akt");
    let coin: DecCoin = text.parse().map_err(|error| wrong(&error))?;
    let coin = coin.normalize().map_err(|error| wrong(&error))?;
    let whole = coin.amount().truncate_int();
    match u128::try_from(whole) {
        Ok(amount) if Dec::checked_from_int(whole) == Some(coin.amount()) => {
            Ok(Coin::new(coin.denom().clone(), amount))
        }
        _ => Err(wrong(&format_args!("{text:?} is not a whole number of the smallest unit"))),
    }
}

/// Where to listen, or to connect: `0.0.0.0:8443`, `[::]:8443`, or as Go takes them too `:8443`
/// and `localhost:8443`.
pub(super) fn socket(text: &str) -> Result<SocketAddr, Wrong> {
    let full = match text.split_once(':') {
        Some(("", port)) => format!("0.0.0.0:{port}"),
        Some(("localhost", port)) => format!("127.0.0.1:{port}"),
        _ => text.to_owned(),
    };
    full.parse().map_err(|_| {
        let what = format!("{text:?} is not an address with a port");
        Wrong::new(what, "write it as 0.0.0.0:8443 or [::]:8443")
    })
}

/// A name of DNS, in lower case.
pub(super) fn hostname(text: &str) -> Result<String, Wrong> {
    let lower = text.to_ascii_lowercase();
    if is_dns_name(&lower) {
        return Ok(lower);
    }
    let what = format!("{text:?} is not the name of a host");
    Err(Wrong::new(what, "give letters, digits and dashes with dots between, no URL and no port"))
}

/// Reads a span that is not negative, for flags that are no settings of the provider.
pub fn read_span(text: &str) -> Result<Duration, String> {
    parse(text).map_err(|wrong| format!("{}; {}", wrong.what, wrong.remedy))
}

/// Reads a span that is not negative.
pub(super) fn parse(text: &str) -> Result<Duration, Wrong> {
    let remedy = "write a span of time such as 5m, 1h30m or 90s";
    let trimmed = text.trim();
    let (is_negative, unsigned) = match trimmed.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, trimmed),
    };
    let span = parse_go_duration(unsigned).filter(|_| !(is_negative && unsigned.starts_with('+')));
    let span = span.ok_or_else(|| Wrong::new(format!("{text:?} is not a span of time"), remedy))?;
    match is_negative && !span.is_zero() {
        true => Err(Wrong::new(format!("{text:?} is negative"), "give 0 or more")),
        false => Ok(span),
    }
}

/// A span in a short form that [`parse`] reads back.
pub(super) fn show(span: Duration) -> String {
    let seconds = span.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let mut text = String::new();
    if hours > 0 {
        text.push_str(&format!("{hours}h"));
    }
    if minutes > 0 {
        text.push_str(&format!("{minutes}m"));
    }
    if !seconds.is_multiple_of(60) {
        text.push_str(&format!("{}s", seconds % 60));
    }
    if span.subsec_millis() > 0 {
        text.push_str(&format!("{}ms", span.subsec_millis()));
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} ({place}): {wrong}; {remedy}")]
pub struct ConfigError {
    pub setting: String,
    /// Where its value came from.
    pub place: Place,
    pub wrong: String,
    pub remedy: String,
}

/// Something about a setting that stops nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub setting: String,
    /// Where its value came from.
    pub place: Place,
    /// What is worth knowing.
    pub text: String,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.setting, self.place, self.text)
    }
}

/// What is wrong with a text, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) what: String,
    pub(super) remedy: String,
}

impl Wrong {
    pub(super) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_go_reads_them() {
        for (text, wanted) in [
            ("0.0.0.0:8443", "0.0.0.0:8443"),
            (":8443", "0.0.0.0:8443"),
            ("localhost:1", "127.0.0.1:1"),
            ("[::1]:9", "[::1]:9"),
        ] {
            assert_eq!(socket(text).unwrap().to_string(), wanted);
        }
        for bad in ["", "8443", "0.0.0.0", "host.example:1", "0.0.0.0:70000"] {
            assert!(socket(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn hostnames_are_names_and_nothing_else() {
        assert_eq!(hostname("Provider.Example.com").unwrap(), "provider.example.com");
        for bad in ["", "a..b", "-a.b", "https://a.b", "a.b:1", "a_b", &"a.".repeat(130)] {
            assert!(hostname(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn coins_are_whole_in_their_smallest_unit() {
        assert_eq!(coin("0.5akt").unwrap().to_string(), "500000uakt");
        for bad in ["", "5", "uakt", "0.5uakt", "-1uakt"] {
            assert!(coin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn spans_are_those_of_go() {
        for (text, nanos) in [
            ("0", 0),
            ("5m", 300_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5h", 5_400_000_000_000),
            (".5s", 500_000_000),
            ("300ms", 300_000_000),
            ("2us", 2_000),
            ("2µs", 2_000),
            ("7ns", 7),
            ("1m0.25s", 60_250_000_000),
            ("+1s", 1_000_000_000),
            ("-0s", 0),
            ("0.0000000001s", 0),
        ] {
            assert_eq!(parse(text).map(|span| span.as_nanos()), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn what_go_does_not_take_is_refused() {
        for text in ["", "5", "m", "5x", "1..5s", ".s", "5m ago", "9999999999h", "1h-5m", "5 m"] {
            let wrong = parse(text).unwrap_err();
            assert!(wrong.what.contains("is not a span of time"), "{text}: {wrong:?}");
        }
        assert_eq!(parse("-5m").unwrap_err().what, "\"-5m\" is negative");
    }

    #[test]
    fn what_is_shown_reads_back() {
        for text in ["0", "5m", "1h30m", "24h", "10s", "1h1s", "1s500ms"] {
            assert_eq!(show(parse(text).unwrap()), text);
        }
    }
}
