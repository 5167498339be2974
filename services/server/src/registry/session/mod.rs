//! The session catalog's use cases: what the registry does with sessions, without the wire.
