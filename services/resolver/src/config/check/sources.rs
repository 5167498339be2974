//! Sources of skills: what no disk has to be asked for.

use super::Checking;
use crate::config::keys::Kind;
use crate::config::sources::{wrong_paths, wrong_presets};
use crate::node::{Content, Node};

impl Checking<'_> {
    /// Whether a list of this kind is none of sources, or one in which everything is right.
    pub(super) fn sources_fit(&mut self, kind: Kind, node: &Node) -> bool {
        let Content::List(items) = &node.content else {
            return true;
        };
        let texts: Vec<&str> = items.iter().filter_map(Node::as_text).collect();
        let wrong = match kind {
            Kind::SkillSources => wrong_presets(&texts),
            Kind::SkillPaths => wrong_paths(self.layer, &texts),
            _ => return true,
        };
        for wrong in &wrong {
            let node = items.get(wrong.index).unwrap_or(node);
            self.problem(wrong.code, node, wrong.message.clone(), &wrong.remedy);
        }
        wrong.is_empty()
    }
}
