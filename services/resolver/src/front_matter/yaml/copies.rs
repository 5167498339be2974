//! What anchors and aliases stand for, and how much of it may be copied.

use std::collections::HashMap;

use super::super::{COPIED_BYTES_MAX, DEPTH_MAX, Finding, NODES_MAX, Place};
use super::fault;
use crate::node::{Content, Node};

/// Values that have an anchor, and what is left of the budget of a front matter.
#[derive(Debug)]
pub(super) struct Copies {
    by_anchor: HashMap<usize, (Content, Weight, Place)>,
    nodes_left: usize,
    bytes_left: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    nodes: usize,
    bytes: usize,
    height: usize,
}

impl Copies {
    pub(super) fn new() -> Self {
        Self {
            by_anchor: HashMap::new(),
            nodes_left: NODES_MAX,
            bytes_left: COPIED_BYTES_MAX,
        }
    }

    /// Counts one value of the file.
    pub(super) fn count(&mut self, place: Place) -> Result<(), Finding> {
        let left = self.nodes_left.checked_sub(1);
        self.nodes_left = left.ok_or_else(|| fault::too_many(place))?;
        Ok(())
    }

    /// Keeps a value that has an anchor.
    pub(super) fn keep(&mut self, anchor: usize, content: &Content, place: Place) -> Result<(), Finding> {
        let weight = Weight::of(content);
        // The copy that is kept takes memory like any other, but stands for nothing more in the tree.
        self.bytes_left = spend(self.bytes_left, weight.bytes, place)?;
        self.by_anchor.insert(anchor, (content.clone(), weight, place));
        Ok(())
    }

    /// The value that an alias stands for, inside of `depth` containers, and the place of that value.
    pub(super) fn copy(
        &mut self,
        anchor: usize,
        depth: usize,
        place: Place,
    ) -> Result<(Content, Place), Finding> {
        // An anchor that is not complete yet contains the alias.
        let found = self.by_anchor.get(&anchor);
        let (content, weight, original) = found.ok_or_else(|| fault::endless_alias(place))?;
        if depth + weight.height > DEPTH_MAX {
            return Err(fault::too_deep(place));
        }
        self.nodes_left = spend(self.nodes_left, weight.nodes, place)?;
        self.bytes_left = spend(self.bytes_left, weight.bytes, place)?;
        Ok((content.clone(), *original))
    }
}

fn spend(left: usize, cost: usize, place: Place) -> Result<usize, Finding> {
    left.checked_sub(cost).ok_or_else(|| fault::too_many(place))
}

impl Weight {
    /// The tree is never deeper than [`DEPTH_MAX`].
    fn of(content: &Content) -> Self {
        match content {
            Content::Text(text) | Content::Time(text) => Self::scalar(text.len()),
            Content::Null | Content::Integer(_) | Content::Float(_) | Content::Flag(_) => Self::scalar(0),
            Content::List(items) => items.iter().fold(Self::container(), Self::with),
            Content::Table(entries) => entries.iter().fold(Self::container(), |sum, (key, node)| {
                let sum = sum.with(node);
                Self {
                    bytes: sum.bytes + key.len(),
                    ..sum
                }
            }),
        }
    }

    const fn scalar(bytes: usize) -> Self {
        Self {
            nodes: 1,
            bytes,
            height: 0,
        }
    }

    const fn container() -> Self {
        Self {
            nodes: 1,
            bytes: 0,
            height: 1,
        }
    }

    fn with(self, node: &Node) -> Self {
        let inner = Self::of(&node.content);
        Self {
            nodes: self.nodes + inner.nodes,
            bytes: self.bytes + inner.bytes,
            height: self.height.max(inner.height + 1),
        }
    }
}
