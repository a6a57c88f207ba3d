//! Blocks of base64 between `-----BEGIN …-----` and `-----END …-----`: PEM, and the armor of
//! OpenPGP, which adds a checksum.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// What the first and last line name.
    pub label: String,
    /// `name: value` lines before the content.
    pub headers: Vec<(String, String)>,
    pub data: Zeroizing<Vec<u8>>,
    /// The three bytes of an OpenPGP checksum, where there is one.
    pub checksum: Option<[u8; 3]>,
}

impl Block {
    /// A block without headers and checksum.
    pub(super) fn new(label: &str, data: Zeroizing<Vec<u8>>) -> Self {
        Self { label: label.to_owned(), headers: Vec::new(), data, checksum: None }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The text, with a line end after the last line.
    pub(super) fn to_text(&self) -> Zeroizing<String> {
        const LINE: usize = 64;
        let content = Zeroizing::new(STANDARD.encode(self.data.as_slice()));
        // Room for all of it, so that no copy is left behind by growing.
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len() + 3);
        let room = content.len() + content.len() / LINE + headers.sum::<usize>();
        let mut text = String::with_capacity(room + 2 * self.label.len() + 64);
        text.push_str(&format!("-----BEGIN {}-----\n", self.label));
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\n"));
        }
        if !self.headers.is_empty() {
            text.push('\n');
        }
        let mut rest = content.as_str();
        while let Some((line, more)) = rest.split_at_checked(LINE.min(rest.len()))
            && !line.is_empty()
        {
            text.push_str(line);
            text.push('\n');
            rest = more;
        }
        if let Some(checksum) = self.checksum {
            text.push_str(&format!("={}\n", STANDARD.encode(checksum)));
        }
        text.push_str(&format!("-----END {}-----\n", self.label));
        Zeroizing::new(text)
    }
}

/// The blocks of a text in their order; what stands around them is skipped.
pub(super) fn parse(text: &str) -> Result<Vec<Block>, PemError> {
    let mut lines = text.lines().map(str::trim);
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        let label = line.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----"));
        if let Some(label) = label {
            blocks.push(block(label, &mut lines, text.len())?);
        }
    }
    Ok(blocks)
}

fn block<'a>(
    label: &str,
    lines: &mut impl Iterator<Item = &'a str>,
    room: usize,
) -> Result<Block, PemError> {
    let mut block = Block::new(label, Zeroizing::default());
    let mut content = Zeroizing::new(String::with_capacity(room));
    for line in lines {
        if let Some(end) = line.strip_prefix("-----END ") {
            if end.strip_suffix("-----") != Some(label) {
                break;
            }
            let data = STANDARD.decode(content.as_str()).map_err(|_| block.damaged())?;
            block.data = Zeroizing::new(data);
            return Ok(block);
        }
        match line.strip_prefix('=').filter(|checksum| checksum.len() == 4) {
            Some(checksum) => {
                let bytes = STANDARD.decode(checksum).ok().and_then(|bytes| bytes.try_into().ok());
                block.checksum = Some(bytes.ok_or_else(|| block.damaged())?);
            }
            None => match line.split_once(": ") {
                Some((name, value)) if content.is_empty() => {
                    block.headers.push((name.to_owned(), value.to_owned()));
                }
                Some(_) => return Err(block.damaged()),
                None => content.push_str(line),
            },
        }
    }
    Err(PemError::NoEnd { label: block.label })
}

impl Block {
    fn damaged(&self) -> PemError {
        PemError::Content { label: self.label.clone() }
    }
}

/// Why a text is not made of blocks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PemError {
    #[error("block {label:?} has no END line")]
    NoEnd {
        /// What the block is named.
        label: String,
    },
    #[error("block {label:?} is damaged")]
    Content {
        /// What the block is named.
        label: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_are_found_among_other_text() {
        let text = "hello\r\n  -----BEGIN A B-----\r\nx: y: z\r\n\r\nAQID\r\n=AAEC\r\n\
                    -----END A B-----\nbye\n-----BEGIN C-----\n-----END C-----";
        let blocks = parse(text).unwrap();
        assert_eq!(blocks.len(), 2);
        assert_eq!((blocks[0].label.as_str(), blocks[0].data.as_slice()), ("A B", &[1, 2, 3][..]));
        assert_eq!(blocks[0].header("x"), Some("y: z"));
        assert_eq!(blocks[0].checksum, Some([0, 1, 2]));
        assert_eq!((blocks[1].label.as_str(), blocks[1].data.len()), ("C", 0));
    }

    #[test]
    fn damage_is_told() {
        let no_end = PemError::NoEnd { label: "A".into() };
        let damaged = PemError::Content { label: "A".into() };
        for (text, expected) in [
            ("-----BEGIN A-----\nAQID\n", &no_end),
            ("-----BEGIN A-----\nAQID\n-----END B-----", &no_end),
            ("-----BEGIN A-----\nAQ!D\n-----END A-----", &damaged),
            ("-----BEGIN A-----\nAQID\n=!!!!\n-----END A-----", &damaged),
            ("-----BEGIN A-----\nAQID\nx: y\n-----END A-----", &damaged),
        ] {
            assert_eq!(parse(text).err().as_ref(), Some(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn blocks_read_as_they_were_written(
            data in prop::collection::vec(any::<u8>(), 0..300),
            headers in prop::collection::vec(("[a-zA-Z-]{1,9}", "[!-~]{1,20}"), 0..4),
            checksum in prop::option::of(any::<[u8; 3]>()),
        ) {
            let block =
                Block { headers, checksum, ..Block::new("SOME LABEL", Zeroizing::new(data)) };
            let text = block.to_text();
            prop_assert!(text.lines().all(|line| line.len() <= 64));
            prop_assert!(parse(&text).unwrap() == vec![block]);
        }

        #[test]
        fn no_text_panics(text in "(-----(BEGIN|END) [AB]-----|[A-Za-z=: ]{0,9}|\n){0,20}") {
            let _ = parse(&text);
        }
    }
}
