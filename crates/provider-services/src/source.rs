//! Reading an SDL from where the command line says.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use akash_sdl::Sdl;

use crate::output::printable;

/// The text of an SDL and what to call it.
#[derive(Debug)]
pub(crate) struct Source {
    /// The file's path as it was given, or `<stdin>`.
    pub(crate) name: String,
    /// The text, without a byte order mark.
    pub(crate) text: String,
}

/// Why there is no text to look at. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    #[error(
        "cannot read {name}: there is no such file; check the path, or give - to read from \
         standard input"
    )]
    Missing { name: String },
    #[error("cannot read {name}: it is a directory; give the path of a file in it")]
    Directory { name: String },
    #[error("cannot read {name}: permission denied; give this user the right to read it")]
    Permission { name: String },
    #[error("cannot read {name}")]
    Read { name: String, source: io::Error },
    #[error(
        "{name} is larger than {most} bytes (1 MiB), which is the most an SDL may have; is it \
         the right file?",
        most = Sdl::MAX_BYTES
    )]
    TooLarge { name: String },
    #[error(
        "{name} is not UTF-8 text: line {line} has a byte that cannot be part of it; save the \
         file as UTF-8"
    )]
    NotUtf8 { name: String, line: usize },
}

impl Source {
    /// Reads a file, or standard input where the path is `-`.
    pub(crate) fn read(path: &Path, stdin: &mut dyn Read) -> Result<Self, SourceError> {
        if path.as_os_str() == "-" {
            return read(stdin, "<stdin>".to_owned());
        }
        let name = printable(&path.to_string_lossy());
        // Opening a directory works on some systems and reading it fails on all, with words that
        // do not help.
        if path.is_dir() {
            return Err(SourceError::Directory { name });
        }
        match File::open(path) {
            Ok(mut file) => read(&mut file, name),
            Err(source) => Err(match source.kind() {
                io::ErrorKind::NotFound => SourceError::Missing { name },
                io::ErrorKind::PermissionDenied => SourceError::Permission { name },
                _ => SourceError::Read { name, source },
            }),
        }
    }
}

fn read(reader: &mut dyn Read, name: String) -> Result<Source, SourceError> {
    let most = u64::try_from(Sdl::MAX_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    match reader.take(most.saturating_add(1)).read_to_end(&mut bytes) {
        Ok(count) if count > Sdl::MAX_BYTES => return Err(SourceError::TooLarge { name }),
        Ok(_) => {}
        Err(source) => return Err(SourceError::Read { name, source }),
    }
    match String::from_utf8(bytes) {
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
            Ok(Source { name, text })
        }
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let before = error.as_bytes().iter().take(valid);
            let line = before.filter(|byte| **byte == b'\n').count() + 1;
            Err(SourceError::NotUtf8 { name, line })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_stdin(bytes: &[u8]) -> Result<Source, SourceError> {
        Source::read(Path::new("-"), &mut &bytes[..])
    }

    #[test]
    fn a_dash_is_standard_input_without_its_byte_order_mark() {
        let source = from_stdin("\u{feff}version: \"2.0\"\n".as_bytes()).unwrap();
        assert_eq!((source.name.as_str(), source.text.as_str()), ("<stdin>", "version: \"2.0\"\n"));
    }

    #[test]
    fn the_line_that_is_not_utf8_is_named() {
        let error = from_stdin(b"a: 1\nb: \xff\n").unwrap_err();
        assert!(matches!(error, SourceError::NotUtf8 { line: 2, .. }), "{error}");
    }

    #[test]
    fn reading_stops_where_no_sdl_can_go_on() {
        assert!(from_stdin(&vec![b' '; Sdl::MAX_BYTES]).is_ok());
        let error = Source::read(Path::new("-"), &mut io::repeat(b' ')).unwrap_err();
        assert!(matches!(error, SourceError::TooLarge { .. }), "{error}");
    }
}
