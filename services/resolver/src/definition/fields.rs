//! The fields of a front matter, as what they have to be. A field of another type is an error at its place, and reads
//! as if it were not set.

use crate::front_matter::{Finding, FrontMatter, Place, key_shown};
use crate::node::{Content, Node};

/// Findings that one file may give; a hostile one has room for thousands.
const FINDINGS_MAX: usize = 100;
const QUOTE: &str = "put it between double quotes if it is meant as text";
const LIST: &str = "write the items as `[one, two]`, or one below the other, each behind `- `";

/// A front matter that is read field by field.
#[derive(Debug)]
pub(super) struct Fields<'f> {
    front: &'f FrontMatter<'f>,
    findings: Vec<Finding>,
}

impl<'f> Fields<'f> {
    pub(super) fn new(front: &'f FrontMatter<'f>) -> Self {
        Self {
            front,
            findings: front.findings.clone(),
        }
    }

    /// Whether everything could be read: only then is a field that is not there one that is missing.
    pub(super) const fn is_whole(&self) -> bool {
        self.front.fields.is_some()
    }

    pub(super) fn tell(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Everything that was found, in the order of the file.
    pub(super) fn into_findings(self) -> Vec<Finding> {
        let mut findings = self.findings;
        // Errors first, so that none of them is among those that are too many.
        findings.sort_by_key(|found| (std::cmp::Reverse(found.severity), found.place));
        if findings.len() > FINDINGS_MAX {
            let more = findings.len() - FINDINGS_MAX;
            findings.truncate(FINDINGS_MAX);
            findings.push(Finding::warning(
                "definition_more_findings",
                Place::start_of(1),
                format!("{more} more findings about this file are not shown"),
                "mend those that are shown first",
            ));
        }
        findings.sort_by_key(|found| found.place);
        findings
    }

    /// The entries of the front matter.
    pub(super) fn entries(&self) -> &'f [(String, Node)] {
        let fields = self.front.fields.as_ref();
        fields.and_then(Node::as_table).unwrap_or_default()
    }

    /// A field that is set. One without a value is not.
    pub(super) fn get(&self, key: &str) -> Option<&'f Node> {
        let node = self.front.fields.as_ref()?.get(key)?;
        (node.content != Content::Null).then_some(node)
    }

    /// The field `name`, also of a file that can't be read otherwise.
    pub(super) fn name_node(&self) -> Option<Node> {
        self.get("name").or(self.front.salvaged_name.as_ref()).cloned()
    }

    pub(super) fn name_place(&self) -> Place {
        self.name_node()
            .map_or(Place::start_of(1), |node| Place::of(&node))
    }

    /// What a value says where a text is expected.
    pub(super) fn text_of<'n>(&'n self, node: &'n Node) -> Option<&'n str> {
        self.front.text(node)
    }

    /// A text; empty if it is not set.
    pub(super) fn text(&mut self, key: &str) -> String {
        let Some(node) = self.get(key) else {
            return String::new();
        };
        match self.front.text(node) {
            Some(text) => text.trim().to_owned(),
            None => {
                self.wrong_type(key, node, "a text", QUOTE);
                String::new()
            }
        }
    }

    /// Texts: a list of them, or as many people write it, one text with commas between them.
    pub(super) fn texts(&mut self, key: &str) -> Vec<String> {
        match self.get(key) {
            Some(node) => self.texts_of(key, node),
            None => Vec::new(),
        }
    }

    /// The texts of a node that stands for the dotted key.
    pub(super) fn texts_of(&mut self, key: &str, node: &'f Node) -> Vec<String> {
        match &node.content {
            Content::Null => Vec::new(),
            Content::List(items) => self.listed(key, items),
            _ => match self.front.text(node).map(separated) {
                Some(Some(texts)) => texts,
                Some(None) => {
                    self.wrong_type(
                        key,
                        node,
                        "a list of texts: here a bracket or quote is not closed, or is too many",
                        LIST,
                    );
                    Vec::new()
                }
                None => {
                    self.wrong_type(key, node, "a list of texts", LIST);
                    Vec::new()
                }
            },
        }
    }

    /// Groups from the outside to the inside: a list of texts, or the only one.
    pub(super) fn path(&mut self, key: &str) -> Vec<String> {
        let Some(node) = self.get(key) else {
            return Vec::new();
        };
        match &node.content {
            Content::List(items) => self.listed(key, items),
            _ => Vec::from_iter(Some(self.text(key)).filter(|text| !text.is_empty())),
        }
    }

    pub(super) fn wrong_type(&mut self, key: &str, node: &Node, wanted: &str, remedy: &str) {
        let found = Finding::error(
            "definition_wrong_type",
            Place::of(node),
            format!("`{}` must be {wanted}, and is {}", key_shown(key), node.kind()),
            remedy,
        );
        self.tell(found.about(key));
    }

    fn listed(&mut self, key: &str, items: &'f [Node]) -> Vec<String> {
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match self.front.text(item).map(str::trim) {
                Some("") => {}
                Some(text) => texts.push(text.to_owned()),
                None if item.content == Content::Null => {}
                None => self.wrong_type(key, item, "a list of texts", LIST),
            }
        }
        texts
    }
}

/// The texts between commas; those inside of round brackets belong to the text, as in `Bash(git add, git commit)`.
/// `None` if it rather was to be a list in the file's own language and went wrong: half of what is denied is not.
fn separated(text: &str) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    let mut current = String::new();
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '[' | ']' | '{' | '}' | '"' if depth == 0 => return None,
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            ',' | '\n' if depth == 0 => {
                texts.push(std::mem::take(&mut current));
                continue;
            }
            _ => {}
        }
        current.push(letter);
    }
    texts.push(current);
    let trimmed = texts.iter().map(|text| text.trim().to_owned());
    (depth == 0).then(|| trimmed.filter(|text| !text.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::separated;

    #[test]
    fn texts_are_separated_by_commas_outside_of_brackets() {
        let texts = |text| separated(text).unwrap();
        assert_eq!(
            texts("Read, Grep,Bash(git add, git commit:*),"),
            ["Read", "Grep", "Bash(git add, git commit:*)"]
        );
        assert_eq!(texts("*"), ["*"]);
        assert_eq!(texts(" "), Vec::<String>::new());
        for broken in [
            "[Bash, Write",
            "Bash] Write",
            "\"Bash\", Write",
            "Bash(git",
            "Bash)",
        ] {
            assert_eq!(separated(broken), None, "{broken}");
        }
    }
}
