//! What the store promises when something under it fails: a full disk, damaged files, catalogs of other
//! releases, lost connections.

mod damage;
mod dropped;
mod groups;
mod outcomes;
mod positions;
mod proxy;
mod reboots;
mod terminated;
mod versions;
