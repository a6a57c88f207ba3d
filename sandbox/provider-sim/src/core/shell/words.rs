//! A line of shell taken apart: words, operators, quotes.

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
