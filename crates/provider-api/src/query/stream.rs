//! Parameters of logs and events.

use super::{NumberError, Query, parse_i32};

/// Which part of logs or events is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamParams {
    /// Of which services; empty for all.
    pub services: Vec<String>,
    /// Whether to go on with what comes.
    pub follow: bool,
    /// At most so many lines of each replica; all if `None`.
    pub tail: Option<u64>,
}

/// Why parameters were not understood, in the words that clients know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamParamsError {
    /// A comma at the end of the services.
    #[error("parameter \"service\" must not contain trailing comma")]
    TrailingComma,
    /// Fewer lines than none.
    #[error("parameter \"tail\" contains invalid value")]
    NegativeTail,
    /// Neither yes nor no, or no number.
    #[error(transparent)]
    Value(#[from] NumberError),
}

impl StreamParams {
    /// Reads them. What a Go client calls `services` is ignored, as existing providers do.
    pub fn read(query: &Query) -> Result<Self, StreamParamsError> {
        let services = query.get("service");
        if services.ends_with(',') {
            return Err(StreamParamsError::TrailingComma);
        }
        let services =
            services.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        let follow = match query.get("follow") {
            "" => false,
            text => parse_bool(text)?,
        };
        let tail = match query.get("tail") {
            "" => -1,
            text => parse_i32(text)?,
        };
        if tail < -1 {
            return Err(StreamParamsError::NegativeTail);
        }
        Ok(Self { services: services.collect(), follow, tail: u64::try_from(tail).ok() })
    }

    /// Writes them.
    pub fn to_query(&self) -> Query {
        let mut query = Query::default();
        query.add("follow", if self.follow { "true" } else { "false" });
        if let Some(tail) = self.tail {
            query.add("tail", tail.to_string());
        }
        if !self.services.is_empty() {
            query.add("service", self.services.join(","));
        }
        query
    }
}

fn parse_bool(text: &str) -> Result<bool, super::NumberError> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(NumberError::syntax("ParseBool", text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<StreamParams, String> {
        StreamParams::read(&Query::parse(text)).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_said_means_everything_there_is() {
        assert_eq!(read(""), Ok(StreamParams::default()));
        assert_eq!(read("services=web&tail=-1&follow="), Ok(StreamParams::default()));
    }

    #[test]
    fn what_is_written_is_read_the_same() {
        let params = StreamParams {
            services: vec!["db".to_owned(), "web".to_owned()],
            follow: true,
            tail: Some(0),
        };
        assert_eq!(read(&params.to_query().to_text()), Ok(params));
    }

    #[test]
    fn mistakes_are_told_as_recorded() {
        let table = [
            ("tail=-5", "parameter \"tail\" contains invalid value"),
            ("tail=x", "strconv.ParseInt: parsing \"x\": invalid syntax"),
            ("service=web,", "parameter \"service\" must not contain trailing comma"),
            ("follow=maybe", "strconv.ParseBool: parsing \"maybe\": invalid syntax"),
        ];
        for (text, said) in table {
            assert_eq!(read(text), Err(said.to_owned()), "{text}");
        }
    }
}
