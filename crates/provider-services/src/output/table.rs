//! Tables that fit.

use super::Palette;

/// Space between two columns.
const GAP: &str = "  ";
/// No column is made narrower than this.
const NARROWEST: usize = 6;

/// Rows of cells under a header. A cell may have several lines.
#[derive(Debug)]
pub(super) struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<Vec<String>>>,
}

impl Table {
    pub(super) fn new(header: &[&'static str]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new() }
    }

    /// Adds a row: for each column its lines.
    pub(super) fn push(&mut self, cells: Vec<Vec<String>>) {
        self.rows.push(cells);
    }

    /// The table in at most `width` columns, every line ending in a newline.
    pub(super) fn render(&self, indent: &str, width: usize, palette: &Palette) -> String {
        let header: Vec<Vec<String>> =
            self.header.iter().map(|name| vec![(*name).to_owned()]).collect();
        let widths = self.widths(width.saturating_sub(indent.len()));
        let mut text = String::new();
        let frame = palette.frame;
        for line in lay_out(&header, &widths) {
            text.push_str(&format!("{indent}{frame}{line}{frame:#}\n"));
        }
        for row in &self.rows {
            for line in lay_out(row, &widths) {
                text.push_str(&format!("{indent}{line}\n"));
            }
        }
        text
    }

    /// What the cells need; where that is too much, the widest columns give way.
    fn widths(&self, most: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.header.iter().map(|name| name.len()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.iter().map(|line| line.chars().count()).fold(*width, usize::max);
            }
        }
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > most {
            match widths.iter_mut().max() {
                Some(widest) if *widest > NARROWEST => *widest -= 1,
                _ => break,
            }
        }
        widths
    }
}

/// The lines of one row.
fn lay_out(cells: &[Vec<String>], widths: &[usize]) -> Vec<String> {
    let wrapped: Vec<Vec<String>> = cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| cell.iter().flat_map(|line| wrap(line, *width)).collect())
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or_default();
    (0..height)
        .map(|index| {
            let mut line = String::new();
            for (cell, width) in wrapped.iter().zip(widths) {
                let part = cell.get(index).map_or("", String::as_str);
                line.push_str(&format!("{part:<width$}{GAP}"));
            }
            line.trim_end().to_owned()
        })
        .collect()
}

/// Breaks a line at spaces, and words that are too long anywhere.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![];
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > width {
        let space = rest.iter().take(width + 1).rposition(|c| *c == ' ').filter(|at| *at > 0);
        let tail = rest.split_off(space.unwrap_or(width));
        lines.push(rest.into_iter().collect());
        rest = tail.into_iter().skip(usize::from(space.is_some())).collect();
    }
    lines.push(rest.into_iter().collect());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(texts: &[&str]) -> Vec<Vec<String>> {
        texts.iter().map(|text| text.split('|').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn columns_line_up_and_lines_have_no_trailing_space() {
        let mut table = Table::new(&["NAME", "SIZE", "PRICE"]);
        table.push(cells(&["web", "1Gi|data 10Gi", "5uact"]));
        table.push(cells(&["database", "1Gi", ""]));
        assert_eq!(
            table.render("  ", 80, &Palette::PLAIN),
            "  NAME      SIZE       PRICE
  web       1Gi        5uact
            data 10Gi
  database  1Gi
"
        );
    }

    #[test]
    fn what_is_too_wide_is_wrapped_and_nothing_is_lost() {
        let mut table = Table::new(&["A", "B"]);
        table.push(cells(&[&"x".repeat(300), "some words that go on and on and on and on"]));
        let text = table.render("  ", 40, &Palette::PLAIN);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(text.matches('x').count(), 300);
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
