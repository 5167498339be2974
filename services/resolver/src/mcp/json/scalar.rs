//! Texts, numbers and words of JSON.

use super::{Fault, Reader};
use crate::node::Content;

impl Reader<'_> {
    /// A text; the reader stands on its opening quote.
    pub(super) fn string(&mut self) -> Result<String, Fault> {
        let opening = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let run = self.run();
            text.push_str(&self.text[run]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => {
                    let message = "a text holds a line end or another control character".to_owned();
                    return Err(self.fault(self.at, message, "write it as an escape, such as \\n or \\t"));
                }
                None => {
                    let message = "a text that starts here has no end".to_owned();
                    return Err(self.fault(opening, message, "close the text with a double quote"));
                }
            }
        }
    }

    /// The bytes up to the next quote, escape or control character, which the reader passes over. All of those are
    /// ASCII, so the range never cuts a character.
    fn run(&mut self) -> std::ops::Range<usize> {
        let from = self.at;
        while let Some(byte) = self.peek() {
            if byte == b'"' || byte == b'\\' || byte < 0x20 {
                break;
            }
            self.at += 1;
        }
        from..self.at
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek();
        self.at += usize::from(letter.is_some_and(|byte| byte.is_ascii()));
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(start),
            _ => {
                let message = "a backslash is followed by no escape of JSON".to_owned();
                return Err(self.fault(start, message, "write a backslash as \\\\"));
            }
        })
    }

    /// The rest of `\uXXXX`, which for a character beyond 16 bits is a pair of them.
    fn code_point(&mut self, start: usize) -> Result<char, Fault> {
        let first = self.four_digits(start)?;
        let code = match first {
            0xD800..=0xDBFF if self.text[self.at..].starts_with("\\u") => {
                self.at += 2;
                let second = self.four_digits(start)?;
                let low = second.wrapping_sub(0xDC00);
                if low < 0x400 {
                    0x1_0000 + ((first - 0xD800) << 10) + low
                } else {
                    first
                }
            }
            code => code,
        };
        // A lone half of a pair is no character.
        char::from_u32(code).ok_or_else(|| {
            let message = "an escape stands for half a character".to_owned();
            self.fault(
                start,
                message,
                "write the character itself, or both of its halves",
            )
        })
    }

    fn four_digits(&mut self, start: usize) -> Result<u32, Fault> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let code = digits.and_then(|digits| {
            let mut code = 0;
            for digit in digits {
                code = code * 16 + char::from(*digit).to_digit(16)?;
            }
            Some(code)
        });
        self.at += if code.is_some() { 4 } else { 0 };
        code.ok_or_else(|| {
            let message = "an escape \\u lacks its four hexadecimal digits".to_owned();
            self.fault(start, message, "write it as \\u and four digits, such as \\u00e9")
        })
    }

    /// A number; the reader stands on its first digit or minus.
    pub(super) fn number(&mut self) -> Result<Content, Fault> {
        let start = self.at;
        self.take(b'-');
        let whole = self.at;
        self.digits()?;
        if self.at > whole + 1 && self.text.as_bytes()[whole] == b'0' {
            let message = "a number starts with a needless 0".to_owned();
            return Err(self.fault(whole, message, "remove the 0, or write a text"));
        }
        let mut is_whole = true;
        if self.take(b'.') {
            is_whole = false;
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            is_whole = false;
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        let number = if is_whole {
            text.parse().ok().map(Content::Integer)
        } else {
            let number: Option<f64> = text.parse().ok();
            number.filter(|number| number.is_finite()).map(Content::Float)
        };
        number.ok_or_else(|| {
            let message = "a number is too large".to_owned();
            self.fault(start, message, "write a smaller one, or a text")
        })
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == from {
            return Err(self.unexpected("a digit"));
        }
        Ok(())
    }

    pub(super) fn word(&mut self) -> Result<Content, Fault> {
        let words = [
            ("true", Content::Flag(true)),
            ("false", Content::Flag(false)),
            ("null", Content::Null),
        ];
        for (word, content) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(content);
            }
        }
        Err(self.unexpected("a value"))
    }
}
