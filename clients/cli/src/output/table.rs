//! Aligned columns, cut to the terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::human::sanitized;
use super::place;
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
    Faint,
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
    /// What says the same in less room, for a table that is too wide.
    short: Option<String>,
}

impl Cell {
    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self {
            text: sanitized(text.as_ref()),
            paint: Paint::Plain,
            keeps_end: false,
            short: None,
        }
    }

    /// A path: those of one person begin alike and end differently.
    pub(crate) fn path(text: impl AsRef<str>) -> Self {
        Self {
            keeps_end: true,
            ..Self::plain(text)
        }
    }

    /// A path of a workspace, which is shown from its root where there is little room.
    pub(crate) fn path_in(root: &str, text: impl AsRef<str>) -> Self {
        let short = sanitized(&place::short(text.as_ref(), root));
        Self {
            short: Some(short),
            ..Self::path(text)
        }
    }

    /// What matters less than the rest.
    pub(crate) fn faint(text: impl AsRef<str>) -> Self {
        Self {
            paint: Paint::Faint,
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
            Paint::Faint => style.dim(text),
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
    /// Whether the head is shown, and not only there to name the columns.
    has_head: bool,
    rows: Vec<Vec<Cell>>,
    /// Columns that are cut before the others are.
    yielding: &'static [&'static str],
    /// Columns that are cut after the others are: a part of an id names nothing.
    kept: &'static [&'static str],
}

impl Table {
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self {
            head: head.to_vec(),
            has_head: true,
            rows: Vec::new(),
            yielding: &[],
            kept: &[],
        }
    }

    /// Shows the rows only.
    pub(crate) fn headless(self) -> Self {
        Self {
            has_head: false,
            ..self
        }
    }

    /// Names the columns that are cut first.
    pub(crate) fn yielding(self, yielding: &'static [&'static str]) -> Self {
        Self { yielding, ..self }
    }

    /// Names the columns that are cut last.
    pub(crate) fn keeping(self, kept: &'static [&'static str]) -> Self {
        Self { kept, ..self }
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    pub(super) fn render(&self, style: Style) -> String {
        let needed = self.needed();
        let gaps = GAP * needed.len().saturating_sub(1);
        if style
            .width
            .is_some_and(|width| needed.iter().sum::<usize>() + gaps > width)
        {
            return self.shortened().render_cut(style);
        }
        self.render_cut(style)
    }

    /// With the short form of every cell that has one.
    fn shortened(&self) -> Self {
        let short = |cell: &Cell| Cell {
            text: cell.short.clone().unwrap_or_else(|| cell.text.clone()),
            ..cell.clone()
        };
        Self {
            head: self.head.clone(),
            rows: self
                .rows
                .iter()
                .map(|row| row.iter().map(short).collect())
                .collect(),
            ..*self
        }
    }

    fn render_cut(&self, style: Style) -> String {
        let widths = self.widths(style.width);
        let mut text = String::new();
        if self.has_head {
            let head: Vec<Cell> = self.head.iter().map(Cell::plain).collect();
            render_row(&mut text, &head, &widths, |_, part| style.bold(part));
        }
        for row in &self.rows {
            render_row(&mut text, row, &widths, |cell, part| cell.painted(style, part));
        }
        text
    }

    /// What each column needs.
    fn needed(&self) -> Vec<usize> {
        let head_width = |title: &&str| if self.has_head { title.width() } else { 0 };
        let mut widths: Vec<usize> = self.head.iter().map(head_width).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.width());
            }
        }
        widths
    }

    /// What each column gets: what it needs, the widest ones cut until all fit, of these first the ones that yield and
    /// last the ones that are kept.
    fn widths(&self, available: Option<usize>) -> Vec<usize> {
        let mut widths = self.needed();
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
            let columns = widths.iter_mut().zip(&self.head);
            let others = columns.filter(|(width, title)| **width > NARROWEST && !self.kept.contains(title));
            let Some((widest, _)) = others.max_by_key(|(width, _)| **width) else {
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
    fn a_path_is_shown_from_its_root_before_anything_is_cut() {
        let mut table = Table::new(&["FILE", "ID"]);
        table.row(vec![
            Cell::path_in("/home/u/development/api", "/home/u/development/api/x.toml:2"),
            Cell::plain("ws_1"),
        ]);
        let line = |width| {
            let text = table.render(Style { color: false, width });
            text.lines().nth(1).map(str::to_owned)
        };
        assert_eq!(
            line(None).as_deref(),
            Some("/home/u/development/api/x.toml:2  ws_1")
        );
        assert_eq!(line(Some(38)), line(None));
        assert_eq!(line(Some(37)).as_deref(), Some("x.toml:2  ws_1"));
        assert_eq!(line(Some(13)).as_deref(), Some("…toml:2  ws_1"));
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

    #[test]
    fn columns_that_are_kept_are_cut_after_the_others() {
        let mut table = Table::new(&["NAME", "AGE", "ID"]).keeping(&["ID"]);
        table.row(vec![
            Cell::plain("a name of some length"),
            Cell::plain("2 h ago"),
            Cell::plain("sess-0123456789abcdef"),
        ]);
        let lines = |width| {
            let text = table.render(Style {
                color: false,
                width: Some(width),
            });
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(
            lines(40)[1].ends_with("  sess-0123456789abcdef"),
            "{:?}",
            lines(40)
        );
        assert!(lines(20).iter().all(|line| line.width() <= 20), "{:?}", lines(20));
    }
}
