//! A problem in its source: the line, what is meant, what is wrong, what would be right.

use std::fmt::Write;

use akash_sdl::Problem;

use super::{Palette, WIDTH, printable};
use crate::source::Source;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The SDL is refused.
    Error,
    /// The SDL is accepted, but perhaps not by every tool.
    Warning,
}

/// The problem with its line, ending in a newline.
pub(crate) fn render_problem(
    severity: Severity,
    source: &Source,
    problem: &Problem,
    palette: &Palette,
) -> String {
    let (label, mark) = match severity {
        Severity::Error => ("error", palette.error),
        Severity::Warning => ("warning", palette.warning),
    };
    let (strong, frame) = (palette.strong, palette.frame);
    let place = problem.place;
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    let mut text = format!("{mark}{label}{mark:#}{strong}: ");
    if !problem.path.is_empty() {
        put(&mut text, format_args!("{}: ", printable(&problem.path)));
    }
    put(&mut text, format_args!("{}{strong:#}\n", printable(&problem.message)));
    put(
        &mut text,
        format_args!(
            "{gutter}{frame}-->{frame:#} {}:{}:{}\n",
            source.name, place.line, place.column
        ),
    );
    if let Some(Excerpt { line, indent, length }) =
        excerpt(&source.text, place.line, place.column, WIDTH.saturating_sub(number.len() + 3))
    {
        let (space, carets) = (" ".repeat(indent), "^".repeat(length));
        put(&mut text, format_args!("{gutter} {frame}|{frame:#}\n"));
        put(&mut text, format_args!("{frame}{number} |{frame:#} {line}\n"));
        put(&mut text, format_args!("{gutter} {frame}|{frame:#} {space}{mark}{carets}{mark:#}\n"));
    }
    let mut note = |label: &str, words: &str| {
        put(
            &mut text,
            format_args!("{gutter} {frame}={frame:#} {strong}{label}:{strong:#} {words}\n"),
        );
    };
    if let Some(allowed) = &problem.allowed {
        note("allowed", &printable(allowed));
    }
    if severity == Severity::Warning {
        note("note", "chain and providers accept this, other tools may refuse it");
    }
    text
}

/// Writing to a `String` cannot fail.
fn put(text: &mut String, part: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(part);
}

/// A line of the source, cut to fit, and which part of it to mark.
#[derive(Debug, PartialEq, Eq)]
struct Excerpt {
    line: String,
    indent: usize,
    length: usize,
}

/// `None` for lines that do not exist or have nothing to show.
fn excerpt(text: &str, line: u32, column: u32, width: usize) -> Option<Excerpt> {
    let line = lines(text).nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let line = printable(line.trim_end());
    if line.is_empty() {
        return None;
    }
    let chars: Vec<char> = line.chars().collect();
    // What is missing is noted after the end of what is there.
    let start = usize::try_from(column).ok()?.saturating_sub(1).min(chars.len());
    let length = span(chars.get(start..)?).max(1);
    if chars.len().max(start + length) <= width {
        return Some(Excerpt { line, indent: start, length });
    }
    // A window with what is meant in its first third, and dots where something is left out.
    let from = match start.saturating_sub(width / 3) {
        few if few < 2 => 0,
        from => from.min((chars.len() + 1).saturating_sub(width)),
    };
    let to = (from + width).min(chars.len());
    let mut window: Vec<char> = chars.get(from..to)?.to_vec();
    if from > 0
        && let Some(first) = window.first_mut()
    {
        *first = '…';
    }
    if to < chars.len()
        && let Some(last) = window.last_mut()
    {
        *last = '…';
    }
    let indent = start - from;
    let length = length.min(width.saturating_sub(indent)).max(1);
    Some(Excerpt { line: window.into_iter().collect(), indent, length })
}

/// The lines as YAML counts them: ended by LF, CR LF, or CR alone.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest?;
        let Some(end) = current.find(['\n', '\r']) else { return rest.take() };
        let (line, tail) = current.split_at_checked(end)?;
        rest = tail.strip_prefix("\r\n").or_else(|| tail.get(1..));
        Some(line)
    })
}

/// How many characters the value or key has that begins here, as far as one line shows.
fn span(chars: &[char]) -> usize {
    if let Some(quote @ ('"' | '\'')) = chars.first() {
        let close = chars.iter().skip(1).position(|c| c == quote);
        return close.map_or(chars.len(), |index| index + 2);
    }
    let mut end = 0;
    for (index, c) in chars.iter().enumerate() {
        let next_is_space = chars.get(index + 1).is_none_or(|next| *next == ' ');
        let after_space = index > 0 && chars.get(index - 1) == Some(&' ');
        match c {
            // A key ends here, a comment begins, or a flow collection goes on.
            ':' if next_is_space => break,
            '#' if after_space => break,
            ',' if next_is_space => break,
            ']' | '}' => break,
            ' ' => {}
            _ => end = index + 1,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use akash_sdl::Place;

    use super::*;

    fn marked(line: &str, column: u32) -> String {
        let found = excerpt(line, 1, column, 70).unwrap();
        found.line.chars().skip(found.indent).take(found.length).collect()
    }

    #[test]
    fn what_is_meant_is_marked() {
        for (line, column, wanted) in [
            ("  - port: 70000", 11, "70000"),
            ("  web:", 3, "web"),
            ("image: nginx:1.27 # the server", 8, "nginx:1.27"),
            ("image: \"a b\" # x", 8, "\"a b\""),
            ("cpu: {units: -1}", 14, "-1"),
            ("hosts: [a.b, c d]", 14, "c d"),
            ("x: 'open", 4, "'open"),
            ("a: {}", 4, "{"),
        ] {
            assert_eq!(marked(line, column), wanted, "{line}");
        }
    }

    #[test]
    fn a_place_after_the_line_is_marked_there() {
        let found = excerpt("image:\n", 1, 40, 70);
        assert_eq!(found, Some(Excerpt { line: "image:".to_owned(), indent: 6, length: 1 }));
    }

    #[test]
    fn lines_are_counted_as_in_yaml() {
        assert_eq!(lines("a\r\nb\rc\n\nd").collect::<Vec<_>>(), ["a", "b", "c", "", "d"]);
        assert_eq!(excerpt("a\n\nb", 2, 1, 70), None);
        assert_eq!(excerpt("a", 7, 1, 70), None);
        assert_eq!(excerpt("", 1, 1, 70), None);
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let line = format!("{}BAD {}", "a".repeat(500), "b".repeat(500));
        for (column, wanted) in [(1, "aaa"), (501, "BAD"), (505, "bbb"), (1000, "bbb")] {
            let found = excerpt(&line, 1, column, 60).unwrap();
            assert!(found.line.chars().count() <= 60, "{column}: {found:?}");
            assert!(found.indent + found.length <= 60, "{column}: {found:?}");
            let marked: String = found.line.chars().skip(found.indent).take(3).collect();
            assert_eq!(marked, wanted, "{column}: {found:?}");
        }
    }

    #[test]
    fn a_problem_reads_like_this() {
        let source = Source {
            name: "deploy.yaml".to_owned(),
            text: "services:\n  web:\n    expose:\n      - port: 70000  # too much\n".to_owned(),
        };
        let problem = Problem {
            path: "services.web.expose[0].port".to_owned(),
            place: Place { line: 4, column: 15 },
            message: "70000 is not a port".to_owned(),
            allowed: Some("1 to 65535".to_owned()),
        };
        assert_eq!(
            render_problem(Severity::Error, &source, &problem, &Palette::PLAIN),
            "\
error: services.web.expose[0].port: 70000 is not a port
 --> deploy.yaml:4:15
  |
4 |       - port: 70000  # too much
  |               ^^^^^
  = allowed: 1 to 65535
"
        );
    }
}
