//! Lies: tokens that no stream may accept.

use compozy_e2e::Draw;
use compozy_proto::change::v1::ChangeKind;
use compozy_proto::workspace::v1::ListWorkspacesRequest;

use crate::beginning::Beginning;
use crate::call::Call;
use crate::history::{End, Lie};
use crate::watching::Watching;

impl Watching {
    /// Comes with a token that must not be accepted.
    pub(crate) async fn lie(&mut self) {
        let choice = self.draw.below(4);
        let Some(token) = self.token() else { return };
        let beginning = Beginning::behind(token.clone());
        let mut request = self.request(&beginning);
        let what = match choice {
            0 | 1 => {
                request.resume_token = edited(&token.text, &mut self.draw);
                "an edited token"
            }
            2 if request.workspaces.is_empty() => {
                let was_wide = request.kinds.is_empty();
                request.kinds = if was_wide {
                    vec![ChangeKind::Profile.into()]
                } else {
                    Vec::new()
                };
                "a token of another filter"
            }
            _ => match self.cursor().await {
                Some(cursor) => {
                    request.resume_token = cursor;
                    "a cursor of a list"
                }
                None => return,
            },
        };
        let server = self.draw.below(self.sockets.len());
        let called = Call::open(self.sockets[server].clone(), 64 * 1024, request).await;
        let first = match called {
            Ok(mut call) => call.next().await.map(|_| ()),
            Err(end) => Err(end),
        };
        self.lies.push(Lie {
            what,
            accepted: first.is_ok(),
            end: first.err().unwrap_or(End::Left),
        });
    }

    async fn cursor(&mut self) -> Option<String> {
        let request = ListWorkspacesRequest {
            limit: 1,
            ..Default::default()
        };
        let server = self.draw.below(self.clients.len());
        let answer = self.clients[server].list_workspaces(request).await.ok()?;
        answer.page?.next_cursor
    }
}

/// The same text with one letter of its alphabet changed.
fn edited(token: &str, draw: &mut Draw) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = token.as_bytes().to_vec();
    let place = draw.below(bytes.len());
    while bytes[place] == token.as_bytes()[place] {
        bytes[place] = LETTERS[draw.below(LETTERS.len())];
    }
    String::from_utf8(bytes).expect("letters of ASCII")
}
