//! Reading the file: every rule with the line where it is broken. What is said never holds content of the
//! file.

use std::ops::Range;

use compozy_domain::{DurableId, Timestamp};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{FILE_BYTES_MAX, Identity, key, time};

/// Which rule a file breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct IdentityProblem {
    /// Line of the problem, from 1; `None` when it is about the file as a whole.
    pub line: Option<u32>,
    /// Which rule.
    pub problem: String,
}

/// Reads the content of an identity file. Keys that are not known are passed over.
///
/// # Errors
/// The first rule that the content breaks.
pub fn parse(bytes: &[u8]) -> Result<Identity, IdentityProblem> {
    read(bytes).map(|(identity, _)| identity)
}

/// Where the values stand that an edit touches, as ranges of bytes, quotes included.
pub(super) struct Places {
    pub(super) workspace_id: Range<usize>,
    pub(super) realpath: Range<usize>,
    pub(super) forked_from: Option<Range<usize>>,
}

pub(super) fn read(bytes: &[u8]) -> Result<(Identity, Places), IdentityProblem> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(whole(format!("must have at most {FILE_BYTES_MAX} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| IdentityProblem {
        line: Some(line_at(bytes, error.valid_up_to())),
        problem: "is not valid UTF-8".to_owned(),
    })?;
    let document = DeTable::parse(text).map_err(|error| IdentityProblem {
        line: error.span().map(|span| line_at(bytes, span.start)),
        problem: format!("is not valid TOML: {}", error.message()),
    })?;
    let file = File {
        table: document.get_ref(),
        bytes,
    };
    let (durable_id, workspace_id) = file
        .durable_id(key::WORKSPACE_ID)?
        .ok_or_else(|| missing(key::WORKSPACE_ID))?;
    let created_at = file.created_at()?;
    let (realpath_at_creation, realpath) = file.realpath()?;
    let (origin, forked_from) = file.durable_id(key::FORKED_FROM)?.unzip();
    let identity = Identity {
        durable_id,
        created_at,
        realpath_at_creation,
        forked_from: origin,
    };
    let places = Places {
        workspace_id,
        realpath,
        forked_from,
    };
    Ok((identity, places))
}

struct File<'a> {
    table: &'a DeTable<'a>,
    bytes: &'a [u8],
}

impl File<'_> {
    fn durable_id(&self, key: &str) -> Result<Option<(DurableId, Range<usize>)>, IdentityProblem> {
        let Some((text, value)) = self.text(key)? else {
            return Ok(None);
        };
        match DurableId::parse(text) {
            Some(id) => Ok(Some((id, value.span()))),
            None => Err(self.at(
                value,
                format!("{key} must be a ULID: 26 characters of Crockford base32 in upper case"),
            )),
        }
    }

    fn created_at(&self) -> Result<Timestamp, IdentityProblem> {
        let key = key::CREATED_AT;
        let (text, value) = self.text(key)?.ok_or_else(|| missing(key))?;
        time::parse(text).map_err(|problem| self.at(value, format!("{key} {problem}")))
    }

    fn realpath(&self) -> Result<(String, Range<usize>), IdentityProblem> {
        let key = key::REALPATH;
        let (text, value) = self.text(key)?.ok_or_else(|| missing(key))?;
        if text.trim().is_empty() {
            return Err(self.at(value, format!("{key} must not be blank")));
        }
        Ok((text.to_owned(), value.span()))
    }

    fn text(&self, key: &str) -> Result<Option<(&str, &Spanned<DeValue<'_>>)>, IdentityProblem> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        match value.get_ref().as_str() {
            Some(text) => Ok(Some((text, value))),
            None => Err(self.at(value, format!("{key} must be a string in quotes"))),
        }
    }

    fn at(&self, value: &Spanned<DeValue<'_>>, problem: String) -> IdentityProblem {
        IdentityProblem {
            line: Some(line_at(self.bytes, value.span().start)),
            problem,
        }
    }
}

fn missing(key: &str) -> IdentityProblem {
    whole(format!("{key} is missing"))
}

fn whole(problem: String) -> IdentityProblem {
    IdentityProblem { line: None, problem }
}

fn line_at(bytes: &[u8], offset: usize) -> u32 {
    let before = &bytes[..offset.min(bytes.len())];
    let newlines = before.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(newlines).unwrap_or(u32::MAX).saturating_add(1)
}
