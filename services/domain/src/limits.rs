//! Bounds that hold everywhere and that `GetServerInfo` tells.

/// Rows on a page when the request does not say.
pub const PAGE_LIMIT_DEFAULT: u32 = 50;
/// Rows on a page at most.
pub const PAGE_LIMIT_MAX: u32 = 100;
/// Additional directories of a workspace at most.
pub const ADDITIONAL_DIRS_MAX: usize = 64;
/// Values of one filter at most.
pub const FILTER_VALUES_MAX: usize = 100;
/// Items of one batch at most.
pub const BATCH_ITEMS_MAX: usize = 1_000;
/// Bytes of a request message at most.
pub const REQUEST_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a response message at most.
pub const RESPONSE_BYTES_MAX: usize = 3 * 1024 * 1024;
/// Bytes of a path at most.
pub const PATH_BYTES_MAX: usize = 4_096;
/// Bytes of one path component at most.
pub const PATH_COMPONENT_BYTES_MAX: usize = 255;
/// Code points of a title at most.
pub const TITLE_CHARS_MAX: usize = 200;
/// Code points of a search text at most.
pub const QUERY_CHARS_MAX: usize = 256;
/// Bytes of a cursor or token at most.
pub const TOKEN_BYTES_MAX: usize = 1_024;
/// Bytes of a remembered answer at most.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a canonical root at most: what a Postgres index entry holds together with a rank and an id.
pub const ROOT_BYTES_MAX: usize = 2_300;
/// Changes of one message of a watch at most.
pub const BATCH_CHANGES_MAX: usize = 256;
/// Shortest silence of a watch that a caller may ask for.
pub const HEARTBEAT_MIN: std::time::Duration = std::time::Duration::from_secs(1);
/// Longest one.
pub const HEARTBEAT_MAX: std::time::Duration = std::time::Duration::from_secs(300);
/// The silence of a watch whose caller does not say.
pub const HEARTBEAT_DEFAULT: std::time::Duration = std::time::Duration::from_secs(10);
