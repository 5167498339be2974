//! What a server says about a page of a list.

use compozy_client::proto::page::v1::PageInfo;
use serde::Serialize;

/// `compozy.page.v1.PageInfo`.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct PageView {
    pub(crate) total: i64,
    pub(crate) limit: i32,
    pub(crate) has_more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
    pub(crate) revision: String,
}

impl From<PageInfo> for PageView {
    fn from(page: PageInfo) -> Self {
        let PageInfo {
            total,
            limit,
            has_more,
            next_cursor,
            revision,
        } = page;
        Self {
            total,
            limit,
            has_more,
            next_cursor,
            revision,
        }
    }
}
