//! Places in a manual order. A rank is a byte string; a move writes one rank between its new neighbours and
//! leaves every other row alone.
//!
//! A rank is read as big-endian digits of 16 bits. The first four digits of a rank made at an end are one
//! number of 64 bits: new rows take numbers that descend from the middle, rows moved to the end take
//! numbers above the last. Between two neighbours a rank grows by digits. On even depths it stays near its
//! lower neighbour, on odd depths near its upper one, so that moving to one spot again and again, from
//! either side, costs two digits in about two thousand moves. An order that is wedged into one spot from
//! changing sides runs out of digits after some hundred moves; only then the order is spread anew.

const NUMBER_DIGITS: usize = 4;
const DIGITS_MAX: usize = 127;
const STEP: u32 = 32;
const BASE: u32 = 0x1_0000;
const MIDDLE: u64 = 1 << 63;

/// A place in an order: an even number of bytes, at most 254, compared byte-wise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(Vec<u8>);

impl Rank {
    /// The place in front of everything for the `number`-th new row, counting from 1 upwards.
    #[must_use]
    pub fn front(number: i64) -> Self {
        Self::number(MIDDLE.wrapping_sub_signed(number))
    }

    /// Takes a stored rank as it is.
    #[must_use]
    pub fn from_stored(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes to store and to compare.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A place between two neighbours, `None` standing for an end of the order. Gives `None` when the
    /// neighbours touch: the order has to be spread anew then.
    #[must_use]
    pub fn between(lower: Option<&Self>, upper: Option<&Self>) -> Option<Self> {
        match (lower, upper) {
            (None, None) => Some(Self::number(MIDDLE)),
            (Some(last), None) => Some(Self::number(last.leading_number().checked_add(1)?)),
            // A later new row takes a number below every number used, and so stays in front of this place.
            (None, Some(first)) => between(&first.floor()?.digits(), &first.digits()),
            (Some(lower), Some(upper)) => between(&lower.digits(), &upper.digits()),
        }
    }

    /// The ranks of `count` rows spread evenly over the numbers from the middle up, in ascending order.
    pub fn spread(count: usize) -> impl Iterator<Item = Self> {
        (0..count as u64).map(|place| Self::number(MIDDLE + place))
    }

    fn number(number: u64) -> Self {
        Self(number.to_be_bytes().to_vec())
    }

    fn leading_number(&self) -> u64 {
        let mut bytes = [0_u8; 8];
        let length = self.0.len().min(8);
        bytes[..length].copy_from_slice(&self.0[..length]);
        u64::from_be_bytes(bytes)
    }

    /// A bound below this rank and above every number below its own.
    fn floor(&self) -> Option<Self> {
        let number = self.leading_number();
        if self.0.len() > 2 * NUMBER_DIGITS {
            Some(Self::number(number))
        } else {
            number.checked_sub(1).map(Self::number)
        }
    }

    fn digits(&self) -> Vec<u32> {
        self.0
            .chunks(2)
            .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)))
            .collect()
    }
}

fn between(lower: &[u32], upper: &[u32]) -> Option<Rank> {
    let mut bytes = Vec::new();
    let mut below_upper = false;
    for depth in 0..DIGITS_MAX {
        let low = lower.get(depth).copied().unwrap_or(0);
        let high = match upper.get(depth) {
            _ if below_upper => BASE,
            Some(digit) => *digit,
            None => return None,
        };
        let gap = high.checked_sub(low)?;
        let digit = match gap {
            0 | 1 => low,
            _ if depth % 2 == 0 => low + STEP.min(gap / 2),
            _ => high - STEP.min(gap / 2),
        };
        bytes.extend_from_slice(&u16::try_from(digit).ok()?.to_be_bytes());
        if gap > 1 {
            return Some(Rank(bytes));
        }
        below_upper |= gap == 1;
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn new_rows_come_in_front_also_after_moves_to_the_front() {
        let first = Rank::front(1);
        let moved = Rank::between(None, Some(&first)).unwrap();
        let moved_again = Rank::between(None, Some(&moved)).unwrap();
        let second = Rank::front(2);
        assert!(second < moved_again && moved_again < moved && moved < first);
        let end = Rank::between(Some(&first), None).unwrap();
        assert!(first < end);
    }

    #[test]
    fn one_spot_takes_many_moves_from_either_side() {
        let (mut low, mut high) = (Rank::front(2), Rank::front(1));
        for _ in 0..50_000 {
            low = Rank::between(Some(&low), Some(&high)).unwrap();
        }
        assert!(low.as_bytes().len() <= 254);
        low = Rank::front(2);
        for _ in 0..50_000 {
            high = Rank::between(Some(&low), Some(&high)).unwrap();
        }
        assert!(high.as_bytes().len() <= 254);
    }

    #[test]
    fn w205_a_model_of_many_moves_agrees() {
        let mut order: Vec<(usize, Rank)> = (0..1_000).map(|n| (n, Rank::front(1_000 - n as i64))).collect();
        let mut state = 7_u64;
        let mut draw = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let anchor = 500;
        for round in 0..10_000 {
            let moved = draw(order.len());
            if round % 3 == 0 && order[moved].0 == anchor {
                continue;
            }
            let (id, _) = order.remove(moved);
            let before_anchor = order.iter().position(|row| row.0 == anchor);
            let spot = before_anchor
                .filter(|_| round % 3 == 0)
                .unwrap_or_else(|| draw(order.len() + 1));
            let lower = spot.checked_sub(1).map(|at| &order[at].1);
            let rank = Rank::between(lower, order.get(spot).map(|row| &row.1)).unwrap();
            order.insert(spot, (id, rank));
        }
        assert!(order.windows(2).all(|pair| pair[0].1 < pair[1].1));
    }

    proptest! {
        #[test]
        fn a_place_lies_strictly_between(spots in prop::collection::vec(0.0_f64..1.0, 1..300)) {
            let mut order = vec![Rank::front(2), Rank::front(1)];
            for spot in spots {
                let at = (spot * (order.len() + 1) as f64) as usize;
                let lower = at.checked_sub(1).map(|below| order[below].clone());
                let rank = Rank::between(lower.as_ref(), order.get(at)).unwrap();
                order.insert(at, rank);
                prop_assert!(order.windows(2).all(|pair| pair[0] < pair[1]));
            }
        }
    }
}
