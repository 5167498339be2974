//! Aligned columns, cut to the terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::human::sanitized;
use super::style::Style;

/// Blanks between two columns.
const GAP: usize = 2;
/// A column is not cut below this.
const NARROWEST: usize = 4;
/// A column that yields is not cut below this while another one can be.
const SHORT: usize = 12;

/// How a cell looks where there is color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paint {
    Plain,
    Good,
    Doubtful,
    Bad,
}

/// One value for a person.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(super) text: String,
    paint: Paint,
    /// Whether the end tells more than the beginning.
    keeps_end: bool,
}

impl Cell {
    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self {
            text: sanitized(text.as_ref()),
            paint: Paint::Plain,
            keeps_end: false,
        }
    }

    /// A path: those of one person begin alike and end differently.
    pub(crate) fn path(text: impl AsRef<str>) -> Self {
        Self {
            keeps_end: true,
            ..Self::plain(text)
        }
    }

    pub(crate) fn good(text: impl AsRef<str>) -> Self {
        Self {
            paint: Paint::Good,
            ..Self::plain(text)
        }
    }

    pub(crate) fn doubtful(text: impl AsRef<str>) -> Self {
        Self {
            paint: Paint::Doubtful,
            ..Self::plain(text)
        }
    }

    pub(crate) fn bad(text: impl AsRef<str>) -> Self {
        Self {
            paint: Paint::Bad,
            ..Self::plain(text)
        }
    }

    pub(super) fn painted(&self, style: Style, text: &str) -> String {
        match self.paint {
            Paint::Plain => text.to_owned(),
            Paint::Good => style.green(text),
            Paint::Doubtful => style.yellow(text),
            Paint::Bad => style.red(text),
        }
    }
}

/// A table with a head. All rows have as many cells as the head.
#[derive(Debug)]
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    /// Columns that are cut before the others are.
    yielding: &'static [&'static str],
}

impl Table {
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self {
            head: head.to_vec(),
            rows: Vec::new(),
            yielding: &[],
        }
    }

    /// Names the columns that are cut first.
    pub(crate) fn yielding(self, yielding: &'static [&'static str]) -> Self {
        Self { yielding, ..self }
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    pub(super) fn render(&self, style: Style) -> String {
        let widths = self.widths(style.width);
        let mut text = String::new();
        let head: Vec<Cell> = self.head.iter().map(Cell::plain).collect();
        render_row(&mut text, &head, &widths, |_, part| style.bold(part));
        for row in &self.rows {
            render_row(&mut text, row, &widths, |cell, part| cell.painted(style, part));
        }
        text
    }

    /// What each column needs, the widest ones cut until all fit, and of these first the ones that yield.
    fn widths(&self, available: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(|title| title.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.width());
            }
        }
        let Some(available) = available else { return widths };
        let gaps = GAP * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > available {
            let columns = widths.iter_mut().zip(&self.head);
            let yielding = columns.filter(|(width, title)| **width > SHORT && self.yielding.contains(title));
            let Some((widest, _)) = yielding.max_by_key(|(width, _)| **width) else {
                break;
            };
            *widest -= 1;
        }
        while widths.iter().sum::<usize>() + gaps > available {
            let Some(widest) = widths.iter_mut().max() else {
                break;
            };
            if *widest <= NARROWEST {
                // Too narrow for all columns: the last ones give way.
                let Some(last) = widths.iter_mut().rev().find(|width| **width > 0) else {
                    break;
                };
                *last -= 1;
                continue;
            }
            *widest -= 1;
        }
        widths
    }
}

fn render_row(text: &mut String, cells: &[Cell], widths: &[usize], paint: impl Fn(&Cell, &str) -> String) {
    let mut blanks = 0;
    for (cell, width) in cells.iter().zip(widths) {
        let part = if cell.keeps_end {
            cut_front(&cell.text, *width)
        } else {
            cut(&cell.text, *width)
        };
        if !part.is_empty() {
            text.push_str(&" ".repeat(blanks));
            text.push_str(&paint(cell, &part));
            blanks = 0;
        }
        blanks += width - part.width() + GAP;
    }
    text.push('\n');
}

/// At most `width` columns of a text, with an ellipsis where something is missing.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut part = String::new();
    let mut columns = 0;
    for letter in text.chars() {
        columns += letter.width().unwrap_or(0);
        if columns >= width {
            break;
        }
        part.push(letter);
    }
    if width > 0 {
        part.push('…');
    }
    part
}

/// The same, with the end of the text instead of its beginning.
fn cut_front(text: &str, width: usize) -> String {
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    backwards(&cut(&backwards(text), width))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(width: Option<usize>) -> Vec<String> {
        let mut table = Table::new(&["NAME", "TITLE", "ID"]);
        table.row(vec![
            Cell::plain("a"),
            Cell::plain("漢".repeat(40)),
            Cell::plain("ws_1"),
        ]);
        table.row(vec![
            Cell::plain("long-name"),
            Cell::plain(""),
            Cell::plain("ws_2"),
        ]);
        table
            .render(Style { color: false, width })
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn columns_are_aligned_and_nothing_is_cut_without_a_terminal() {
        let lines = rendered(None);
        assert_eq!(lines[0].find("ID"), Some(93));
        assert_eq!(lines[2].find("ws_2"), Some(93));
        assert!(lines[1].contains(&"漢".repeat(40)));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [60, 40, 20, 12, 5, 1] {
            for line in rendered(Some(width)) {
                assert!(line.width() <= width, "{width}: {line:?}");
            }
        }
        assert!(rendered(Some(40))[1].contains("…"));
    }

    #[test]
    fn a_path_shows_its_end() {
        assert_eq!(cut_front("/home/u/dev/api", 8), "…dev/api");
        assert_eq!(cut_front("/srv/日本語", 6), "…本語");
        assert_eq!(cut_front("/srv/api", 8), "/srv/api");
    }

    #[test]
    fn columns_that_yield_are_cut_before_the_others() {
        let mut table = Table::new(&["ROOT", "UPDATED"]).yielding(&["ROOT"]);
        table.row(vec![
            Cell::path("/home/u/development/api"),
            Cell::plain("2026-05-04 14:30:00 (2 h ago)"),
        ]);
        let lines = |width| {
            let style = Style {
                color: false,
                width: Some(width),
            };
            table.render(style)
        };
        assert!(
            lines(45).ends_with("…velopment/api  2026-05-04 14:30:00 (2 h ago)\n"),
            "{}",
            lines(45)
        );
        assert!(lines(30).lines().all(|line| line.width() <= 30), "{}", lines(30));
    }
}
