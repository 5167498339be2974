//! Files made of files: what people and programs do to them by mistake, and what an attacker would try.

/// Numbers that look random and are the same in every run (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    /// The numbers of one file of one run.
    pub(crate) fn new(seed: u64, at: u64) -> Self {
        let mut chance = Self(seed ^ at.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below another one; 0 if there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    /// Whether it is this one time of so many.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of some things, of which there is at least one.
    pub(crate) fn of<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }
}

/// Characters and bytes that readers trip over.
const ODD: &[&[u8]] = &[
    b"\0",
    b"\r",
    b"\r\n",
    b"\t",
    b"\x7f",
    b"\xff",
    b"\xc3",
    b"\xf0\x9f\x98",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
    b"\xc2\xa0",
    b"\xc3\xa9",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xae",
    b"\x1b[31m",
    b"\x0b",
];

/// Does one thing to a file. `pieces` are the words of its language, `other` is another file of it.
pub(crate) fn mutate(bytes: &mut Vec<u8>, pieces: &[&str], other: &[u8], chance: &mut Chance) {
    match chance.below(16) {
        0..=2 => {
            let at = chance.below(bytes.len() + 1);
            insert(bytes, at, chance.of(pieces).as_bytes());
        }
        3 => {
            let at = start_of_line(bytes, chance);
            insert(bytes, at, chance.of(pieces).as_bytes());
        }
        4 | 5 => replace_word(bytes, chance.of(pieces).as_bytes(), chance),
        6 => {
            let at = chance.below(bytes.len() + 1);
            insert(bytes, at, chance.of(ODD));
        }
        7 => remove_some(bytes, chance),
        8 => {
            let line = line(bytes, chance);
            bytes.drain(line);
        }
        9 => {
            let copy = bytes[line(bytes, chance)].to_vec();
            let at = start_of_line(bytes, chance);
            insert(bytes, at, &copy);
        }
        10 => {
            let copy = other[line(other, chance)].to_vec();
            let at = start_of_line(bytes, chance);
            insert(bytes, at, &copy);
        }
        11 => nest(bytes, chance.of(pieces).as_bytes(), chance),
        12 => {
            let at = start_of_line(bytes, chance);
            let indent = chance.of(&[" ", "  ", "\t", "    "]);
            insert(bytes, at, indent.as_bytes());
        }
        13 => {
            let at = chance.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
        }
        14 => line_ends(bytes, chance),
        _ => bytes.truncate(chance.below(bytes.len() + 1)),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}

/// One line with its end.
fn line(bytes: &[u8], chance: &mut Chance) -> std::ops::Range<usize> {
    let start = start_of_line(bytes, chance);
    let end = bytes[start..].iter().position(|byte| *byte == b'\n');
    start..end.map_or(bytes.len(), |end| start + end + 1)
}

fn start_of_line(bytes: &[u8], chance: &mut Chance) -> usize {
    let at = chance.below(bytes.len() + 1);
    let before = bytes[..at].iter().rposition(|byte| *byte == b'\n');
    before.map_or(0, |before| before + 1)
}

/// Puts a piece in the place of a word, or of a sign if there is none.
fn replace_word(bytes: &mut Vec<u8>, piece: &[u8], chance: &mut Chance) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || *byte >= 0x80;
    let at = chance.below(bytes.len());
    let before = bytes[..at].iter().rev().take_while(|byte| is_word(byte)).count();
    let behind = bytes[at..].iter().take_while(|byte| is_word(byte)).count();
    let end = (at + behind.max(1)).min(bytes.len());
    bytes.splice(at - before..end, piece.iter().copied());
}

fn remove_some(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let start = chance.below(bytes.len() + 1);
    let end = (start + 1 + chance.below(12)).min(bytes.len());
    bytes.drain(start..end);
}

/// Many of one piece behind one another, as only programs write.
fn nest(bytes: &mut Vec<u8>, piece: &[u8], chance: &mut Chance) {
    let many = piece.repeat(1 + chance.below(100));
    let at = chance.below(bytes.len() + 1);
    insert(bytes, at, &many);
}

/// Ends of lines of another system, everywhere or on one line.
fn line_ends(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let is_everywhere = chance.one_in(2);
    let only = chance.below(1 + bytes.iter().filter(|byte| **byte == b'\n').count());
    let mut seen = 0;
    let mut new = Vec::with_capacity(bytes.len() + 16);
    for byte in bytes.iter() {
        if *byte == b'\n' {
            if is_everywhere || seen == only {
                new.push(b'\r');
            }
            seen += 1;
        }
        new.push(*byte);
    }
    *bytes = new;
}
