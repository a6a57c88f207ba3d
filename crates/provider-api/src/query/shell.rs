//! Parameters of a shell.

use super::{Query, parse_based_u31};

/// Most words of a command that are read.
const MOST_WORDS: usize = 1024;

/// What to run where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellParams {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// In which service.
    pub service: String,
    /// In which of its replicas, in the order of their names.
    pub replica: u32,
    /// Whether it runs on a terminal.
    pub tty: bool,
    /// Whether it is sent what to read.
    pub stdin: bool,
}

impl ShellParams {
    /// Reads them; `None` if one is missing or wrong, of which existing providers say no more.
    pub fn read(query: &Query) -> Option<Self> {
        let words = (0..MOST_WORDS).map(|index| query.get(&format!("cmd{index}")));
        let command: Vec<_> =
            words.take_while(|word| !word.is_empty()).map(str::to_owned).collect();
        let given = |key| Some(query.get(key)).filter(|value| !value.is_empty());
        let (tty, service, stdin) = (given("tty")?, given("service")?, given("stdin")?);
        let replica = parse_based_u31(query.get("podIndex"))?;
        if command.is_empty() {
            return None;
        }
        Some(Self {
            command,
            service: service.to_owned(),
            replica,
            tty: tty == "1",
            stdin: stdin == "1",
        })
    }

    /// Writes them.
    pub fn to_query(&self) -> Query {
        let mut query = Query::default();
        for (index, word) in self.command.iter().enumerate() {
            query.add(format!("cmd{index}"), word.as_str());
        }
        let flag = |on| if on { "1" } else { "0" };
        query.add("tty", flag(self.tty));
        query.add("service", self.service.as_str());
        query.add("stdin", flag(self.stdin));
        query.add("podIndex", self.replica.to_string());
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_the_same() {
        let params = ShellParams {
            command: vec!["sh".to_owned(), "-c".to_owned(), "a && b || c".to_owned()],
            service: "web".to_owned(),
            replica: 3,
            tty: true,
            stdin: false,
        };
        let text = params.to_query().to_text();
        assert_eq!(ShellParams::read(&Query::parse(&text)), Some(params));
    }

    #[test]
    fn all_are_needed() {
        let whole = "cmd0=id&tty=0&service=web&stdin=0&podIndex=0";
        assert!(ShellParams::read(&Query::parse(whole)).is_some());
        for missing in whole.split('&') {
            let text = whole.replace(missing, "");
            assert_eq!(ShellParams::read(&Query::parse(&text)), None, "without {missing}");
        }
        let negative = whole.replace("podIndex=0", "podIndex=-1");
        assert_eq!(ShellParams::read(&Query::parse(&negative)), None);
    }

    #[test]
    fn the_command_ends_at_the_first_gap() {
        let text = "cmd0=a&cmd1=b&cmd3=d&tty=x&service=web&stdin=1&podIndex=0x1";
        let read = ShellParams::read(&Query::parse(text)).unwrap();
        assert_eq!(read.command, ["a", "b"]);
        assert_eq!((read.tty, read.stdin, read.replica), (false, true, 1));
    }
}
