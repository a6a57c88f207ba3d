//! Commands one after the other.

use std::collections::VecDeque;

use provider_engine::cluster::port::Terminal;

use super::{ShellOutput, Surroundings};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script {
    steps: VecDeque<(Join, Vec<String>)>,
    last_code: i32,
    /// Whether an unknown command is a complaint, not an end.
    in_shell: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finished {
    Code(i32),
    /// It said `exit`.
    Exits(i32),
    /// It copies its input; the rest runs when that ends.
    Reads(Script),
    /// It became a shell that reads commands.
    Interactive,
}

pub(super) fn knows(name: &str) -> bool {
    let programs = [
        "echo", "printf", "cat", "true", "false", "env", "hostname", "pwd", "ls", "id", "uname",
        "sh", "bash", "ash",
    ];
    programs.contains(&base(name))
}

/// The name of a program without its folder.
fn base(name: &str) -> &str {
    name.strip_prefix("/bin/").or_else(|| name.strip_prefix("/usr/bin/")).unwrap_or(name)
}

impl Script {
    pub(super) fn of_command(words: Vec<String>) -> Self {
        Self { steps: [(Join::Always, words)].into(), last_code: 0, in_shell: false }
    }

    pub(super) fn parse(line: &str) -> Self {
        let mut steps: VecDeque<(Join, Vec<String>)> = [(Join::Always, Vec::new())].into();
        for token in split(line) {
            match token {
                Token::Join(join) => steps.push_back((join, Vec::new())),
                Token::Word(word) => {
                    if let Some((_, words)) = steps.back_mut() {
                        words.push(word);
                    }
                }
            }
        }
        steps.retain(|(_, words)| !words.is_empty());
        Self { steps, last_code: 0, in_shell: true }
    }

    /// The same, read by a shell that goes on after it.
    pub(super) const fn inside_a_shell(mut self) -> Self {
        self.in_shell = true;
        self
    }

    pub(super) fn run(
        mut self,
        place: &Surroundings,
        terminal: Option<Terminal>,
        outputs: &mut Vec<ShellOutput>,
    ) -> Finished {
        while let Some((join, words)) = self.steps.pop_front() {
            let skipped = match join {
                Join::Always => false,
                Join::IfGood => self.last_code != 0,
                Join::IfBad => self.last_code == 0,
            };
            if skipped {
                continue;
            }
            let mut output = Redirected::new(words, terminal.is_some());
            let words = std::mem::take(&mut output.words);
            let Some((first, args)) = words.split_first() else { continue };
            let (first, args) = match (first.as_str(), args.split_first()) {
                ("exec", Some((first, args))) => (first, args),
                _ => (first, args),
            };
            match base(first) {
                "exit" => {
                    let code = args.first().and_then(|code| code.parse::<i32>().ok());
                    return Finished::Exits(code.map_or(self.last_code, |code| code & 0xff));
                }
                "cat" => return Finished::Reads(self),
                "sh" | "bash" | "ash" => match args {
                    [flag, line, ..] if flag == "-c" => {
                        let mut inner = Self::parse(line);
                        let rest = std::mem::take(&mut self.steps);
                        inner.steps.extend(rest);
                        self = inner;
                    }
                    _ => return Finished::Interactive,
                },
                name => self.last_code = program(name, args, place, terminal, &output, outputs),
            }
        }
        Finished::Code(self.last_code)
    }
}

/// Runs a program that only writes; its code.
fn program(
    name: &str,
    args: &[String],
    place: &Surroundings,
    terminal: Option<Terminal>,
    output: &Redirected,
    outputs: &mut Vec<ShellOutput>,
) -> i32 {
    let text = match name {
        "true" | ":" | "cd" => return 0,
        "false" => return 1,
        "command" => match args {
            [flag, name] if flag == "-v" && knows(name) && name != "bash" => {
                format!("/bin/{name}\n")
            }
            _ => return 127,
        },
        "echo" => match args.split_first() {
            Some((flag, rest)) if flag == "-n" => rest.join(" "),
            _ => format!("{}\n", args.join(" ")),
        },
        "printf" => args.join(" ").replace("\\n", "\n"),
        "env" => place.env.iter().map(|entry| format!("{entry}\n")).collect(),
        "hostname" => format!("{}\n", place.pod),
        "pwd" => "/\n".to_owned(),
        "ls" => "THIS_IS_SIMULATED\n".to_owned(),
        "id" => "uid=0(root) gid=0(root)\n".to_owned(),
        "uname" => "Simulated\n".to_owned(),
        "stty" => match terminal {
            Some(Terminal { width, height }) => format!("{height} {width}\n"),
            None => return 1,
        },
        unknown => {
            output.complain(&format!("sh: {unknown}: not found (simulated)\n"), outputs);
            return 127;
        }
    };
    output.write(&text, outputs);
    0
}

/// Where the streams of a command go.
struct Redirected {
    words: Vec<String>,
    terminal: bool,
    stdout: Target,
    stderr: Target,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Stdout,
    Stderr,
    Nowhere,
}

impl Redirected {
    fn new(words: Vec<String>, terminal: bool) -> Self {
        let mut this =
            Self { words: Vec::new(), terminal, stdout: Target::Stdout, stderr: Target::Stderr };
        let mut rest = words.into_iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                ">&2" | "1>&2" => this.stdout = this.stderr,
                "2>&1" => this.stderr = this.stdout,
                ">/dev/null" | "1>/dev/null" => this.stdout = Target::Nowhere,
                "2>/dev/null" => this.stderr = Target::Nowhere,
                ">" | "1>" => {
                    rest.next();
                    this.stdout = Target::Nowhere;
                }
                _ => this.words.push(word),
            }
        }
        this
    }

    fn write(&self, text: &str, outputs: &mut Vec<ShellOutput>) {
        self.put(self.stdout, text, outputs);
    }

    fn complain(&self, text: &str, outputs: &mut Vec<ShellOutput>) {
        self.put(self.stderr, text, outputs);
    }

    fn put(&self, target: Target, text: &str, outputs: &mut Vec<ShellOutput>) {
        match target {
            _ if text.is_empty() => {}
            Target::Nowhere => {}
            _ if self.terminal => {
                outputs.push(ShellOutput::Stdout(text.replace('\n', "\r\n").into_bytes()));
            }
            Target::Stdout => outputs.push(ShellOutput::Stdout(text.as_bytes().to_vec())),
            Target::Stderr => outputs.push(ShellOutput::Stderr(text.as_bytes().to_vec())),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, without its quotes.
    Word(String),
    /// `;`, `&&` or `||`.
    Join(Join),
}

/// What stands between two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    Always,
    IfGood,
    IfBad,
}

/// Takes a line apart. Quotes that are not closed end with the line.
pub(super) fn split(line: &str) -> Vec<Token> {
    let (mut tokens, mut word): (Vec<Token>, Option<String>) = (Vec::new(), None);
    let mut chars = line.chars().peekable();
    let finish = |word: &mut Option<String>, tokens: &mut Vec<Token>| {
        tokens.extend(word.take().map(Token::Word));
    };
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let quoted = word.get_or_insert_default();
                while let Some(inner) = chars.next() {
                    match inner {
                        _ if inner == c => break,
                        '\\' if c == '"' => quoted.extend(chars.next()),
                        _ => quoted.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            ';' | '\n' => {
                finish(&mut word, &mut tokens);
                tokens.push(Token::Join(Join::Always));
            }
            // `>&1` and `2>&1` are words; only a doubled sign joins.
            '&' | '|' if chars.peek() == Some(&c) => {
                chars.next();
                finish(&mut word, &mut tokens);
                let join = if c == '&' { Join::IfGood } else { Join::IfBad };
                tokens.push(Token::Join(join));
            }
            c if c.is_whitespace() => finish(&mut word, &mut tokens),
            c => word.get_or_insert_default().push(c),
        }
    }
    finish(&mut word, &mut tokens);
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_words_together() {
        let word = |text: &str| Token::Word(text.to_owned());
        assert_eq!(
            split(r#"echo 'a  b' "c;d"e\ f && x 2>&1||y"#),
            [
                word("echo"),
                word("a  b"),
                word("c;de f"),
                Token::Join(Join::IfGood),
                word("x"),
                word("2>&1"),
                Token::Join(Join::IfBad),
                word("y"),
            ]
        );
        assert_eq!(split("''"), [word("")]);
        assert_eq!(split("  "), []);
    }
}
