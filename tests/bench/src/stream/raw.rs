//! How messages travel here. The asking side takes bytes and spends on them the little that it takes to count changes
//! and tell them apart, so that it is not what is measured; the floor encodes messages as every method of tonic does.

use std::sync::Arc;

use bytes::{Buf as _, BufMut as _, Bytes};
use compozy_proto::change::v1::WatchCatalogResponse;
use prost::Message as _;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Bytes in, bytes out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// Bytes in, and messages out that all streams share: encoded for each, as tonic does it, but made once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shared;

impl Codec for Shared {
    type Encode = Arc<WatchCatalogResponse>;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Raw;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Shared {
    type Item = Arc<WatchCatalogResponse>;
    type Error = Status;

    fn encode(&mut self, message: Self::Item, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        message.encode(buffer).expect("the buffer grows");
        Ok(())
    }
}

/// `WatchCatalogResponse`, without what nobody here looks at.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Glance {
    #[prost(message, optional, tag = "1")]
    pub(super) changes: Option<Changes>,
    #[prost(message, optional, tag = "3")]
    pub(super) synced: Option<Nothing>,
    #[prost(message, optional, tag = "4")]
    pub(super) heartbeat: Option<Nothing>,
    #[prost(message, optional, tag = "5")]
    pub(super) resync: Option<Nothing>,
    #[prost(message, optional, tag = "6")]
    pub(super) going_away: Option<Nothing>,
}

/// `ChangeBatch`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Changes {
    #[prost(message, repeated, tag = "1")]
    pub(super) changes: Vec<Change>,
}

/// `Change`: which record, and which version of it.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Change {
    #[prost(bytes = "bytes", tag = "6")]
    pub(super) workspace_id: Bytes,
    #[prost(int64, tag = "11")]
    pub(super) version: i64,
}

/// A message that only has to be there.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Nothing {}
