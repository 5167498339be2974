//! Where the streams of a watcher begin: anew, behind a token of its own, or where a page or an answer says.

use std::time::Instant;

use compozy_e2e::Draw;
use compozy_proto::change::v1::WatchStart;
use compozy_proto::page::v1::PageInfo;
use compozy_proto::profile::v1::ListProfilesRequest;
use compozy_proto::session::v1::ListSessionsRequest;
use compozy_proto::workspace::v1::ListWorkspacesRequest;

use crate::call::row_of_session;
use crate::catalog::{Catalog, Row, State};
use crate::entry::Record;
use crate::history::{Listed, Origin};
use crate::listing::every_session;
use crate::watching::{Token, Watching};

/// Where a stream begins: what is asked for, and what is written down.
pub(crate) struct Beginning {
    pub(crate) origin: Origin,
    pub(crate) token: String,
    pub(crate) start: WatchStart,
}

impl Beginning {
    pub(crate) fn behind(token: Token) -> Self {
        Self {
            origin: Origin::Token {
                stream: token.stream,
                event: token.event,
            },
            token: token.text,
            start: WatchStart::Unspecified,
        }
    }

    pub(crate) fn snapshot() -> Self {
        Self {
            origin: Origin::Snapshot,
            token: String::new(),
            start: WatchStart::Snapshot,
        }
    }
}

impl Watching {
    pub(crate) async fn beginning(&mut self) -> Beginning {
        let fresh = self.present().tokens.is_empty();
        let choice = self.draw.below(if fresh { 6 } else { 24 });
        let start = |origin, start| Beginning {
            origin,
            token: String::new(),
            start,
        };
        match choice {
            0 => start(Origin::Now, WatchStart::Now),
            1 => start(Origin::Snapshot, WatchStart::Snapshot),
            2 => start(Origin::Earliest, WatchStart::Earliest),
            3 => self
                .page_beginning()
                .await
                .unwrap_or_else(|| start(Origin::Snapshot, WatchStart::Snapshot)),
            4 => self
                .answer_beginning()
                .unwrap_or_else(|| start(Origin::Now, WatchStart::Now)),
            5 => start(Origin::Now, WatchStart::Unspecified),
            _ => {
                let token = self.token();
                token.map_or_else(|| start(Origin::Now, WatchStart::Now), Beginning::behind)
            }
        }
    }

    /// Mostly the last token, sometimes the last of a heartbeat, sometimes an older one.
    pub(crate) fn token(&mut self) -> Option<Token> {
        let choice = self.draw.below(10);
        let older = self.draw.number();
        let tokens = &self.present().tokens;
        let heartbeat = tokens.iter().rev().find(|token| token.is_heartbeat);
        match choice {
            0..=5 => tokens.last().cloned(),
            6 | 7 => heartbeat.or(tokens.last()).cloned(),
            _ => tokens
                .get(Draw::seeded(older).below(tokens.len().max(1)))
                .cloned(),
        }
    }

    async fn page_beginning(&mut self) -> Option<Beginning> {
        let server = self.draw.below(self.clients.len());
        let (listed, (rows, page)) = match self.draw.below(3) {
            0 => (Listed::Profiles, self.page_of_profiles(server).await?),
            1 => (Listed::Sessions, self.page_of_sessions(server).await?),
            _ => (Listed::Workspaces, self.page_of_workspaces(server).await?),
        };
        Some(Beginning {
            origin: Origin::Page {
                answered: Instant::now(),
                listed,
                rows: Some(Catalog::of(rows)).filter(|_| !page.has_more),
            },
            token: page.revision,
            start: WatchStart::Unspecified,
        })
    }

    async fn page_of_workspaces(&self, server: usize) -> Option<(Vec<Row>, PageInfo)> {
        let request = ListWorkspacesRequest {
            limit: 100,
            ..Default::default()
        };
        let answer = self.clients[server].list_workspaces(request).await.ok()?;
        let rows = answer.workspaces.into_iter().map(|row| Row {
            record: Record::Workspace(row.id),
            state: State::Version(row.version),
        });
        Some((rows.collect(), answer.page?))
    }

    async fn page_of_profiles(&self, server: usize) -> Option<(Vec<Row>, PageInfo)> {
        let request = ListProfilesRequest {
            limit: 100,
            ..Default::default()
        };
        let answer = self.clients[server].list_profiles(request).await.ok()?;
        // The permanent one never changes, and is in no log.
        let rows = answer.profiles.into_iter().filter(|row| !row.is_permanent);
        let rows = rows.map(|row| Row {
            record: Record::Profile(row.id),
            state: State::Version(row.version),
        });
        Some((rows.collect(), answer.page?))
    }

    async fn page_of_sessions(&self, server: usize) -> Option<(Vec<Row>, PageInfo)> {
        let request = ListSessionsRequest {
            limit: 100,
            ..every_session()
        };
        let answer = self.clients[server].list_sessions(request).await.ok()?;
        let rows = answer.sessions.into_iter().map(row_of_session);
        Some((rows.collect(), answer.page?))
    }

    fn answer_beginning(&mut self) -> Option<Beginning> {
        let answer = self.board.answer(&mut self.draw)?;
        Some(Beginning {
            origin: Origin::Answer {
                record: answer.record,
                state: answer.state,
            },
            token: answer.revision,
            start: WatchStart::Unspecified,
        })
    }
}
