//! From what is given to a configuration.

mod changes;
mod defaults;
mod errors;
mod kube;
mod places;

use akash_types::Address;

use super::{Config, ConfigError, FileContent, Given, GivenFile, Note, Place, Value};

/// The least that a provider must be told.
const LEAST: [(&str, &str); 4] = [
    ("from", "provider"),
    ("chain-id", "local"),
    ("home", "/home/op/.akash"),
    ("bid-price-cpu-scale", "0.004"),
];

fn signer() -> Address {
    Address::from_bytes(&[7; 20]).unwrap()
}

/// What is given by flags, besides the least.
fn given(flags: &[(&str, &str)]) -> Given {
    let all = LEAST.iter().chain(flags);
    let value = |text: &str| Value { text: text.to_owned(), place: Place::Flag };
    Given {
        values: all.map(|(name, text)| ((*name).to_owned(), value(text))).collect(),
        signer: Some(Ok(signer())),
        user_home: Some("/home/op".into()),
        ..Given::default()
    }
}

fn with_file(mut given: Given, settings: &[(&str, &str)]) -> Given {
    let pair = |(key, text): &(&str, &str)| ((*key).to_owned(), (*text).to_owned());
    let settings = settings.iter().map(pair).collect();
    given.file = Some(GivenFile {
        path: "provider.yaml".into(),
        content: Ok(FileContent { attributes: Vec::new(), settings }),
    });
    given
}

#[track_caller]
fn config(flags: &[(&str, &str)]) -> Config {
    of(&given(flags)).0
}

#[track_caller]
fn of(given: &Given) -> (Config, Vec<Note>) {
    match Config::from_given(given) {
        Ok(made) => made,
        Err(errors) => panic!("{errors:#?}"),
    }
}

fn errors(given: &Given) -> Vec<ConfigError> {
    Config::from_given(given).err().unwrap_or_default()
}
