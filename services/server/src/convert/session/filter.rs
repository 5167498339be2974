//! Filters of lists and counts.

use compozy_domain::session::fields;
use compozy_domain::session::filter::{Archive, Place, SessionFilter};
use compozy_domain::text::{fold_for_search, refuse_control_characters};
use compozy_domain::{CatalogError, Profile, ProfileId, Timestamp, limits};
use compozy_proto::session::v1 as pb;
use prost_types::Timestamp as Instant;

use super::super::reference::reference;
use super::super::timestamp;
use super::words;
use crate::registry::Reference;

/// The first and the last second that a `google.protobuf.Timestamp` may have: those of the years 1 to 9999.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// A filter as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterWanted {
    /// Everything but a workspace, which has to be looked up.
    pub filter: SessionFilter,
    /// The workspace, if one is named.
    pub workspace: Option<Reference>,
    /// The filter in its normal form, without the workspace: what a cursor is bound to. Order and repetition of values
    /// do not count, nor does what says nothing.
    pub normal: pb::SessionFilter,
}

/// Reads a filter.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming the field; what may be wrong with a reference.
pub fn filter(filter: Option<pb::SessionFilter>) -> Result<FilterWanted, CatalogError> {
    let pb::SessionFilter {
        workspace,
        ungrouped,
        agents,
        states,
        types,
        providers,
        badges,
        runtimes,
        parent,
        root,
        labels,
        origin,
        profile,
        resumable,
        attachable,
        archive,
        query,
        created_after,
        created_before,
        active_after,
        active_before,
        include_internal,
    } = filter.unwrap_or_default();
    let workspace = workspace
        .map(|named| reference(Some(named), "workspace"))
        .transpose()?;
    if ungrouped && workspace.is_some() {
        let problem = "can't be set together with workspace: a session of a workspace is not ungrouped";
        return Err(CatalogError::invalid_field("ungrouped", problem));
    }
    let filter = SessionFilter {
        place: if ungrouped {
            Place::Ungrouped
        } else {
            Place::Anywhere
        },
        agents: names(agents, "agents")?,
        states: words_of(&states, "states", words::state_from_wire)?,
        types: words_of(&types, "types", words::type_from_wire)?,
        providers: names(providers, "providers")?,
        badges: words_of(&badges, "badges", words::badge_from_wire)?,
        runtimes: words_of(&runtimes, "runtimes", words::runtime_from_wire)?,
        parent: id(parent, "parent")?,
        root: id(root, "root")?,
        labels: fields::parse_labels(labels, "labels")?,
        origin: given(fields::at_most(origin, fields::ROLE_CHARS_MAX, "origin")?),
        profile: given(profile).as_deref().map(profile_id).transpose()?,
        resumable,
        attachable,
        archive: archive_from_wire(archive)?,
        query: text(&query)?,
        created_after: instant(created_after, "created_after")?,
        created_before: instant(created_before, "created_before")?,
        active_after: instant(active_after, "active_after")?,
        active_before: instant(active_before, "active_before")?,
        include_internal,
    };
    Ok(FilterWanted {
        normal: normal(&filter),
        filter,
        workspace,
    })
}

fn normal(filter: &SessionFilter) -> pb::SessionFilter {
    let SessionFilter {
        place,
        agents,
        states,
        types,
        providers,
        badges,
        runtimes,
        parent,
        root,
        labels,
        origin,
        profile,
        resumable,
        attachable,
        archive,
        query,
        created_after,
        created_before,
        active_after,
        active_before,
        include_internal,
    } = filter;
    let time = |at: &Option<Timestamp>| at.map(timestamp);
    pb::SessionFilter {
        workspace: None,
        ungrouped: *place == Place::Ungrouped,
        agents: agents.clone(),
        states: numbers(states, words::state),
        types: numbers(types, words::session_type),
        providers: providers.clone(),
        badges: numbers(badges, words::badge),
        runtimes: numbers(runtimes, words::runtime_state),
        parent: parent.clone().unwrap_or_default(),
        root: root.clone().unwrap_or_default(),
        labels: labels.clone(),
        origin: origin.clone().unwrap_or_default(),
        profile: profile.as_ref().map(ProfileId::to_string).unwrap_or_default(),
        resumable: *resumable,
        attachable: *attachable,
        archive: archive_to_wire(*archive).into(),
        query: query.clone().unwrap_or_default(),
        created_after: time(created_after),
        created_before: time(created_before),
        active_after: time(active_after),
        active_before: time(active_before),
        include_internal: *include_internal,
    }
}

fn numbers<T: Copy, W: Into<i32>>(words: &[T], to_wire: fn(T) -> W) -> Vec<i32> {
    let mut numbers: Vec<i32> = words.iter().map(|word| to_wire(*word).into()).collect();
    numbers.sort_unstable();
    numbers
}

/// Exact texts, sorted, each once.
fn names(mut given: Vec<String>, field: &str) -> Result<Vec<String>, CatalogError> {
    check_count(given.len(), field)?;
    given.sort_unstable();
    given.dedup();
    given
        .into_iter()
        .map(|name| fields::parse_name(name, field))
        .collect()
}

/// Values of an enumeration, each once.
fn words_of<T: PartialEq>(
    numbers: &[i32],
    field: &str,
    from_wire: fn(i32) -> Option<T>,
) -> Result<Vec<T>, CatalogError> {
    check_count(numbers.len(), field)?;
    let mut words = Vec::new();
    for number in numbers {
        let word = from_wire(*number).ok_or_else(|| {
            let problem = format!("must hold known values only, and {number} is none: see the contract");
            CatalogError::invalid_field(field, problem)
        })?;
        if !words.contains(&word) {
            words.push(word);
        }
    }
    Ok(words)
}

fn check_count(count: usize, field: &str) -> Result<(), CatalogError> {
    if count > limits::FILTER_VALUES_MAX {
        return Err(CatalogError::invalid_field(field, "must hold at most 100 values"));
    }
    Ok(())
}

/// A text that should be the id of a session; one that is none matches nothing.
fn id(text: String, field: &str) -> Result<Option<String>, CatalogError> {
    fields::at_most(text, fields::LONG_WORD_CHARS_MAX, field).map(given)
}

fn profile_id(text: &str) -> Result<ProfileId, CatalogError> {
    let permanent = Profile::permanent().id;
    if text == permanent.as_str() {
        return Ok(permanent);
    }
    ProfileId::parse(text).ok_or_else(|| {
        let problem =
            "must be the id of a profile, 'default' or 26 letters and digits: list the profiles for theirs";
        CatalogError::invalid_field("profile", problem)
    })
}

fn text(query: &str) -> Result<Option<String>, CatalogError> {
    if query.chars().count() > limits::QUERY_CHARS_MAX {
        return Err(CatalogError::invalid_field(
            "query",
            "must have at most 256 characters",
        ));
    }
    refuse_control_characters(query, "query")?;
    Ok(given(fold_for_search(query)))
}

fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// An instant of a request. One that lies outside the catalog's years is as good as the end of them.
fn instant(at: Option<Instant>, field: &str) -> Result<Option<Timestamp>, CatalogError> {
    let Some(Instant { seconds, nanos }) = at else {
        return Ok(None);
    };
    let nanos = u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000);
    let (true, Some(nanos)) = (SECONDS.contains(&seconds), nanos) else {
        let problem = "must be an instant of the years 1 to 9999, its nanos from 0 to 999999999";
        return Err(CatalogError::invalid_field(field, problem));
    };
    let end = Timestamp::from_nanos(if seconds < 0 { i64::MIN } else { i64::MAX });
    Ok(Some(Timestamp::from_parts(seconds, nanos).unwrap_or(end)))
}

fn archive_from_wire(number: i32) -> Result<Archive, CatalogError> {
    match pb::ArchiveFilter::try_from(number) {
        Ok(pb::ArchiveFilter::Unspecified | pb::ArchiveFilter::Exclude) => Ok(Archive::Exclude),
        Ok(pb::ArchiveFilter::Only) => Ok(Archive::Only),
        Ok(pb::ArchiveFilter::Include) => Ok(Archive::Include),
        Err(_) => Err(CatalogError::invalid_field(
            "archive",
            "must be EXCLUDE, ONLY or INCLUDE, or left out",
        )),
    }
}

/// What is not said and what says the same are one.
const fn archive_to_wire(archive: Archive) -> pb::ArchiveFilter {
    match archive {
        Archive::Exclude => pb::ArchiveFilter::Unspecified,
        Archive::Only => pb::ArchiveFilter::Only,
        Archive::Include => pb::ArchiveFilter::Include,
    }
}

#[cfg(test)]
mod tests;
