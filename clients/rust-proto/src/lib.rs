//! The Compozy contract as Rust: messages, clients and server traits, generated from `proto/` by
//! `cargo xtask codegen` and nothing else. Each module below mirrors one package.

/// The descriptors of every package, for server reflection: an encoded
/// `google.protobuf.FileDescriptorSet`.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("gen/descriptor_set.bin");

/// Packages below `compozy`.
#[allow(
    clippy::all,
    clippy::pedantic,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications
)]
#[allow(rustdoc::all)]
pub mod compozy {
    /// `compozy.admin.v1`: what the server is, and steering it.
    pub mod admin {
        /// Version 1.
        pub mod v1 {
            include!("gen/compozy.admin.v1.rs");
        }
    }
    /// `compozy.change.v1`: the change stream.
    pub mod change {
        /// Version 1.
        pub mod v1 {
            include!("gen/compozy.change.v1.rs");
        }
    }
    /// `compozy.error.v1`: the reasons of failed calls.
    pub mod error {
        /// Version 1.
        pub mod v1 {
            include!("gen/compozy.error.v1.rs");
        }
    }
    /// `compozy.page.v1`: counted pages.
    pub mod page {
        /// Version 1.
        pub mod v1 {
            include!("gen/compozy.page.v1.rs");
        }
    }
    /// `compozy.profile.v1`: profiles and their selection.
    pub mod profile {
        /// Version 1.
        pub mod v1 {
            include!("gen/compozy.profile.v1.rs");
        }
    }
    /// `compozy.session.v1`: the session catalog and the event logs.
    pub mod session {
        /// Version 1.
        pub mod v1 {
            include!("gen/compozy.session.v1.rs");
        }
    }
    /// `compozy.workspace.v1`: the registry and resolution.
    pub mod workspace {
        /// Version 1.
        pub mod v1 {
            include!("gen/compozy.workspace.v1.rs");
        }
    }
}
pub use compozy::{admin, change, error, page, profile, session, workspace};
