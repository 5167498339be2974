//! How deep a document nests, told without building it: dotted keys can nest as deep as a file is long, and whoever
//! walks or drops such a tree runs out of stack.

use toml_parser::parser::{EventReceiver, parse_document};
use toml_parser::{ErrorSink, Source, Span};

/// Tables and lists in one another at most.
pub(super) const DEPTH_MAX: usize = 64;

/// Offset of the first thing that lies too deep.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let tokens = Source::new(text).lex().into_vec();
    let mut depth = Depth::default();
    parse_document(&tokens, &mut depth, &mut ());
    depth.found
}

#[derive(Default)]
struct Depth {
    /// Parts of the header that counts.
    header: usize,
    in_header: bool,
    /// Parts of the key that is read.
    key: usize,
    /// Levels of the open lists and tables, with the parts of the keys that lead to them.
    open: Vec<usize>,
    open_sum: usize,
    found: Option<usize>,
}

impl Depth {
    fn check(&mut self, span: Span) -> bool {
        let is_too_deep = self.header + self.open_sum + self.key > DEPTH_MAX;
        if is_too_deep && self.found.is_none() {
            self.found = Some(span.start());
        }
        !is_too_deep
    }

    fn enter(&mut self, span: Span) -> bool {
        let levels = self.key + 1;
        self.open.push(levels);
        self.open_sum += levels;
        self.key = 0;
        self.check(span)
    }

    fn leave(&mut self) {
        self.open_sum -= self.open.pop().unwrap_or_default();
        self.key = 0;
    }

    fn start_header(&mut self, levels: usize) {
        self.in_header = true;
        self.header = levels;
        self.key = 0;
    }
}

impl EventReceiver for Depth {
    fn std_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.start_header(0);
    }

    fn std_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.in_header = false;
    }

    fn array_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.start_header(1);
    }

    fn array_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.in_header = false;
    }

    fn inline_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) -> bool {
        self.enter(span)
    }

    fn inline_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.leave();
    }

    fn array_open(&mut self, span: Span, _: &mut dyn ErrorSink) -> bool {
        self.enter(span)
    }

    fn array_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.leave();
    }

    fn simple_key(&mut self, span: Span, _: Option<toml_parser::decoder::Encoding>, _: &mut dyn ErrorSink) {
        if self.in_header {
            self.header += 1;
        } else {
            self.key += 1;
        }
        self.check(span);
    }

    fn value_sep(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.key = 0;
    }

    fn newline(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.key = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_keys_headers_and_values_count() {
        let dotted = |parts| vec!["a"; parts].join(".");
        assert_eq!(too_deep(&format!("{} = 1\n", dotted(64))), None);
        assert!(too_deep(&format!("{} = 1\n", dotted(65))).is_some());
        assert!(too_deep(&format!("[{}]\n", dotted(65))).is_some());
        assert!(too_deep(&format!("[{}]\n{} = 1\n", dotted(40), dotted(40))).is_some());
        assert!(too_deep(&format!("x = {}\n", "[".repeat(100_000))).is_some());
        assert!(too_deep(&format!("{} = 1\n", dotted(500_000))).is_some());
        let many = "a.b.c = { d.e = [ 1, 2 ], f = 3 }\n".replace('a', "k");
        let many: String = (0..1_000)
            .map(|at| many.replace('k', &format!("k{at}")))
            .collect();
        assert_eq!(too_deep(&many), None, "{many}");
    }
}
