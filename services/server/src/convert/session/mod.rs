//! Sessions on the wire.
